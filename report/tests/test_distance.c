/* test_distance: the same load at several round trips to the servers: which groups belong together, how many round trips
 * a figure has, and where one lock passes another. */
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/doc/doc.h"
#include "report/run/reach.h"
#include "report/run/run_doc.h"
#include "report/tests/report_help.h"

/* rtt: ns, or null for no wire. */
#define STAGE(lock, class, rtt, rate, p50)                                                                   \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"" class                                \
        "\",\"rtt_ns\":" #rtt                                                                                \
        ",\"clients\":2,\"keys\":1,\"arrival\":\"closed\",\"think\":\"exp:1ms\",\"throughput_per_s\":" #rate \
        ",\"latency_ns\":{\"acquire\":{\"count\":500,\"hdr\":\"" HDR_500 "\",\"p50\":" #p50                  \
        "}},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"

static const struct column *column_of(const char *key) {
    const struct column *column = columns_of(IN_COMPARISON);
    while (strcmp(column->key, key) != 0) column++;
    return column;
}

static int lock_of(const struct report *report, const char *name) {
    for (int i = 0; i < report->lock_count; i++)
        if (strcmp(report->locks[i].name, name) == 0) return i;
    fail_msg("no lock %s", name);
    return -1;
}

static struct reach first_reach(const struct report *report) {
    struct reach reach;
    struct lb_err err = {0};
    assert_true(reach_find(report, 0, &reach, &err));
    return reach;
}

/* Nearest first, whatever the run's order; one round trip of one lock, two of the other, which was ahead nearby. */
TEST(a_lock_of_fewer_round_trips_passes_one_of_more) {
    struct report *report = report_of(
        STAGE("two", "memory", 20000000, 20, 40100000) "," STAGE("two", "memory", null, 9000, 50000) "," STAGE(
            "two", "memory",
            0, 8000,
            100000) "," STAGE("two", "memory", 5000000, 90,
                              10100000) "," STAGE("one", "memory", 0, 4000,
                                                  200000) "," STAGE("one", "memory", 5000000, 190,
                                                                    5200000) "," STAGE("one",
                                                                                       "memory",
                                                                                       20000000, 45,
                                                                                       20200000) "," STAGE("disk",
                                                                                                           "disk",
                                                                                                           0,
                                                                                                           100,
                                                                                                           9000000) "," STAGE("disk",
                                                                                                                              "disk",
                                                                                                                              20000000,
                                                                                                                              90,
                                                                                                                              10000000),
        "");
    struct reach reach = first_reach(report), more;
    struct lb_err err = {0};
    static const double rtts_ns[] = {-1, 0, 5e6, 20e6};
    assert_int_equal(reach.count, 4);
    for (int i = 0; i < 4; i++)
        assert_true(isnan(reach.groups[i]->rtt_ns) ? rtts_ns[i] < 0
                                                   : reach.groups[i]->rtt_ns == rtts_ns[i]);
    assert_false(reach_find(report, 1, &more, &err));
    assert_int_equal(err.code, 0);
    const struct column *acquire = column_of("latency_ns.acquire.p50");
    int one = lock_of(report, "one"), two = lock_of(report, "two"), disk = lock_of(report, "disk");
    assert_true(fabs(reach_trips(&reach, acquire, one) - 1) < 1e-9);
    assert_true(fabs(reach_trips(&reach, acquire, two) - 2) < 1e-9);
    struct passing passing;
    assert_true(reach_passing(&reach, acquire, two, one, &passing));
    assert_int_equal(passing.winner, one);
    assert_int_equal(passing.loser, two);
    assert_true(passing.before->rtt_ns == 0 && passing.after->rtt_ns == 5e6);
    /* The two locks differ in durability, so they are not ranked. */
    assert_false(reach_passing(&reach, acquire, disk, two, &passing));
    free(reach.groups);
    struct doc doc = {0};
    run_distances(report, &doc);
    char *text = written(&doc, DOC_TERMINAL);
    static const char *const says[] = {"no wire", "+20.0 ms",
                                       "acquire p50: one passes two between +0 and +5.00 ms",
                                       "grants/s: one passes two between +0 and +5.00 ms"};
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) has(text, says[i]);
    free(text);
    report_free(report);
}

/* No change of the ranking: two locks that are level at the farthest servers, one that is ahead at
 * a middle distance only, or one that is better only in a run without the wire. */
TEST(what_does_not_last_is_no_change) {
    struct report *report = report_of(
        STAGE("a", "memory", null, 100, 900) "," STAGE("b", "memory", null, 100, 100) "," STAGE(
            "a", "memory", 0, 100,
            1000) "," STAGE("b", "memory", 0, 100,
                            2000) "," STAGE("a", "memory", 5000000, 100,
                                            9000000) "," STAGE("b", "memory", 5000000, 100,
                                                               5000000) "," STAGE("a", "memory",
                                                                                  20000000, 100,
                                                                                  20000000) "," STAGE("b",
                                                                                                      "memory",
                                                                                                      20000000,
                                                                                                      100,
                                                                                                      20100000),
        "");
    struct reach reach = first_reach(report);
    struct passing passing;
    assert_false(reach_passing(&reach, column_of("latency_ns.acquire.p50"), 0, 1, &passing));
    assert_false(reach_passing(&reach, column_of("throughput_per_s"), 0, 1, &passing));
    assert_true(isnan(reach_trips(&reach, column_of("latency_ns.handoff.p50"), 0)));
    free(reach.groups);
    report_free(report);
}

#define DUE(lock, rtt, p50)                                                                        \
    "{\"lock\":\"" lock "\",\"durability_class\":\"memory\",\"rtt_ns\":" #rtt                      \
    ",\"clients\":2,\"keys\":1,\"arrival\":\"poisson:9/s\",\"response_ns\":{\"p50\":" p50          \
    "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"

static void distances_say(const char *stages, const char *words) {
    struct report *report = report_of(stages, "");
    struct doc doc = {0};
    run_distances(report, &doc);
    char *text = written(&doc, DOC_MARKDOWN);
    has(text, words);
    lacks(text, "inf");
    free(text);
    report_free(report);
}

/* A rate that the lock carries nearby only: the wait has no end, and no number of round trips. */
TEST(a_wait_without_an_end_has_no_round_trips) {
    distances_say(DUE("a", 0, "100000") "," DUE("a", 20000000, "\"never\""),
                  "| a | 100 us | never | \xe2\x80\x93 |");
}

TEST(a_ranking_needs_two_locks_at_two_distances) {
    static const char none[] = "no two locks of one durability are ranked at several distances";
    distances_say(DUE("a", 0, "100000") "," DUE("a", 20000000, "200000"), none);
    distances_say(DUE("a", 0, "100000") "," DUE("b", 0, "900000") "," DUE("a", 20000000, "200000"),
                  none);
    distances_say(DUE("a", 0, "100000") "," DUE("b", 0, "900000") "," DUE(
                      "a", 20000000, "200000") "," DUE("b", 20000000, "1000000"),
                  "the ranking does not change with the distance");
}

TEST(a_round_trip_is_told_in_one_unit) {
    static const struct {
        double rtt_ns;
        const char *text;
    } cases[] = {{NAN, ""},           {0, ", rtt +0"},         {500e3, ", rtt +500us"},
                 {1e6, ", rtt +1ms"}, {1.5e6, ", rtt +1.5ms"}, {1e9, ", rtt +1000ms"}};
    char text[NUMBER_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(report_rtt_text(cases[i].rtt_ns, text), cases[i].text);
}

TEST(one_distance_is_no_section) {
    struct report *report = report_of(
        STAGE("a", "memory", 5000000, 100, 1000) "," STAGE("b", "memory", 5000000, 100, 2000), "");
    struct reach reach;
    struct lb_err err = {0};
    struct doc doc = {0};
    assert_false(reach_find(report, 0, &reach, &err));
    run_distances(report, &doc);
    assert_null(doc.root);
    doc_free(&doc);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
