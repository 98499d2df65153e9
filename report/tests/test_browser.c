/* test_browser: rendered reports in headless Chromium, without a network. test_browser.mjs looks at
 * the pages, test_browser_views.mjs at the views that decide, and test_browser_check.mjs at the
 * page of a check.
 *
 * Without node, Chromium or a bundle the test is skipped, and says what to install; with CI=true it
 * fails.
 * Needs: a browser, 4 minutes. */
#include "report/check/check.h"
#include "report/tests/report_help.h"
#include "results/format/hdr.h"
#include "results/stats/quantile.h"

#define GOLDEN "report/tests/golden/"

/* What the page must compute, for the loads of one repeat: [[group, lock, metric, per cent, ns],
 * ...]. */
static void write_percentiles(const struct report *report, FILE *out) {
    static const enum metric metrics[] = {METRIC_ACQUIRE, METRIC_ACQUIRE_DUE, METRIC_HANDOFF,
                                          METRIC_RELEASE};
    static const double percents[] = {12.5, 50, 73.5, 99, 99.9, 100};
    const char *separator = "";
    fputc('[', out);
    for (int g = 0; g < report->group_count; g++) {
        for (int r = 0; r < report->groups[g].row_count; r++) {
            const struct report_row *row = &report->groups[g].rows[r];
            const struct report_lock *lock = &report->locks[row->lock];
            for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
                struct lb_err err = {0};
                struct hist *hist = NULL;
                bool closed = strcmp(row->typical->arrival, "closed") == 0;
                if (row->repeats > 1 || (closed && metrics[m] == METRIC_ACQUIRE_DUE)) continue;
                if (!row->typical->latency[metrics[m]].hdr) continue;
                hist = hdr_decode(row->typical->latency[metrics[m]].hdr, &err);
                for (size_t p = 0; hist && p < sizeof percents / sizeof *percents; p++) {
                    double ns = percents[p] < 100 ? (double)hist_quantile(hist, percents[p] / 100)
                                                  : row->typical->latency[metrics[m]].max;
                    bool few = !quantile_supported((double)hist->count, percents[p] / 100);
                    if (few && percents[p] < 100) continue;
                    fprintf(out, "%s[%d,\"%s\",\"%s\",%g,%.0f]", separator, g, lock->label,
                            metric_name(metrics[m]), percents[p], ns);
                    separator = ",\n";
                }
                hist_free(hist);
            }
        }
    }
    fputc(']', out);
}

static FILE *new_file(char *name, int suffix) {
    int fd = mkstemps(name, suffix);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    assert_non_null(out);
    return out;
}

/* Renders runs into a page, which is smaller than 5 MB, and has it looked at; views: those that
 * must draw. */
static void look(const char *const *runs, int run_count, const char *const *files,
                 const char *views) {
    struct lb_err err = {0};
    char page[] = "/tmp/lockbench-report-XXXXXX.html",
         percentiles[] = "/tmp/lockbench-report-XXXXXX.json";
    need_browser();
    struct report *report = report_load(runs, run_count, &err);
    assert_string_equal(err.text, "");
    assert_non_null(report);
    FILE *out = new_file(page, 5);
    assert_int_equal(report_write(report, REPORT_HTML, false, out, &err), 0);
    assert_in_range(ftell(out), 1, 5000000);
    assert_int_equal(fclose(out), 0);
    out = new_file(percentiles, 5);
    write_percentiles(report, out);
    assert_int_equal(fclose(out), 0);
    report_free(report);
    const char *argv[] = {
        "node", "report/tests/test_browser.mjs", page, percentiles, views, files[0], files[1],
        NULL};
    int code = run_command(argv, NULL);
    if (code) fail_msg("the page %s is not as it should be (exit code %d)", page, code);
    unlink(percentiles);
    unlink(page);
}

/* A violated lock, a partial and a failed stage, texts with markup in them. */
TEST(test_a_page_of_every_odd_case) {
    const char *const runs[] = {GOLDEN "mixed"}, *const files[] = {GOLDEN "mixed/run.json", NULL};
    look(runs, 1, files, "percentiles,sweep,ratio");
}

TEST(test_a_page_of_two_runs) {
    const char *const runs[] = {GOLDEN "mixed", GOLDEN "clean"};
    const char *const files[] = {GOLDEN "mixed/run.json", GOLDEN "clean/run.json"};
    look(runs, 2, files, "percentiles,sweep,ratio");
}

static char *make_run(const char *what) {
    char *made = strdup("/tmp/lockbench-run-XXXXXX");
    assert_non_null(made);
    assert_non_null(mkdtemp(made));
    const char *argv[] = {"node", "report/tests/make_run.mjs", what, made, NULL};
    assert_int_equal(run_command(argv, NULL), 0);
    return made;
}

static void remove_run(char *made) {
    const char *argv[] = {"rm", "-r", made, NULL};
    assert_int_equal(run_command(argv, NULL), 0);
    free(made);
}

/* Repeats, an open loop, faults. */
TEST(test_a_page_over_time) {
    char file[64];
    need_browser();
    char *made = make_run("over-time");
    snprintf(file, sizeof file, "%s/run.json", made);
    const char *const runs[] = {made}, *const files[] = {file, NULL};
    look(runs, 1, files, "percentiles,series,ratio");
    remove_run(made);
}

/* As large as pages get, made anew: with every view of it the browser's part takes too long for
 * each test. */
TEST(test_a_page_of_forty_locks_is_small) {
    struct lb_err err = {0};
    need_browser();
    char *made = make_run("forty"), *text = NULL;
    size_t size = 0;
    const char *const runs[] = {made};
    struct report *report = report_load(runs, 1, &err);
    assert_string_equal(err.text, "");
    assert_non_null(report);
    assert_int_equal(report->lock_count, 40);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report_write(report, REPORT_HTML, false, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    assert_in_range(size, 1000000, 3000000);
    free(text);
    report_free(report);
    remove_run(made);
}

/* The views that decide: their figures are computed once more from run.json. Then a page without
 * data for some of the views, and the page of a run without a grant. */
TEST(test_the_views_that_decide) {
    char idle[] = "/tmp/lockbench-idle-XXXXXX.json";
    const char *const pages[][2] = {
        {GOLDEN "decide", GOLDEN "decide/run.json"},
        {GOLDEN "mixed", NULL},
        {idle, NULL},
    };
    need_browser();
    FILE *made = new_file(idle, 5);
    fputs("{\"schema\":\"lockbench.run/2\",\"stages\":[{\"lock\":\"a\",\"clients\":2,\"keys\":1,"
          "\"arrival\":\"closed\",\"status\":\"complete\",\"throughput_per_s\":0,\"grants\":0}]}",
          made); /* nothing was granted */
    assert_int_equal(fclose(made), 0);
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
        const char *argv[] = {"node", "report/tests/test_browser_views.mjs", page, pages[i][1],
                              NULL};
        int code = run_command(argv, NULL);
        if (code) fail_msg("the page %s is not as it should be (exit code %d)", page, code);
        unlink(page);
    }
    unlink(idle);
}

static void look_at_check(const char *file, const char *how) {
    struct lb_err err = {0};
    char page[] = "/tmp/lockbench-check-XXXXXX.html";
    need_browser();
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
TEST(test_a_check) {
    look_at_check(GOLDEN "check/faults/check.json", NULL);
}

/* As many locks and faults as there are, made anew: it is too large to be stored. */
TEST(test_a_check_of_all_locks) {
    char file[] = "/tmp/lockbench-matrix-XXXXXX.json";
    need_browser();
    int fd = mkstemps(file, 5);
    assert_true(fd >= 0);
    close(fd);
    const char *argv[] = {"sh", "-c", "node report/tests/make_check.mjs matrix >\"$0\"", file,
                          NULL};
    assert_int_equal(run_command(argv, NULL), 0);
    look_at_check(file, "quick");
    unlink(file);
}

TEST_MAIN(NULL, NULL)
