/* test_rungs: the figure that a workload is for is on the first screen. */
#include "bench/tests/hdr_texts.h"
#include "report/tests/report_help.h"

#define RUNG(lock, clients, rtt, rate, wait)                                                       \
    "{\"lock\":\"" lock "\",\"clients\":" #clients ",\"keys\":\"1\",\"arrival\":\"closed\","       \
    "\"hold\":\"0\",\"rtt_ns\":" #rtt ",\"throughput_per_s\":" #rate                               \
    ",\"inside_ns\":0,\"latency_ns\":{\"acquire\":{\"count\":900,\"hdr\":\"" HDR_900               \
    "\",\"p50\":" #wait "}},"                                                                      \
    "\"exclusion\":{\"verdict\":\"clean\",\"grants\":900}}"
#define DISTANCE(lock, trips)                                                                      \
    RUNG(lock, 1, null, 9000, 50000)                                                               \
    "," RUNG(lock, 4, null, 5000, 50000) "," RUNG(lock, 1, 0, 9000, 100000) "," RUNG(              \
        lock, 4, 0, 4000, 100000) "," RUNG(lock, 1, 5000000, 100,                                  \
                                           trips##100000) "," RUNG(lock, 4, 5000000, 50, 9000000)

/* The choice at each distance, and the round trips of an acquire, from its growth. */
TEST(a_distance_has_a_column_for_each) {
    struct report *report = report_of(DISTANCE("a", 5) "," DISTANCE("b", 10), "");
    char *text = render(report, REPORT_TABLE, false);
    if (count_of(text, "\n") > 25) fail_msg("%d lines: %s", count_of(text, "\n"), text);
    assert_lines_fit(text);
    one_line(text);
    has(text, "lock trips no wire +0 +5ms paused");
    has(text, "a 1.00 200 us 250 us 20.0 ms");
    has(text, "b 2.00 200 us");
    has(text, "cost of a grant with 4 clients");
    lacks(text, "rtt +0,");
    free(text);
    report_free(report);
}

#define LEASE(lock, lease, p50, expired)                                                           \
    "{\"lock\":\"" lock                                                                            \
    "\",\"clients\":4,\"keys\":\"3\",\"arrival\":\"closed\",\"lease_varies\":true,"                \
    "\"lease_ns\":" #lease ",\"fault\":\"pause+kill\",\"throughput_per_s\":9,"                     \
    "\"recovery\":{\"count\":3,\"p50_ns\":" #p50 "},\"exclusion\":{\"verdict\":\"expired\","       \
    "\"grants\":900,\"expired_holders\":" #expired "}}"

TEST(a_lease_has_its_recovery_and_its_second_holders) {
    struct report *report = report_of(
        LEASE("a", 500000000, 471000000, 3) "," LEASE("a", 5000000000, 4040000000, 0), "");
    char *text = one_line(render(report, REPORT_TABLE, false));
    has(text, "lock 500 ms 5.00 s paused");
    has(text, "a 471 ms, 3 4.04 s, 0 expired");
    has(text, "fault pause+kill");
    free(text);
    report_free(report);
}

#define HELD(clients, memory)                                                                      \
    "{\"lock\":\"a\",\"clients\":" #clients ",\"keys\":\"own\",\"arrival\":\"closed\","            \
    "\"throughput_per_s\":9,\"held\":{\"count\":" #clients ",\"memory_bytes_per_lock\":" #memory   \
    ",\"disk_bytes_per_lock\":7},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900}}"

/* The most held locks, since few of them are lost in what a server takes anyway. */
TEST(held_locks_have_their_bytes) {
    struct report *report = report_of(HELD(100, 13500) "," HELD(1000, 217), "");
    char *text = one_line(render(report, REPORT_TABLE, false));
    has(text, "1,000 clients");
    has(text, "mem/held disk/held");
    has(text, " 217 ");
    free(text);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
