/* test_leases: the section of a ladder of leases: a row for each lock and lease, from the shortest lease, with the pauses
 * that acted. */
#include "report/run/run_doc.h"
#include "report/tests/report_help.h"

#define PAUSE(acted) "{\"kind\":\"pause\",\"acted\":" #acted "}"

/* varies: whether the run has several leases. */
#define STAGE(lock, lease, varies, expired, crash, faults)                                         \
    "{\"lock\":\"" lock                                                                            \
    "\",\"topology\":\"t\",\"durability_class\":\"memory\",\"lease_ns\":" #lease                   \
    ",\"lease_varies\":" #varies                                                                   \
    ",\"clients\":2,\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":9,\"faults\":[" faults  \
    "],\"recovery\":{\"crash\":{\"count\":1,\"p50_ns\":" #crash ",\"max_ns\":" #crash              \
    "}},\"exclusion\":{\"verdict\":\"clean\",\"grants\":9,\"expired_holders\":" #expired "}}"

static char *text_of(const struct report *report) {
    struct doc doc = {0};
    run_leases(report, &doc);
    return written(&doc, DOC_TERMINAL);
}

/* Shortest first, whatever the run's order; each lease is a load of its own. */
TEST(each_lease_has_its_row) {
    struct report *report = report_of(
        STAGE("long", 5000000000, true, 0, 4900000000, PAUSE(true)) "," STAGE(
            "long", 500000000, true, 7, 450000000, PAUSE(true) "," PAUSE(false) "," PAUSE(true)),
        "");
    assert_int_equal(report->group_count, 2);
    char *text = text_of(report);
    const char *brief = strstr(text, "450 ms"), *lasting = strstr(text, "4.90 s");
    if (!brief || !lasting || brief > lasting) fail_msg("%s", text);
    static const char row[] =
        "long        2  500 ms     450 ms     450 ms        1      –       2        7";
    if (!strstr(text, row)) fail_msg("no '%s' in:\n%s", row, text);
    free(text);
    report_free(report);
}

TEST(one_lease_is_no_section) {
    struct report *report = report_of(STAGE("a", 500000000, false, 0, 450000000, PAUSE(true)), "");
    struct doc doc = {0};
    run_leases(report, &doc);
    assert_null(doc.root);
    doc_free(&doc);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
