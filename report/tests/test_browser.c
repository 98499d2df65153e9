/* test_browser: rendered reports in headless Chromium, without a network. The looking is done by
 * test_browser.mjs.
 *
 * Without node, Chromium or a bundle the test is skipped, and says what to install; with CI=true it fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/assets.h"
#include "report/tests/run_command.inc"
#include "report/tests/run_text.inc"

#define GOLDEN "report/tests/golden/"

static void need(bool there, const char *what, const char *install) {
    if (there) return;
    printf("SKIP: the report's browser test needs %s: install %s\n", what, install);
    if (in_ci()) fail_msg("%s is missing, and in CI nothing may be skipped", what);
    skip();
}

/* Renders runs into a page and has it looked at. */
static void look(const char *const *runs, int run_count, const char *const *files) {
    struct lb_err err = {0};
    char page[] = "/tmp/lockbench-report-XXXXXX.html";
    need(*asset_bundle, "a build with charts", "nodejs and npm, then make clean all");
    need(has_program("node"), "node", "nodejs");
    need(has_program("chromium") || has_program("google-chrome"), "Chromium", "chromium");
    struct report *report = report_load(runs, run_count, &err);
    assert_string_equal(err.text, "");
    assert_non_null(report);
    int fd = mkstemps(page, 5);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    assert_non_null(out);
    assert_int_equal(report_write(report, REPORT_HTML, false, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    report_free(report);
    const char *argv[] = {"node", "report/tests/test_browser.mjs", page, files[0], files[1], NULL};
    int code = run_command(argv, NULL);
    if (code) fail_msg("the page %s is not as it should be (exit code %d)", page, code);
    unlink(page);
}

/* A violated lock, a partial and a failed stage, texts with markup in them. */
static void test_a_page_of_every_odd_case(void **state) {
    (void)state;
    const char *const runs[] = {GOLDEN "mixed"}, *const files[] = {GOLDEN "mixed/run.json", NULL};
    look(runs, 1, files);
}

static void test_a_page_of_two_runs(void **state) {
    (void)state;
    const char *const runs[] = {GOLDEN "mixed", GOLDEN "clean"};
    const char *const files[] = {GOLDEN "mixed/run.json", GOLDEN "clean/run.json"};
    look(runs, 2, files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_of_every_odd_case),
        cmocka_unit_test(test_a_page_of_two_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
