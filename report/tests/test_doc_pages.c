/* test_doc_pages: the layout of the pages of runs, and of documents other than runs and checks,
 * rendered from stored or made-up results and looked at in headless Chromium, without a network, by test_doc_pages.mjs.
 *
 * Without node, Chromium or a bundle the test is skipped, and says what to install; with CI=true it
 * fails.
 * Needs: a browser, minutes. */
#define _GNU_SOURCE
#include "report/capacity/capacity_doc.h"
#include "report/compare/compare.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"

/* A file for a page; the caller closes out. */
static FILE *page_open(char path[64], const char *name) {
    snprintf(path, 64, "%s/%s.html", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    return out;
}

/* views: those that must draw, with commas; "" = the page has no charts. */
static void look_at(const char *path, const char *views) {
    const char *argv[] = {"node", "report/tests/test_doc_pages.mjs", path, views, NULL};
    int code = run_command(argv, NULL);
    if (code) fail_msg("the page %s is not as it should be (exit code %d)", path, code);
}

/* The stored search with its answer taken away, and its lowest probe broken. */
static struct capacity *capacity_load(bool answered) {
    struct lb_err err = {0};
    struct capacity *capacity = capacity_read(GOLDEN "decide/capacity.json", &err);
    assert_string_equal(err.text, "");
    if (!answered) {
        capacity->locks[0].answered = false;
        capacity->locks[0].limited_by = CAPACITY_LIMIT_NONE;
        capacity->locks[0].probes[0].verdict = PROMISE_BROKEN;
    }
    return capacity;
}

TEST(a_search_for_capacity) {
    struct lb_err err = {0};
    char path[64];
    need_browser();
    struct capacity *capacity = capacity_load(true);
    FILE *out = page_open(path, "capacity");
    assert_int_equal(capacity_page(capacity, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    capacity_free(capacity);
    look_at(path, "");
}

/* Whoever gets only a file can repeat the search, and knows when and where it ran. */
TEST(a_capacity_tells_when_and_where_it_ran_and_its_whole_command) {
    static const char again[] =
        "lockbench capacity redis-setnx --url redis=@/etc/lockbench/the-url-of-the-server-that-we-use "
        "--set redis.tls_ca=/etc/lockbench/authority-of-the-server-that-we-use.pem --set "
        "load.key_prefix=lock: --hold 1ms --keys 1 --time 10m --most 1000 --set load.clients=8";
    static const enum report_format formats[] = {REPORT_TABLE, REPORT_MD, REPORT_HTML};
    struct capacity *capacity = capacity_load(true);
    json_t *environment =
        json_pack("{s:s, s:i, s:s}", "cpu_model", "Some CPU", "cpus", 2, "kernel", "Linux 6.1");
    capacity->environment = environment;
    capacity->command = again;
    for (int i = 0; i < 3; i++) {
        struct lb_err err = {0};
        char path[64];
        FILE *out = page_open(path, "notes");
        assert_int_equal(capacity_write(capacity, formats[i], false, out, &err), 0);
        assert_int_equal(fclose(out), 0);
        char *text = read_whole(path);
        has(text, again);
        has(text, "2026-11-20T23:48:01Z to 2026-11-20T23:51:09Z");
        has(text, "Some CPU, 2 processors, Linux 6.1");
        free(text);
    }
    json_decref(environment);
    capacity_free(capacity);
}

/* The answer comes first, in one line, and what broke the promise at the lowest load is no dash. */
TEST(a_capacity_page_begins_with_the_answer) {
    static const char *const firsts[] = {"redis-setnx carries &lt; 300/s",
                                         "redis-setnx carries 390/s (95 %: 360 .. 425), limited "
                                         "by the promise"};
    for (int answered = 0; answered < 2; answered++) {
        struct lb_err err = {0};
        char path[64];
        struct capacity *capacity = capacity_load(answered);
        FILE *out = page_open(path, "first");
        assert_int_equal(capacity_page(capacity, out, &err), 0);
        assert_int_equal(fclose(out), 0);
        capacity_free(capacity);
        char *text = read_whole(path), *body = strstr(text, "<main>");
        char *first = strstr(body, firsts[answered]);
        assert_non_null(first);
        assert_true(first < strstr(body, "<table"));
        free(text);
    }
}

/* A long name of a machine in any letters is cut at a letter. */
TEST(a_capacity_page_is_utf8) {
    for (int odd = 0; odd < 2; odd++) {
        struct lb_err err = {0};
        char path[64], model[400] = "x";
        for (int i = odd; i < 380; i += 2) memcpy(model + i, "\xc3\xa4", 3);
        struct capacity *capacity = capacity_load(true);
        json_t *environment = json_pack("{s:s}", "cpu_model", model);
        capacity->environment = environment;
        FILE *out = page_open(path, "letters");
        assert_int_equal(capacity_page(capacity, out, &err), 0);
        assert_int_equal(fclose(out), 0);
        json_decref(environment);
        capacity_free(capacity);
        char *page = read_whole(path);
        json_t *text = json_string(page); /* takes UTF-8 only */
        assert_non_null(text);
        json_decref(text);
        free(page);
    }
}

/* Two runs of the same locks: the second one is a copy. */
TEST(a_comparison) {
    struct lb_err err = {0};
    char path[64], copy[64];
    need_browser();
    snprintf(copy, sizeof copy, "%s/copy", folder);
    const char *const argv[] = {"cp", "-r", GOLDEN "decide", copy, NULL};
    assert_int_equal(run_command(argv, NULL), 0);
    const char *const base[] = {GOLDEN "decide"}, *const new[] = {copy};
    struct compare_ask ask = {.base = base,
                              .new = new,
                              .base_count = 1,
                              .new_count = 1,
                              .min_effect = COMPARE_MIN_EFFECT};
    struct compare *compare = compare_make(&ask, &err);
    assert_string_equal(err.text, "");
    FILE *out = page_open(path, "compare");
    assert_int_equal(compare_page(compare, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    compare_free(compare);
    look_at(path, "");
}

/* Made-up runs: figures of each class in repeats, names as long as the longest that there are. */
TEST(runs_of_2_14_and_60_locks) {
    static const char *const counts[] = {"2", "14", "60"};
    need_browser();
    for (int i = 0; i < 3; i++) {
        struct lb_err err = {0};
        char path[64], run[64];
        snprintf(run, sizeof run, "%s/locks-%s", folder, counts[i]);
        const char *const argv[] = {"node", "report/tests/make_run.mjs", "locks", run, counts[i],
                                    NULL};
        assert_int_equal(run_command(argv, NULL), 0);
        const char *const runs[] = {run};
        struct report *report = report_load(runs, 1, &err);
        assert_string_equal(err.text, "");
        assert_non_null(report);
        FILE *out = page_open(path, "runs");
        assert_int_equal(report_write(report, REPORT_HTML, false, out, &err), 0);
        if (i < 2) assert_in_range(ftell(out), 100000, 700000); /* bytes */
        assert_int_equal(fclose(out), 0);
        report_free(report);
        look_at(path, "figures,percentiles,sweep");
    }
}

TEST_MAIN(make_folder, remove_folder)
