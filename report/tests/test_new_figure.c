/* test_new_figure: a figure of a stage needs one row in results/format/stage.def: with that row, and
 * nothing else, it is in run.json, is read back, and is in the terminal's table, Markdown, the page,
 * CSV, JSON and the comparison of runs.
 *
 * This program brings its own table, which has one row more than the library's; the library uses
 * it. */
#define _GNU_SOURCE

#define STAGE_EXAMPLE
#include "results/format/stage_fields.c"

#include "report/compare/compare.h"
#include "report/tests/report_help.h"
#include "results/format/write.h"

#define STAGES 3
#define EXAMPLE 4711

/* A stage as a sum leaves it, with the new figure. */
static json_t *stage_json(int repeat, double example) {
    struct run_stage stage = {0};
    result_field_clear_all(run_stage_fields(), &stage);
    stage.lock = "redis-setnx";
    stage.backend = stage.topology = "redis";
    stage.primitive = "mutex";
    stage.status = "complete";
    stage.keys = "1";
    stage.arrival = "closed";
    stage.clients = 4;
    stage.processes = stage.threads = 1;
    stage.repeat = repeat;
    stage.verdict = "clean";
    stage.checked_grants = stage.grants = 900;
    stage.throughput_per_s = 1000 + repeat;
    stage.example = example + repeat;
    return run_stage_json(&stage);
}

static char *write_run(const char *name, double example) {
    char *path = NULL;
    struct lb_err err = {0};
    json_t *stages = json_array();
    for (int i = 0; i < STAGES; i++) json_array_append_new(stages, stage_json(i, example));
    json_t *run = json_pack("{s:s, s:{s:s, s:s}, s:s, s:b, s:o}", "schema", RUN_SCHEMA, "tool",
                            "name", "lockbench", "version", "test", "started_at",
                            "2026-01-01T00:00:00Z", "partial", 0, "stages", stages);
    assert_true(asprintf(&path, "%s/%s.json", folder, name) > 0);
    if (result_write_file(run, path, &err) != 0) fail_msg("%s", err.text);
    json_decref(run);
    return path;
}

static void assert_says(char *text, const char *words) {
    if (!strstr(text, words)) fail_msg("no '%s' in:\n%.3000s", words, text);
    free(text);
}

TEST(test_it_is_in_run_json_and_read_back) {
    char *path = write_run("run", EXAMPLE);
    assert_says(read_whole(path), "\"example\": 4711");
    struct lb_err err = {0};
    struct run *run = run_read(path, &err);
    if (!run) fail_msg("%s", err.text);
    assert_true(run->stages[1].example == EXAMPLE + 1);
    run_free(run);
    free(path);
}

TEST(test_it_is_in_every_report) {
    char *path = write_run("report", EXAMPLE);
    struct lb_err err = {0};
    struct report *report = report_load((const char *const *)&path, 1, &err);
    if (!report) fail_msg("%s", err.text);
    assert_says(render(report, REPORT_TABLE, false), "examples");
    assert_says(render(report, REPORT_TABLE, false), "4,712"); /* a count: in full */
    assert_says(render(report, REPORT_MD, false), "examples");
    assert_says(render(report, REPORT_HTML, false), "a figure that a test has added");
    assert_says(render(report, REPORT_CSV, false), "fairness.example");
    assert_says(render(report, REPORT_CSV, false), ",4713");
    assert_says(render(report, REPORT_JSON, false), "\"example\": 4711");
    report_free(report);
    free(path);
}

static char *compared(const struct compare *compare, enum compare_format format) {
    char *text = NULL;
    size_t size;
    struct lb_err err = {0};
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (compare_write(compare, format, false, out, &err) != 0) fail_msg("%s", err.text);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(test_it_is_compared) {
    char *base = write_run("base", EXAMPLE), *new = write_run("new", 10 * EXAMPLE);
    struct lb_err err = {0};
    struct compare_ask ask = {.base = (const char *const *)&base,
                              .base_count = 1,
                              .new = (const char *const *)&new,
                              .new_count = 1,
                              .alpha = 0.05,
                              .min_effect = 0.05};
    struct compare *compare = compare_make(&ask, &err);
    if (!compare) fail_msg("%s", err.text);
    assert_says(compared(compare, COMPARE_TABLE), "examples");
    assert_says(compared(compare, COMPARE_MD), "examples");
    assert_says(compared(compare, COMPARE_JSON), "\"example\"");
    assert_says(compared(compare, COMPARE_CSV), ",example,");
    compare_free(compare);
    free(base);
    free(new);
}

TEST_MAIN(make_folder, remove_folder)
