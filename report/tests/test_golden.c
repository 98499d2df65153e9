/* test_golden: what of stored runs' outputs test_cli does not hold against the stored ones: JSON, and colours. */
#include "report/doc/escape.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"

static struct report *load(const char *run) {
    struct lb_err err = {0};
    struct report *report = report_load(run, &err);
    assert_string_equal(err.text, "");
    assert_non_null(report);
    return report;
}

/* The figures of a JSON report are run.json's own. */
TEST(test_json_has_the_run) {
    struct report *report = load(GOLDEN "mixed");
    char *text = render(report, REPORT_JSON, false);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_equal(json_object_get(root, "run"), report->run->root));
    json_decref(root);
    free(text);
    report_free(report);
}

/* Colour adds escapes and nothing else. */
TEST(test_colour_is_only_colour) {
    struct report *report = load(GOLDEN "mixed");
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
