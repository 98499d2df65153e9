/* test_unranked: figures by which the report ranks no lock, because something else than the lock made them. */
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/run/ranking.h"
#include "report/tests/report_help.h"

static void expect(const char *stages, const char *words, bool said) {
    static const enum report_format formats[] = {REPORT_TABLE, REPORT_MD};
    struct report *report = report_of(stages, "");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *text = one_line(render(report, formats[i], false));
        if ((strstr(text, words) != NULL) != said)
            fail_msg("format %zu: '%s' %s: %s", i, words, said ? "is missing" : "is said", text);
        free(text);
    }
    report_free(report);
}

/* Half of the clients are dead: that the others got the grants is not the lock's doing. */
#define STAGE(lock, rate, fault, jain)                                                             \
    "{\"lock\":\"" lock "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"fault\":\"" fault    \
    "\",\"durability_class\":\"memory\",\"throughput_per_s\":" #rate                               \
    ",\"fairness\":{\"jain\":" #jain                                                               \
    "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}"

TEST(dead_or_paused_clients_make_no_lock_unfair) {
    static const char *const unfair = "unfair (Jain 0.54)", *const why = "Jain is not ranked";
    expect(STAGE("a", 100, "none", 0.54) "," STAGE("b", 60, "none", 0.5), unfair, true);
    expect(STAGE("a", 100, "none", 0.54) "," STAGE("b", 60, "none", 0.5), why, false);
    static const char *const faults[] = {
        STAGE("a", 100, "kill", 0.54) "," STAGE("b", 60, "kill", 0.5),
        STAGE("a", 100, "server-kill+pause", 0.54) "," STAGE("b", 60, "server-kill+pause", 0.5)};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        expect(faults[i], "unfair", false);
        expect(faults[i], why, true);
    }
    expect(STAGE("a", 100, "server-kill", 0.54) "," STAGE("b", 60, "server-kill", 0.5), unfair,
           true);
}

/* A job that is to run once a tick: so many of the ticks had one run. */
#define TICKS(lock, repeat, ticks, once, jain)                                                     \
    "{\"lock\":\"" lock                                                                            \
    "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"tick_ns\":400000000,\"repeat\":" #repeat \
    ",\"durability_class\":\"memory\",\"throughput_per_s\":9,\"ticks\":{\"count\":" #ticks         \
    ",\"once\":" #once ",\"none\":0,\"more\":0},\"fairness\":{\"jain\":" #jain                     \
    "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}"

static const struct column *ticks_once(const struct report *report) {
    const struct column *column = column_compared("throughput_per_s", &report->groups[0]);
    assert_string_equal(column->key, "ticks.once");
    return column;
}

/* Both ran in each tick. That b was measured for half of the time makes it no worse. */
TEST(a_count_of_more_ticks_is_no_better) {
    static const char *const cases[] = {
        TICKS("a", 0, 20, 20, 1) "," TICKS("a", 1, 20, 20, 1) "," TICKS("b", 0, 20, 20, 0.9),
        TICKS("a", 0, 40, 40, 1) "," TICKS("b", 0, 20, 20, 0.9)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report *report = report_of(cases[i], "");
        const struct column *column = ticks_once(report);
        assert_false(best_is_marked(column, &report->groups[0], 0));
        assert_true(isnan(best_ratio(column, &report->groups[0], 1)));
        report_free(report);
        expect(
            cases[i],
            "ticks with one run is not ranked: it is a count of all repeats, and some locks have "
            "more repeats or ticks than others",
            true);
        expect(cases[i], "ticks without a run is not ranked", false);
    }
}

/* The sum of the repeats has no spread in them: each repeat has a part of it. */
TEST(a_count_of_all_repeats_has_no_range) {
    static const char stages[] = TICKS("a", 0, 20, 20, 1) "," TICKS("a", 1, 20, 18, 1) "," TICKS(
        "b", 0, 20, 10, 1) "," TICKS("b", 1, 20, 9, 1);
    double low = 0, high = 0;
    struct report *report = report_of(stages, "");
    const struct report_group *group = &report->groups[0];
    assert_true(best_is_marked(ticks_once(report), group, 0));
    assert_true(best_ratio_range(group, 0, &low, &high));
    assert_true(low == 1 && high == 1);
    char *page = render(report, REPORT_HTML, false);
    has(page, "<dt>ticks with one run</dt><dd>38</dd>");
    lacks(page, "<dt>grants/s</dt><dd>38");
    free(page);
    report_free(report);
    expect(stages, "medians of the repeats, counts of all repeats together", true);
}

#define RECOVERED(lock, p50, max)                                                                       \
    "{\"lock\":\"" lock                                                                                 \
    "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"durability_class\":\"memory\",\"recovery\":{" \
    "\"count\":9,\"p50_ns\":" #p50 ",\"max_ns\":" #max ",\"unavailable_ns\":" #max                      \
    "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}"

/* One run can't tell whose greatest is the least: neither of waits nor of recoveries. */
TEST(the_longest_recovery_of_one_run_is_no_best) {
    static const struct {
        const char *key;
        bool marked;
    } cases[] = {
        {"recovery.p50_ns", true}, {"recovery.max_ns", false}, {"recovery.unavailable_ns", false}};
    struct report *report =
        report_of(RECOVERED("a", 1000, 2000) "," RECOVERED("b", 5000, 9000), "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct column *column = columns_of(IN_RECOVERY);
        while (strcmp(column->key, cases[i].key) != 0) column++;
        assert_int_equal(best_is_marked(column, &report->groups[0], 0), cases[i].marked);
    }
    report_free(report);
}

#define ENDED(lock, rate, repeat, status)                                                                     \
    "{\"lock\":\"" lock                                                                                       \
    "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"durability_class\":\"memory\",\"status\":\"" status \
    "\",\"repeat\":" #repeat ",\"throughput_per_s\":" #rate                                                   \
    ",\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}"

/* The first second of a run that was interrupted is no proof of speed; beside a whole repeat it takes nothing from the
 * lock. */
TEST(a_lock_that_was_cut_off_is_no_best) {
    static const char *const cases[][2] = {
        {ENDED("a", 100, 0, "complete") "," ENDED("b", 900, 0, "partial"),
         "most grants/s, 4 clients: a 100 (the only one)"},
        {ENDED("a", 100, 0, "complete") "," ENDED("b", 900, 0, "partial") "," ENDED("b", 900, 1,
                                                                                    "complete"),
         "most grants/s, 4 clients: b 900"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report *report = report_of(cases[i][0], "");
        char *text = one_line(render(report, REPORT_TABLE, false));
        has(text, cases[i][1]);
        free(text);
        report_free(report);
    }
}

/* Three of four clients waited through the whole window. */
#define WAITED(lock, waiting_ns, repeat)                                                           \
    "{\"lock\":\"" lock "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"hold\":\"1ms\","     \
    "\"durability_class\":\"memory\",\"throughput_per_s\":900,\"repeat\":" #repeat ","             \
    "\"latency_ns\":{\"acquire\":{\"count\":900,\"hdr\":\"" HDR_900                                \
    "\",\"mean\":10000,\"p50\":9000,\"p99\":15000}},"                                              \
    "\"client_time_ns\":{\"waiting\":" #waiting_ns "},"                                            \
    "\"fairness\":{\"max_wait_ns\":1830000000},"                                                   \
    "\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}"

TEST(a_tail_without_the_long_waits_is_no_best) {
    static const char missing[] = "at least 99 % of the time that its clients waited";
    static const char hides[] = WAITED("a", 3000000000, 0) "," WAITED("a", 3000000000, 1);
    static const char whole[] = WAITED("a", 9000000, 0) "," WAITED("a", 9000000, 1);
    expect(hides, missing, true);
    expect(hides, "a 15.0 us (the only one)", false);
    expect(whole, missing, false);
    struct report *report = report_of(whole, "");
    char *text = one_line(render(report, REPORT_TABLE, false));
    has(text, "a 15.0 us (the only one)");
    free(text);
    report_free(report);
}

/* The page's first screen has the p99 of the leader. */
TEST(the_tile_of_a_leader_says_what_its_p99_lacks) {
    struct report *report = report_of(
        "{\"lock\":\"a\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":900,"
        "\"client_time_ns\":{\"waiting\":3000000000},"
        "\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}," STAGE("b", 60,
                                                                                      "none", 1),
        "");
    char *page = render(report, REPORT_HTML, false);
    char *tiles = strstr(page, "p99 wait");
    assert_non_null(tiles);
    char *said = strstr(tiles, "100 % of the time that its clients waited are not in its p99");
    assert_non_null(said);
    assert_true(said < strstr(tiles, "<table"));
    free(page);
    report_free(report);
}

/* 1 of 8 clients: Jain is 1/8. */
TEST(one_client_is_not_few) {
    struct report *report =
        report_of(STAGE("a", 100, "none", 0.26) "," STAGE("b", 60, "none", 0.27), "");
    char *text = one_line(render(report, REPORT_MD, false));
    has(text, "unfair (Jain 0.26): one client got almost all grants.");
    free(text);
    report_free(report);
}

/* A dash has its reason. */
TEST(no_handoff_where_one_client_got_all) {
    expect("{\"lock\":\"a\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"grants\":900,"
           "\"throughput_per_s\":900,\"fairness\":{\"jain\":0.25},"
           "\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}",
           "one client got almost all grants: there were hardly any handoffs to another one", true);
    expect(STAGE("a", 100, "none", 0.54), "hardly any handoffs", false);
}

TEST(equal_numbers_of_threads_are_no_range) {
    expect("{\"lock\":\"a\",\"clients\":2,\"threads\":2,\"processes\":2}",
           "clients are fibers on 2 threads in 2 processes", true);
    expect("{\"lock\":\"a\",\"clients\":2,\"threads\":1,\"processes\":1},"
           "{\"lock\":\"b\",\"clients\":2,\"threads\":2,\"processes\":1}",
           "clients are fibers on 1 to 2 threads in 1 process,", true);
}

TEST_MAIN(NULL, NULL)
