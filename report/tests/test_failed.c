/* test_failed: what the verdict says of requests that got no answer they could use. */
#include "report/tests/report_help.h"

#define STAGE(lock, verdict, grants, more)                                                         \
    "{\"lock\":\"" lock "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"duration_s\":4,"     \
    "\"exclusion\":{\"verdict\":\"" verdict "\",\"grants\":" #grants "}" more "}"
#define OUTCOMES(all, ok, unknown, refused, broken)                                                \
    ",\"attempts\":" #all ",\"outcomes\":{\"ok\":" #ok                                             \
    ",\"busy\":0,\"timeout\":0,\"lost\":0,\"unknown\":" #unknown ",\"refused\":" #refused          \
    ",\"broken\":" #broken "}"
#define CLEAN STAGE("b", "clean", 5000, OUTCOMES(5000, 5000, 0, 0, 0))
#define ERROR ",\"error\":\"redis: NOPERM no permissions\""

static const enum report_format formats[] = {REPORT_FULL, REPORT_MD, REPORT_HTML, REPORT_JSON};

/* The first sentences of each format. */
static void expect_all(const char *stages, const char *part, bool said) {
    struct report *report = report_of(stages, "");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *text = one_line(render(report, formats[i], false));
        if ((strstr(text, part) != NULL) != said)
            fail_msg("format %zu: '%s' %s: %s", i, part, said ? "is missing" : "is said", text);
        free(text);
    }
    report_free(report);
}

TEST(a_lock_whose_requests_failed_says_so_and_why) {
    static const char refused[] = STAGE(
        "a", "unchecked", 0, OUTCOMES(272, 0, 0, 272, 0) ERROR ",\"limited_by\":\"generator\"");
    expect_all(refused, "a: 272 of 272 requests failed: redis: NOPERM no permissions.", true);
    /* A less busy machine would not help. */
    expect_all(refused, "rows of locks the load generator", false);
    struct report *report = report_of(refused, "");
    char *text = render(report, REPORT_MD, false);
    char *headline = strstr(text, "**");
    assert_non_null(headline);
    assert_non_null(strstr(strtok(headline, "\n"), "requests failed"));
    free(text);
    report_free(report);
}

/* It comes before what is good of other locks. */
TEST(failed_requests_come_before_clean_locks) {
    struct report *report =
        report_of(CLEAN "," STAGE("a", "clean", 100, OUTCOMES(300, 100, 20, 0, 180) ERROR), "");
    char *text = one_line(render(report, REPORT_FULL, false));
    char *failed = strstr(text, "a: 200 of 300 requests failed: redis"),
         *clean = strstr(text, "Every lock");
    if (!failed || !clean || failed > clean) fail_msg("%s", text);
    free(text);
    report_free(report);
}

/* A planned fault breaks requests: that is no finding, unless nothing was granted at all. */
TEST(requests_that_a_planned_fault_broke_are_no_headline) {
    expect_all(STAGE("a", "clean", 100, OUTCOMES(300, 100, 0, 0, 200) ",\"fault\":\"kill\""),
               "requests failed", false);
    expect_all(STAGE("a", "unchecked", 0, OUTCOMES(300, 0, 0, 0, 300) ",\"fault\":\"kill\""),
               "a: 300 of 300 requests failed", true);
    expect_all(CLEAN, "requests failed", false);
}

/* Grants that were lost are told also where nothing else went wrong. */
TEST(lost_grants_are_told) {
    expect_all(
        STAGE("a", "clean", 100,
              ",\"attempts\":100,\"outcomes\":{\"ok\":81,\"busy\":0,\"timeout\":0,\"lost\":19,"
              "\"unknown\":0,\"refused\":0,\"broken\":0}"),
        "a: 19 of its grants were lost.", true);
}

/* A control that is named is judged like any lock, whatever it showed. */
TEST(what_a_named_control_showed_is_told) {
    static const struct {
        const char *verdict, *stage, *says;
    } cases[] = {
        {"violated", STAGE("unsafe-a", "violated", 100, ",\"control\":true"),
         "unsafe-a admitted two clients at once, as a lock broken on purpose does."},
        {"expired", STAGE("unsafe-a", "expired", 100, ",\"control\":true"),
         "unsafe-a admitted clients after the end of a lease or session, as a lock"},
        {"stuck", STAGE("unsafe-a", "stuck", 100, ",\"control\":true"),
         "unsafe-a left keys that nobody gets any more, as a lock broken on purpose does."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char more[80];
        snprintf(more, sizeof more, ",\"verdict\":\"%s\"", cases[i].verdict);
        struct report *report = report_of(cases[i].stage, more);
        char *text = one_line(render(report, REPORT_TABLE, false));
        if (!strstr(text, cases[i].says)) fail_msg("%s: %s", cases[i].verdict, text);
        free(text);
        report_free(report);
    }
}

/* The sentence of the clean locks names them, where there is one. */
TEST(what_was_not_tested_is_named_beside_a_finding) {
    expect_all(
        STAGE("a", "violated", 100, ",\"double_holders\":1") "," STAGE("b", "untested", 100, ""),
        "Nothing is said of b: untested.", true);
}

#define SERIES(a, b, c, d)                                                                         \
    ",\"series\":[{\"t_s\":0,\"ok\":" #a ",\"draining\":false},{\"t_s\":1,\"ok\":" #b              \
    ",\"draining\":false},{\"t_s\":2,\"ok\":" #c ",\"draining\":false},{\"t_s\":3,\"ok\":" #d      \
    ",\"draining\":false},{\"t_s\":4,\"ok\":0,\"draining\":true}]"
#define LOST                                                                                       \
    ",\"attempts\":12345,\"outcomes\":{\"ok\":12046,\"busy\":0,\"timeout\":0,\"lost\":2,"          \
    "\"unknown\":0,\"refused\":0,\"broken\":297},\"not_granted\":0.15"

/* A server that was away for a while, which nobody had planned. */
TEST(an_outage_that_nobody_planned_is_told) {
    static const char away[] = STAGE("a", "clean", 12046, LOST ERROR SERIES(4000, 0, 4000, 4046));
    expect_all(
        away,
        "a: 297 of 12,345 requests failed: redis: NOPERM no permissions. 2 of its grants were "
        "lost. Nothing was granted for 1 whole second.",
        true);
    /* The time is also told where every request was answered in the end. */
    expect_all(STAGE("a", "clean", 900, OUTCOMES(900, 900, 0, 0, 0) SERIES(400, 0, 0, 500)),
               "a: Nothing was granted for 2 whole seconds.", true);
    /* With few grants a second, one without any is chance, or a long hold; and an end is no second. */
    expect_all(STAGE("a", "clean", 3, OUTCOMES(3, 3, 0, 0, 0) SERIES(1, 0, 1, 1)),
               "Nothing was granted", false);
    expect_all(STAGE("a", "clean", 1600, OUTCOMES(1600, 1600, 0, 0, 0) SERIES(400, 400, 400, 400)),
               "Nothing was granted", false);
    /* Where all clients hold for longer than a second, nobody asks. */
    expect_all(
        "{\"lock\":\"a\",\"clients\":64,\"keys\":64,\"duration_s\":4,\"exclusion\":{\"verdict\":\"untested\","
        "\"grants\":192,\"inside_mean_ns\":2001000000}" OUTCOMES(192, 192, 0, 0, 0)
            SERIES(64, 0, 64, 64) "}",
        "Nothing was granted", false);
    /* A planned fault makes both by design, and the recovery is reported elsewhere. */
    expect_all(
        STAGE("a", "clean", 12046, LOST ERROR SERIES(4000, 0, 4000, 4046) ",\"fault\":\"restart\""),
        "requests failed", false);
}

TEST(what_was_not_granted_is_per_cent) {
    struct report *report = report_of(STAGE("a", "clean", 12046, LOST), "");
    char *text = render(report, REPORT_MD, false), *table = strstr(text, "not granted (%)");
    if (!table || !strstr(table, "| 15.0 |")) fail_msg("%s", text);
    free(text);
    report_free(report);
}

TEST(a_percentile_without_an_end_is_explained) {
    struct report *report =
        report_of(STAGE("a", "clean", 12046,
                        LOST ",\"arrivals\":{\"due\":12345,\"started\":12345,\"missed\":0},"
                             "\"response_ns\":{\"p50\":5,\"p90\":5,\"p99\":\"never\"}"),
                  "");
    for (int i = 0; formats[i] != REPORT_JSON; i++) {
        char *text = one_line(render(report, formats[i], false));
        has(text, "never: more requests than this percentile leaves out were never granted");
        free(text);
    }
    report_free(report);
}

/* What the verdict shows in the page before a click. */
static char *summary_of(const struct report *report) {
    char *text = render(report, REPORT_HTML, false);
    char *from = strstr(text, "<details class=\"verdict"), *to = strstr(from, "</summary>");
    assert_non_null(to);
    char *summary = strndup(from, (size_t)(to - from));
    free(text);
    return summary;
}

/* A sentence that voids the others, or that tells of what is in no table, stays on the first
 * screen. */
TEST(what_voids_a_comparison_is_never_folded) {
    static const struct {
        const char *stages, *more, *said;
    } cases[] = {
        {CLEAN, ",\"plan\":{\"locks\":[\"b\",\"late\"]}", "Not reached: late."},
        {STAGE("b", "violated", 5000, "") "," STAGE("u", "clean", 9, ",\"control\":true"), "",
         "do not trust this run"},
        {STAGE("b", "violated", 5000, "") "," STAGE("a", "unchecked", 0,
                                                    OUTCOMES(272, 0, 0, 272, 0) ERROR),
         "", "requests failed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report *report = report_of(cases[i].stages, cases[i].more);
        char *summary = summary_of(report);
        has(summary, cases[i].said);
        free(summary);
        report_free(report);
    }
}

/* The run's warnings name the stage and its error already. */
TEST(an_error_stands_once_among_the_warnings) {
    static const char words[] = "could not start 4 threads";
    struct report *report = report_of(
        "{\"id\":\"000-a\",\"lock\":\"a\",\"clients\":4,\"status\":\"failed\",\"error\":\"could not start 4 threads\"}",
        ",\"warnings\":[\"000-a: could not start 4 threads\"]");
    char *text = render(report, REPORT_MD, false),
         *notes = strstr(text, "Warnings and failures (1)");
    if (!notes) fail_msg("%s", text);
    char *first = strstr(notes, words);
    assert_non_null(first);
    assert_null(strstr(first + 1, words));
    free(text);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
