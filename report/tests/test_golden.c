/* test_golden: what of stored runs' outputs test_cli does not hold against the stored ones: JSON, and colours. */
#include "report/doc/escape.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"

static struct report *load(const char *const *runs, int count) {
    struct lb_err err = {0};
    struct report *report = report_load(runs, count, &err);
    assert_string_equal(err.text, "");
    assert_non_null(report);
    return report;
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

/* Colour adds escapes and nothing else. */
TEST(test_colour_is_only_colour) {
    struct report *report = load((const char *[]){GOLDEN "mixed"}, 1);
    char *plain = render(report, REPORT_FULL, false), *coloured = render(report, REPORT_FULL, true),
         *to = coloured;
    has(coloured, "\033[1;31mviolated\033[0m");
    lacks(plain, "\033");
    for (const char *from = coloured; *from; from++) {
        if (*from == '\033')
            from = strchr(from, 'm');
        else
            *to++ = *from;
    }
    *to = '\0';
    assert_string_equal(coloured, plain);
    free(plain);
    free(coloured);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
