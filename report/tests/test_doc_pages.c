/* test_doc_pages: the layout of the pages of runs, made-up ones, looked at in headless Chromium, without a network, by
 * test_doc_pages.mjs.
 *
 * Without node, Chromium or a bundle the test is skipped, and says what to install; with CI=true it
 * fails.
 * Needs: a browser, a minute. */
#include "report/tests/report_help.h"

/* Has the page of a run looked at. views: those that must draw, with commas. Its bytes. */
static size_t look_at(const char *words, const char *views) {
    char line[200], *path = path_of("page.html");
    const char *argv[] = {"node", "report/tests/test_doc_pages.mjs", path, views, NULL};
    snprintf(line, sizeof line, "%s --out %s", words, path);
    run_lockbench("report", line);
    char *text = read_whole(path);
    assert_non_null(text);
    size_t size = strlen(text);
    int code = run_command(argv, NULL);
    if (code) fail_msg("the page of %s is not as it should be (exit code %d)", words, code);
    free(text);
    free(path);
    return size;
}

/* Made-up runs: figures of each class in repeats, names as long as the longest that there are. */
TEST(runs_of_2_14_and_60_locks) {
    static const char *const counts[] = {"2", "14", "60"};
    char *run = path_of("locks");
    need_browser();
    for (int i = 0; i < 3; i++) {
        const char *const argv[] = {"node", "report/tests/make_run.mjs", "locks", run, counts[i],
                                    NULL};
        assert_int_equal(run_command(argv, NULL), 0);
        size_t size = look_at("$D/locks --html", "figures,percentiles,sweep");
        if (i < 2) assert_in_range(size, 100000, 700000);
    }
    free(run);
}

TEST_MAIN(make_folder, remove_folder)
