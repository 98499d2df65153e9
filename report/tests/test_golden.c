/* test_golden: stored runs rendered, compared as text with what is stored beside them.
 * Runs from the project's folder. The runs are made by make_run.mjs. */
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"

static const struct {
    const char *file;
    const char *runs[2];
    int run_count;
    enum report_format format;
} cases[] = {
    {"mixed.table", {GOLDEN "mixed"}, 1, REPORT_TABLE},
    {"mixed.md", {GOLDEN "mixed"}, 1, REPORT_MD},
    {"mixed.csv", {GOLDEN "mixed/run.json"}, 1, REPORT_CSV},
    {"mixed.json", {GOLDEN "mixed/"}, 1, REPORT_JSON},
    {"clean.table", {GOLDEN "clean"}, 1, REPORT_TABLE},
    {"clean.md", {GOLDEN "clean"}, 1, REPORT_MD},
    {"clean.csv", {GOLDEN "clean"}, 1, REPORT_CSV},
    {"modes.table", {GOLDEN "modes"}, 1, REPORT_TABLE},
    {"modes.md", {GOLDEN "modes"}, 1, REPORT_MD},
    {"modes.csv", {GOLDEN "modes"}, 1, REPORT_CSV},
    {"both.table", {GOLDEN "mixed", GOLDEN "clean"}, 2, REPORT_TABLE},
    {"both.md", {GOLDEN "mixed", GOLDEN "clean"}, 2, REPORT_MD},
    {"decide.table", {GOLDEN "decide"}, 1, REPORT_TABLE},
    {"decide.md", {GOLDEN "decide"}, 1, REPORT_MD},
};

TEST(test_stored_runs) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        char path[256];
        struct report *report = report_load(cases[i].runs, cases[i].run_count, &err);
        assert_string_equal(err.text, "");
        assert_non_null(report);
        char *text = render(report, cases[i].format, false);
        snprintf(path, sizeof path, GOLDEN "%s", cases[i].file);
        same_as_stored(path, text);
        free(text);
        report_free(report);
    }
}

/* Colour adds escapes and nothing else. */
TEST(test_colour_is_only_colour) {
    struct lb_err err = {0};
    struct report *report = report_load(cases[0].runs, 1, &err);
    assert_non_null(report);
    char *plain = render(report, REPORT_TABLE, false),
         *coloured = render(report, REPORT_TABLE, true);
    assert_non_null(strstr(coloured, "\033[1;31mVIOLATED\033[0m"));
    assert_null(strchr(plain, '\033'));
    char *to = coloured;
    for (const char *from = coloured; *from; from++) {
        if (*from == '\033') {
            from = strchr(from, 'm');
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    same_text("colour", coloured, plain);
    free(plain);
    free(coloured);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
