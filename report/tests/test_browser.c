/* test_browser: rendered reports in headless Chromium, without a network. The looking is done by
 * test_browser.mjs, of the views that decide by test_browser_views.mjs, and of a check by
 * test_browser_check.mjs.
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
#include "report/check.h"
#include "report/tests/run_command.inc"
#include "report/tests/run_text.inc"

#define GOLDEN "report/tests/golden/"

static void need(bool there, const char *what, const char *install) {
    if (there) return;
    printf("SKIP: the report's browser test needs %s: install %s\n", what, install);
    if (in_ci()) fail_msg("%s is missing, and in CI nothing may be skipped", what);
    skip();
}

static void need_all(void) {
    need(*asset_bundle, "a build with charts", "nodejs and npm, then make clean all");
    need(has_program("node"), "node", "nodejs");
    need(has_program("chromium") || has_program("google-chrome"), "Chromium", "chromium");
}

/* Renders runs into a page and has it looked at. */
static void look(const char *const *runs, int run_count, const char *const *files) {
    struct lb_err err = {0};
    char page[] = "/tmp/lockbench-report-XXXXXX.html";
    need_all();
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

/* The views that decide: figures worked out once more from run.json; and a page that has nothing for some. */
static void test_the_views_that_decide(void **state) {
    (void)state;
    static const char *const pages[][3] = {
        {GOLDEN "decide", GOLDEN "decide/run.json", GOLDEN "decide/capacity.json"},
        {GOLDEN "mixed", NULL, NULL},
    };
    need_all();
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct lb_err err = {0};
        char page[] = "/tmp/lockbench-views-XXXXXX.html";
        struct report *report = report_load(&pages[i][0], 1, &err);
        assert_string_equal(err.text, "");
        assert_non_null(report);
        int fd = mkstemps(page, 5);
        assert_true(fd >= 0);
        FILE *out = fdopen(fd, "w");
        assert_non_null(out);
        assert_int_equal(report_write(report, REPORT_HTML, false, out, &err), 0);
        assert_int_equal(fclose(out), 0);
        report_free(report);
        const char *argv[] = {"node", "report/tests/test_browser_views.mjs", page, pages[i][1], pages[i][2],
                              NULL};
        int code = run_command(argv, NULL);
        if (code) fail_msg("the page %s is not as it should be (exit code %d)", page, code);
        unlink(page);
    }
}

static void look_at_check(const char *file, const char *how) {
    struct lb_err err = {0};
    char page[] = "/tmp/lockbench-check-XXXXXX.html";
    need_all();
    struct check *check = check_read(file, &err);
    assert_string_equal(err.text, "");
    assert_non_null(check);
    int fd = mkstemps(page, 5);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    assert_non_null(out);
    assert_int_equal(report_check_write(check, REPORT_HTML, false, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    check_free(check);
    const char *argv[] = {"node", "report/tests/test_browser_check.mjs", page, file, how, NULL};
    int code = run_command(argv, NULL);
    if (code) fail_msg("the page %s is not as it should be (exit code %d)", page, code);
    unlink(page);
}

/* Every verdict, a hostile name, a name without end. */
static void test_a_check(void **state) {
    (void)state;
    look_at_check(GOLDEN "check/faults/check.json", NULL);
}

/* As many locks and faults as there are, made anew: it is too large to be stored. */
static void test_a_check_of_all_locks(void **state) {
    (void)state;
    char file[] = "/tmp/lockbench-matrix-XXXXXX.json";
    need_all();
    int fd = mkstemps(file, 5);
    assert_true(fd >= 0);
    close(fd);
    const char *argv[] = {"sh", "-c", "node report/tests/make_check.mjs matrix >\"$0\"", file, NULL};
    assert_int_equal(run_command(argv, NULL), 0);
    look_at_check(file, "quick");
    unlink(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_of_every_odd_case), cmocka_unit_test(test_a_page_of_two_runs),
        cmocka_unit_test(test_the_views_that_decide),    cmocka_unit_test(test_a_check),
        cmocka_unit_test(test_a_check_of_all_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
