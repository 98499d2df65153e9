/* test_browser: rendered reports in headless Chromium, without a network. test_browser.mjs looks at
 * the pages, test_browser_views.mjs at the views that decide.
 *
 * Without node, Chromium or a bundle the test is skipped, and says what to install; with CI=true it
 * fails.
 * Needs: a browser, a minute. */
#include "report/tests/report_help.h"
#include "results/format/hdr.h"
#include "results/stats/quantile.h"

#define GOLDEN "report/tests/golden/"

/* Writes what the page must compute, for the loads of one repeat: [[group, lock, metric, per cent, ns],
 * ...]. */
static void write_percentiles(const char *run, const char *path) {
    static const enum metric metrics[] = {METRIC_ACQUIRE, METRIC_ACQUIRE_DUE, METRIC_HANDOFF,
                                          METRIC_RELEASE};
    static const double percents[] = {12.5, 50, 73.5, 99, 99.9, 100};
    const char *separator = "";
    struct lb_err none = {0};
    struct report *report = report_load(run, &none);
    assert_string_equal(none.text, "");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputc('[', out);
    for (int g = 0; g < report->group_count; g++) {
        for (int r = 0; r < report->groups[g].row_count; r++) {
            const struct report_row *row = &report->groups[g].rows[r];
            const struct report_lock *lock = row->lock;
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
    assert_int_equal(fclose(out), 0);
    report_free(report);
}

static char page[80], percentiles[80]; /* in the test's folder */

/* Writes the page of these words of `lockbench report`. */
static void write_page(const char *words) {
    char line[400];
    need_browser();
    snprintf(page, sizeof page, "%s/page.html", folder);
    snprintf(percentiles, sizeof percentiles, "%s/percentiles.json", folder);
    snprintf(line, sizeof line, "%s --html --out %s", words, page);
    assert_int_equal(run_lockbench("report", line), 0);
}

/* Has a script look at the page; more: its further arguments, NULL at the end. */
static void look(const char *script, const char *const more[4]) {
    const char *argv[] = {"node", script, page, more[0], more[1], more[2], more[3], NULL};
    int code = run_command(argv, NULL);
    if (code) fail_msg("the page %s is not as it should be (exit code %d)", page, code);
}

/* Of the page of a run, which is smaller than 5 MB; views: those that must draw. */
static void look_at_run(const char *run, const char *views) {
    char file[100];
    snprintf(file, sizeof file, "%s/run.json", run);
    write_page(run);
    write_percentiles(run, percentiles);
    char *text = read_whole(page);
    assert_in_range(strlen(text), 1, 5000000);
    free(text);
    look("report/tests/test_browser.mjs", (const char *const[4]){percentiles, views, file});
}

/* A violated lock, a partial and a failed stage, texts with markup in them. */
TEST(test_a_page_of_every_odd_case) {
    look_at_run(GOLDEN "mixed", "percentiles,sweep,ratio");
}

/* Makes a result in the test's folder; the words are of a shell. */
static void make(const char *words) {
    const char *argv[] = {"sh", "-c", "D=$0; eval \"node report/tests/$1\"", folder, words, NULL};
    need_browser();
    assert_int_equal(run_command(argv, NULL), 0);
}

/* Repeats, an open loop, faults. */
TEST(test_a_page_over_time) {
    make("make_run.mjs over-time $D/over-time");
    char *run = path_of("over-time");
    look_at_run(run, "percentiles,series,ratio");
    free(run);
}

/* As large as pages get, made anew: with every view of it the browser's part takes too long for
 * each test. */
TEST(test_a_page_of_forty_locks_is_small) {
    make("make_run.mjs forty $D/forty");
    write_page("$D/forty");
    char *text = read_whole(page);
    assert_in_range(strlen(text), 500000, 3000000);
    free(text);
}

/* The views that decide: their figures are computed once more from run.json. Then a page without
 * data for some of the views, and the page of a run without a grant. */
TEST(test_the_views_that_decide) {
    static const char *const runs[][2] = {{"$G/decide/run.json", GOLDEN "decide/run.json"},
                                          {"$G/mixed", NULL},
                                          {"$D/idle.json", NULL}};
    char *idle = path_of("idle.json");
    store(idle,
          "{\"schema\":\"lockbench.run/2\",\"stages\":[{\"lock\":\"a\",\"clients\":2,\"keys\":1,"
          "\"arrival\":\"closed\",\"status\":\"complete\",\"throughput_per_s\":0,\"grants\":0}]}");
    free(idle);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        write_page(runs[i][0]);
        look("report/tests/test_browser_views.mjs", (const char *const[4]){runs[i][1]});
    }
}

TEST_MAIN(make_folder, remove_folder)
