/* test_golden: stored runs rendered, compared as text with what is stored beside them.
 * Runs from the project's folder. The runs are made by make_run.mjs; `default` is a short `lockbench run`, without series. */
#include "report/doc/escape.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"

static const struct {
    const char *file;
    const char *runs[2];
    int run_count;
    enum report_format format;
} cases[] = {
    {"mixed.table", {GOLDEN "mixed"}, 1, REPORT_TABLE},
    {"clean.table", {GOLDEN "clean"}, 1, REPORT_TABLE},
    {"modes.table", {GOLDEN "modes"}, 1, REPORT_TABLE},
    {"both.table", {GOLDEN "mixed", GOLDEN "clean"}, 2, REPORT_TABLE},
    {"decide.table", {GOLDEN "decide"}, 1, REPORT_TABLE},
    {"default.table", {GOLDEN "default"}, 1, REPORT_TABLE},
    {"mixed.full", {GOLDEN "mixed"}, 1, REPORT_FULL},
    {"mixed.md", {GOLDEN "mixed"}, 1, REPORT_MD},
    {"mixed.csv", {GOLDEN "mixed/run.json"}, 1, REPORT_CSV},
    {"clean.full", {GOLDEN "clean"}, 1, REPORT_FULL},
    {"clean.csv", {GOLDEN "clean"}, 1, REPORT_CSV},
    {"modes.full", {GOLDEN "modes"}, 1, REPORT_FULL},
    {"modes.csv", {GOLDEN "modes"}, 1, REPORT_CSV},
    {"both.full", {GOLDEN "mixed", GOLDEN "clean"}, 2, REPORT_FULL},
    {"both.md", {GOLDEN "mixed", GOLDEN "clean"}, 2, REPORT_MD},
    {"decide.full", {GOLDEN "decide"}, 1, REPORT_FULL},
    {"decide.md", {GOLDEN "decide"}, 1, REPORT_MD},
};

static struct report *load(const char *const *runs, int count) {
    struct lb_err err = {0};
    struct report *report = report_load(runs, count, &err);
    assert_string_equal(err.text, "");
    assert_non_null(report);
    return report;
}

TEST(test_stored_runs) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        struct report *report = load(cases[i].runs, cases[i].run_count);
        char *text = render(report, cases[i].format, false);
        snprintf(path, sizeof path, GOLDEN "%s", cases[i].file);
        same_as_stored(path, text);
        free(text);
        report_free(report);
    }
}

static void fits_a_screen(const struct report *report) {
    char *text = render(report, REPORT_TABLE, false);
    assert_lines_fit(text);
    if (count_of(text, "\n") > 40) fail_msg("%d lines: %s", count_of(text, "\n"), text);
    free(text);
}

TEST(the_summary_of_stored_runs_is_one_screen) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report *report = load(cases[i].runs, cases[i].run_count);
        fits_a_screen(report);
        report_free(report);
    }
}

/* Locks of four durabilities and two guarantees, each with something to note. */
TEST(the_summary_of_many_locks_is_one_screen) {
    static const char *const durability[] = {"none", "memory", "log", "disk"};
    for (int locks = 10; locks <= 70; locks += 4) {
        char *stages = NULL;
        size_t size;
        FILE *out = open_memstream(&stages, &size);
        for (int i = 0; i < 2 * locks; i++)
            fprintf(
                out,
                "%s{\"lock\":\"a-lock-of-a-long-name-%d\",\"clients\":%d,\"keys\":1,\"arrival\":"
                "\"closed\",\"durability_class\":\"%s\",\"guarantee\":\"%s\",\"throughput_per_s\":%d,"
                "\"limited_by\":\"generator\",\"fairness\":{\"jain\":0.5},\"attempts\":99,\"outcomes\":"
                "{\"ok\":90,\"refused\":9},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900}}",
                i > 0 ? "," : "", i / 2, i % 2 ? 16 : 1, durability[i / 2 % 4],
                i / 2 % 8 < 4 ? "node" : "majority", 1000 + i);
        fclose(out);
        struct report *report = report_of(stages, ",\"paired\":true");
        fits_a_screen(report);
        report_free(report);
        free(stages);
    }
}

static json_t *json_of(const struct report *report) {
    char *text = render(report, REPORT_JSON, false);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

/* What a JSON report has besides its rows. */
TEST(test_json_around_its_rows) {
    struct report *report = load((const char *[]){GOLDEN "mixed/"}, 1);
    json_t *root = json_of(report);
    assert_int_equal(json_object_del(root, "rows"), 0);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    same_as_stored(GOLDEN "mixed.json", text);
    free(text);
    json_decref(root);
    report_free(report);
}

/* Writes the names or the values of an object's members, and of its members' members, as cells of CSV. */
static void write_cells(json_t *object, const char *prefix, bool names, FILE *out) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        char path[200];
        snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", name);
        if (json_is_object(value)) {
            write_cells(value, path, names, out);
            continue;
        }
        fputc(',', out);
        if (names) {
            fputs(path, out);
        } else if (json_is_number(value)) {
            escape_csv_figure(out, json_number_value(value));
        } else if (json_is_boolean(value)) {
            fputs(json_is_true(value) ? "true" : "false", out);
        } else if (!json_is_null(value)) {
            escape_csv(out, json_string_value(value));
        }
    }
}

/* The CSV that a JSON report is: its rows, with four members of their runs before them. */
static char *csv_of(json_t *root) {
    char *text = NULL;
    size_t size, at;
    json_t *row, *rows = json_object_get(root, "rows");
    FILE *out = open_memstream(&text, &size);
    fputs("run,workload,started_at,partial", out);
    json_array_foreach(rows, at, row) {
        size_t index = (size_t)json_integer_value(json_object_get(row, "run"));
        json_t *run = json_array_get(json_object_get(root, "runs"), index);
        assert_true(json_is_number(json_object_get(row, "attempts")));
        json_object_del(row, "run");
        if (at == 0) write_cells(row, "", true, out);
        fprintf(out, "\r\n%s,%s,%s,%s", json_string_value(json_object_get(run, "path")),
                json_string_value(json_object_get(run, "workload")),
                json_string_value(json_object_get(run, "started_at")),
                json_is_true(json_object_get(run, "partial")) ? "true" : "false");
        write_cells(row, "", false, out);
    }
    fputs("\r\n", out);
    fclose(out);
    return text;
}

/* Its rows are those of the CSV, which are stored: the same names in the same order, the same values. */
TEST(test_json_has_the_rows_of_csv) {
    static const char *const runs[] = {GOLDEN "mixed", GOLDEN "clean", GOLDEN "modes"};
    struct report *report = load(runs, 3);
    json_t *root = json_of(report);
    char *csv = render(report, REPORT_CSV, false), *same = csv_of(root);
    same_text("the JSON", same, csv);
    free(same);
    free(csv);
    json_decref(root);
    report_free(report);
}

TEST(test_colour_is_only_colour) {
    struct report *report = load(cases[0].runs, 1);
    char *plain = render(report, REPORT_FULL, false), *coloured = render(report, REPORT_FULL, true);
    assert_non_null(strstr(coloured, "\033[1;31mviolated\033[0m"));
    assert_colour_alone(coloured, plain);
    free(plain);
    free(coloured);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
