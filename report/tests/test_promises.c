/* test_promises: the promises (--slo): none is cut. */
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
    assert_lines_fit(text);
    text = one_line(text);
    has(text, LONG_SLO);
    has(text, "acquire.p99<=1s");
    has(text, LONG_LOCK " @redis-sentinel+tls");
    has(text, "8 clients, lease 1.00 s");
    has(text, "11.0 ms .. 47.0 ms");
    has(text, "too few samples: 5 seconds, worth 12 samples");
    free(text);
}

TEST_MAIN(NULL, NULL)
