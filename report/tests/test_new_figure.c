/* test_new_figure: a figure of a stage needs three lines: the one that counts it, a row in bench/load/counts.def and a
 * row in results/format/stage.def. With these rows, and nothing else, the counts of the clients are added up, and the
 * figure is in run.json, is read back, and is in the terminal's table, Markdown, the page, JSON and the comparison
 * of runs.
 *
 * This program compiles the table and the sum once more, each with one row more than the library's; the library uses
 * these instead of its own. */
#define _GNU_SOURCE

#define STAGE_EXAMPLE
#include "bench/stage/stage_sum.c"
#include "results/format/stage_fields.c"

#include "bench/tests/sum_help.h"
#include "report/compare/compare.h"
#include "report/tests/report_help.h"
#include "results/format/write.h"

#define REPEATS 3
#define EXAMPLE 4711

/* A stage in which two clients counted so many examples together. */
static json_t *stage_json(int repeat, uint64_t examples) {
    count_grants((const uint64_t[CLIENTS]){900, 900, 900, 900});
    clients[1].example = 700;
    clients[3].example = examples + (uint64_t)repeat - 700;
    sum_up();
    struct run_stage *result = &stage.result;
    result->lock = "redis-setnx";
    result->backend = result->topology = "redis";
    result->primitive = "mutex";
    result->status = "complete";
    result->keys = "1";
    result->arrival = "closed";
    result->clients = CLIENTS;
    result->processes = result->threads = 1;
    result->repeat = repeat;
    json_t *json = run_stage_json(result);
    free_sum();
    return json;
}

static char *write_run(const char *name, uint64_t examples) {
    char *path = NULL;
    struct lb_err err = {0};
    json_t *stages = json_array();
    for (int i = 0; i < REPEATS; i++) json_array_append_new(stages, stage_json(i, examples));
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
    struct report *report = report_load(path, &err);
    if (!report) fail_msg("%s", err.text);
    assert_says(render(report, REPORT_FULL, false), "examples");
    assert_says(render(report, REPORT_FULL, false), "4,712"); /* a count: in full */
    assert_says(render(report, REPORT_MD, false), "examples");
    assert_says(render(report, REPORT_HTML, false), "a figure that a test has added");
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
    if (compare_write(compare, format, true, false, out, &err) != 0) fail_msg("%s", err.text);
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
                              .min_effect = 0.05};
    struct compare *compare = compare_make(&ask, &err);
    if (!compare) fail_msg("%s", err.text);
    assert_says(compared(compare, COMPARE_TABLE), "examples");
    assert_says(compared(compare, COMPARE_MD), "examples");
    assert_says(compared(compare, COMPARE_JSON), "\"example\"");
    compare_free(compare);
    free(base);
    free(new);
}

TEST_MAIN(make_folder, remove_folder)
