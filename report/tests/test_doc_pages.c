/* test_doc_pages: the layout of the pages of runs, and of documents other than runs and checks,
 * rendered from stored or made-up results and looked at in headless Chromium, without a network, by test_doc_pages.mjs.
 *
 * Without node, Chromium or a bundle the test is skipped, and says what to install; with CI=true it
 * fails.
 * Needs: a browser, minutes. */
#define _GNU_SOURCE
#include "report/capacity/capacity_doc.h"
#include "report/compare/compare.h"
#include "report/tests/trend_help.h"

#define GOLDEN "report/tests/golden/"

/* A file for a page; the caller closes out. */
static FILE *page_open(char path[64], const char *name) {
    snprintf(path, 64, "%s/%s.html", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    return out;
}

/* cell: a text that a cell of the charts' tables has, the whole of it; NULL = any. */
static void look_with(const char *path, const char *views, const char *cell) {
    const char *argv[] = {"node", "report/tests/test_doc_pages.mjs", path, views, cell, NULL};
    int code = run_command(argv, NULL);
    if (code) fail_msg("the page %s is not as it should be (exit code %d)", path, code);
}

static void look_at(const char *path, const char *views) {
    look_with(path, views, NULL);
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
    look_at(path, "probes");
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
        assert_true(!strstr(body, "class=\"view\"") || first < strstr(body, "class=\"view\""));
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
    look_at(path, "shifts,sides");
}

/* Made-up runs: figures of each class in repeats, names as long as the longest that there are. */
TEST(runs_of_2_13_and_60_locks) {
    static const char *const counts[] = {"2", "13", "60"};
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
        assert_int_equal(fclose(out), 0);
        report_free(report);
        look_at(path, "ratio,percentiles,difference,scaling,handoff,fairness,cost");
    }
}

/* `series` locks over 24 runs that scatter by 2 %; from the 13th run on each third lock is slower by a quarter, if
 * there is a change at all. */
static struct trend *many_series(int series, bool changes) {
    char *text = NULL;
    size_t size;
    struct lb_rng rng;
    struct lb_err err = {0};
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    rng_seed(&rng, 4, 1);
    fputs(HEADER, out);
    for (int day = 0; day < 24; day++) {
        for (int i = 0; i < series; i++) {
            char lock[40];
            double slower = changes && day >= 12 && i % 3 == 0 ? 0.75 : 1;
            snprintf(lock, sizeof lock, "redis-lock-of-name-%02d", i);
            put_line(out, day,
                     &(struct made){.lock = lock, .rate = 20000 * slower * around(&rng, 0.02)});
        }
    }
    assert_int_equal(fclose(out), 0);
    struct trend *trend = trend_parse(text, "results/history.csv", &err);
    assert_string_equal(err.text, "");
    return trend;
}

static void history_page(struct trend *trend, int gate, const char *path_name, char path[64]) {
    struct lb_err err = {0};
    struct trend_view *view = look(trend, -1, gate);
    FILE *out = page_open(path, path_name);
    assert_int_equal(trend_page(view, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    trend_view_free(view);
    trend_free(trend);
}

TEST(histories_of_2_13_and_60_series) {
    static const int counts[] = {2, 13, 60};
    need_browser();
    for (int i = 0; i < 3; i++) {
        char path[64];
        history_page(many_series(counts[i], true), 15, "history", path);
        look_at(path, "trend,changes");
    }
}

TEST(a_history_without_a_change_has_none_on_its_page) {
    char path[64];
    need_browser();
    history_page(many_series(2, false), 15, "flat", path);
    char *text = read_whole(path);
    assert_non_null(strstr(text, "2 series, 48 lines, 0 changes"));
    assert_null(strstr(text, "\"changes\":[{"));
    free(text);
    look_at(path, "trend");
}

/* From 0 there is no change in per cent, and nothing that was never granted. */
TEST(a_change_from_0_has_no_percentage) {
    char path[64], *text = NULL;
    size_t size;
    struct lb_err err = {0};
    need_browser();
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "%.*s,not_granted\n", (int)strlen(HEADER) - 1, HEADER);
    for (int day = 0; day < 24; day++)
        fprintf(out,
                "2026-01-%02dT12:00:00Z,c%d,run-%d,e1,h1,6.1,redis 7.0.15,redis-setnx,16,one "
                "key,redis,in memory,1 x 2,3,clean,,,,,,,,,%g\n",
                1 + day, day, day, day < 12 ? 0 : 0.1 + 0.001 * day);
    assert_int_equal(fclose(out), 0);
    struct trend *trend = trend_parse(text, "history.csv", &err);
    assert_string_equal(err.text, "");
    history_page(trend, 15, "zero", path);
    look_with(path, "trend,changes", "worse");
}

/* A series of an old machine that got slower, then 22 runs on a new one: its changes are no news. */
TEST(a_series_that_ended_is_marked_in_the_charts) {
    char path[64], *text = NULL;
    size_t size;
    struct lb_rng rng;
    struct lb_err err = {0};
    need_browser();
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    rng_seed(&rng, 4, 1);
    fputs(HEADER, out);
    for (int day = 0; day < 46; day++)
        put_line(out, day,
                 &(struct made){.rate = (day < 12 ? 20000 : 15000) * around(&rng, 0.02),
                                .environment = day < 24 ? "old" : "new"});
    assert_int_equal(fclose(out), 0);
    struct trend *trend = trend_parse(text, "history.csv", &err);
    assert_string_equal(err.text, "");
    history_page(trend, 15, "ended", path);
    look_with(path, "trend,changes",
              "redis-setnx, 16 clients, redis, one key, closed loop (ended)");
}

/* The sentence of the gate comes first, and all figures stand in the table: scripts are not needed. */
TEST(a_history_begins_with_what_the_gate_says) {
    char path[64];
    history_page(slower(), 15, "gate", path);
    char *text = read_whole(path), *body = strstr(text, "<main>");
    char *said = strstr(body, "WORSE by 3 % or more within the last 15 runs");
    assert_non_null(said);
    assert_true(said < strstr(body, "<table"));
    assert_non_null(strstr(body, "worse -11.9"));
    free(text);
}

TEST_MAIN(make_folder, remove_folder)
