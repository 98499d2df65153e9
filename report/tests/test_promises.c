/* test_promises: the section of the promises (--slo): no promise is cut, and a column without a value is left out. */
#include "report/run/run_doc.h"
#include "report/tests/report_help.h"

#define STAGE                                                                                      \
    "{\"lock\":\"a\",\"topology\":\"url\",\"clients\":8,\"keys\":1,\"arrival\":\"closed\","        \
    "\"throughput_per_s\":9,\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}}"
#define LONG_LOCK "pg-advisory-of-a-long-name"
#define LONG_SLO "latency_ns.recovery.first_grant.p99.99<=1500ms"

/* interval: ",\"low\":1e6,\"high\":2e6", or nothing */
#define SLO(slo, lock, topology, lease, interval)                                                  \
    "{\"slo\":\"" slo "\",\"lock\":\"" lock "\",\"topology\":" topology                            \
    ",\"clients\":8,\"verdict\":\"unsure\",\"unit\":\"ns\",\"figure\":35.9e6,\"lease_ns\":" lease  \
    ",\"basis\":\"too few samples: 5 seconds, worth 12 samples\"" interval "}"
#define INTERVAL ",\"low\":11e6,\"high\":47e6"

static char *promises_text(const char *slos, enum doc_format format) {
    char more[2000];
    struct doc doc = {0};
    snprintf(more, sizeof more, ",\"slo\":[%s]", slos);
    struct report *report = report_of(STAGE, more);
    run_slo(report, &doc);
    char *text = written(&doc, format);
    report_free(report);
    return text;
}

/* Two promises of one figure differ in their limits alone. */
TEST(no_promise_is_cut) {
    char *text =
        promises_text(SLO(LONG_SLO, LONG_LOCK, "\"redis-sentinel+tls\"", "1e9", INTERVAL) "," SLO(
                          "acquire.p99<=1s", LONG_LOCK, "\"redis-sentinel+tls\"", "1e9", INTERVAL),
                      DOC_TERMINAL);
    has(text, LONG_SLO);
    has(text, "acquire.p99<=1s");
    has(text, LONG_LOCK " ");
    has(text, " 1.00 s ");
    has(text, "redis-sentinel+tls");
    has(text, "11.0 ms .. 47.0 ms");
    has(text, "too few samples: 5 seconds, worth 12 samples");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 100) fail_msg("more than 100 columns:\n%s", text);
    free(text);
}

/* Each promise stands once, above all locks and loads that it is judged for. */
TEST(a_promise_is_told_once) {
    static const char slos[] = SLO("acquire.p99<=60ms", "a", "\"url\"", "null", "") "," SLO(
        "acquire.p99<=1s", "a", "\"url\"", "null",
        "") "," SLO("acquire.p99<=60ms", "b", "\"url\"", "null", "") "," SLO("acquire.p99<=1s", "b",
                                                                             "\"url\"", "null", "");
    char *text = promises_text(slos, DOC_TERMINAL);
    assert_int_equal(count_of(text, "acquire.p99<=60ms"), 1);
    assert_int_equal(count_of(text, "acquire.p99<=1s"), 1);
    assert_true(strstr(text, "<=60ms") < strstr(text, "\na "));
    lacks(text, "lease");
    lacks(text, "95 % interval"); /* none is known */
    free(text);
    /* elsewhere each row has it */
    text = promises_text(slos, DOC_MARKDOWN);
    has(text, "| a | url | acquire.p99&lt;=60ms |");
    has(text, "| b | url | acquire.p99&lt;=1s |");
    lacks(text, "95 % interval");
    free(text);
    text = promises_text(SLO("acquire.p99<=1s", "sim", "null", "null", INTERVAL), DOC_MARKDOWN);
    lacks(text, "topology"); /* no servers */
    has(text, "95 % interval");
    free(text);
}

TEST_MAIN(NULL, NULL)
