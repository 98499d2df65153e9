/* test_distance: the same load at several round trips to the servers, and how many round trips a figure has. */
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/doc/doc.h"
#include "report/run/run_doc.h"
#include "report/tests/report_help.h"

/* rtt: ns, or null for no wire. */
#define STAGE(lock, rtt, rate, p50)                                                                      \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"memory\",\"rtt_ns\":" #rtt         \
    ",\"clients\":2,\"keys\":1,\"arrival\":\"closed\",\"think\":\"exp:1ms\",\"throughput_per_s\":" #rate \
    ",\"latency_ns\":{\"acquire\":{\"count\":500,\"hdr\":\"" HDR_500 "\",\"p50\":" #p50                  \
    "}},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"
#define DUE(lock, rtt, p50)                                                                        \
    "{\"lock\":\"" lock "\",\"durability_class\":\"memory\",\"rtt_ns\":" #rtt                      \
    ",\"clients\":2,\"keys\":1,\"arrival\":\"poisson:9/s\",\"response_ns\":{\"p50\":" p50          \
    "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"

static void distances_say(const char *stages, const char *const *words, int count) {
    struct report *report = report_of(stages, "");
    struct doc doc = {0};
    run_distances(report, &doc);
    char *text = written(&doc, DOC_MARKDOWN);
    for (int i = 0; i < count; i++) has(text, words[i]);
    lacks(text, "inf");
    free(text);
    report_free(report);
}

/* Nearest first, whatever the run's order; one round trip of one lock, two of the other. */
TEST(a_figure_grows_by_its_round_trips) {
    static const char *const says[] = {"| lock | no wire | +0 | +20.0 ms | × rtt |",
                                       "| two | 50.0 us | **100 us** | 40.1 ms | 2.0 |",
                                       "| one | – | 200 us | **20.2 ms** | 1.0 |"};
    distances_say(
        STAGE("two", 20000000, 20, 40100000) "," STAGE("two", null, 9000, 50000) "," STAGE(
            "two", 0, 8000, 100000) "," STAGE("one", 0, 4000, 200000) "," STAGE("one", 20000000, 45,
                                                                                20200000),
        says, 3);
}

/* A rate that the lock carries nearby only: the wait has no end, and no number of round trips. */
TEST(a_wait_without_an_end_has_no_round_trips) {
    static const char *const says[] = {"| a | 100 us | never | \xe2\x80\x93 |"};
    distances_say(DUE("a", 0, "100000") "," DUE("a", 20000000, "\"never\""), says, 1);
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
    struct report *report =
        report_of(STAGE("a", 5000000, 100, 1000) "," STAGE("b", 5000000, 100, 2000), "");
    struct doc doc = {0};
    run_distances(report, &doc);
    assert_null(doc.root);
    doc_free(&doc);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
