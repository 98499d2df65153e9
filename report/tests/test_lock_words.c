/* test_lock_words: what the verdict says about one lock is true of what was seen of it. */
#include "report/tests/report_help.h"

static void expect_said(const struct report *report, const char *words, bool said) {
    char *text = one_line(render(report, REPORT_MD, false));
    if ((strstr(text, words) != NULL) != said) fail_msg("'%s': %s", words, text);
    free(text);
}

#define CAUGHT(verdict, seen)                                                                      \
    "{\"lock\":\"u\",\"clients\":2,\"control\":true,\"exclusion\":{\"verdict\":\"" verdict         \
    "\",\"grants\":48092" seen "}}"

/* The zeros of the other checks are no evidence that it was caught. */
TEST(a_control_is_caught_by_what_was_seen) {
    struct report *report =
        report_of(CAUGHT("stuck", ",\"lost_updates\":0,\"double_holders\":0,\"stuck\":13"), "");
    expect_said(report, "as it must be: 13 keys that nobody gets any more in 48,092 grants.", true);
    expect_said(report, "0 lost updates", false);
    report_free(report);
    report = report_of(CAUGHT("expired", ",\"lost_updates\":0,\"expired_holders\":2"), "");
    expect_said(report, "as it must be: 2 holders past the lease's end in 48,092 grants.", true);
    report_free(report);
    report = report_of(CAUGHT("violated", ",\"lost_updates\":0,\"double_holders\":4"), "");
    expect_said(report, "as it must be: 4 second holders in 48,092 grants.", true);
    report_free(report);
}

/* Each finding is the first sentence, with the cause that is known. */
TEST(the_first_sentence_names_what_was_found) {
    static const struct {
        const char *verdict, *seen, *says;
    } cases[] = {
        {"starved", ",\"starved\":1", "a left clients waiting for the whole window"},
        {"starved", ",\"held_elsewhere\":1", "a was held by somebody else"},
        {"stuck", ",\"stuck\":1", "a left keys that are free"},
        {"violated", ",\"revoked\":3", "a lost grants while their lease and session lasted"},
        {"expired", ",\"ended\":3", "a lost grants because the server ended the sessions"},
        {"expired", ",\"expired_holders\":3", "a admitted clients while an earlier holder still"},
        {"violated", ",\"double_holders\":3", "a admitted two clients at once"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char stage[300];
        snprintf(stage, sizeof stage,
                 "{\"lock\":\"a\",\"clients\":2,\"arrival\":\"closed\",\"grants\":9,"
                 "\"exclusion\":{\"verdict\":\"%s\",\"grants\":9,\"tested\":9%s}}",
                 cases[i].verdict, cases[i].seen);
        struct report *report = report_of(stage, "");
        char *text = one_line(render(report, REPORT_TABLE, false));
        if (strncmp(text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("'%s': %s", cases[i].says, text);
        free(text);
        report_free(report);
    }
}

/* The window's grants were those of requests from before it: the table has a rate for them. */
TEST(an_overloaded_lock_granted_only_older_requests) {
    struct report *report =
        report_of("{\"lock\":\"a\",\"clients\":64,\"arrival\":\"poisson:3000/s\",\"grants\":0,"
                  "\"throughput_per_s\":1091,\"arrivals\":{\"due\":6063,\"missed\":6063},"
                  "\"exclusion\":{\"verdict\":\"unchecked\",\"grants\":4510,\"tested\":3609}}",
                  "");
    expect_said(report, "Not checked: no request of the measured window was granted", true);
    expect_said(report, "(4,510 grants went to requests from before or after it)", true);
    expect_said(report, "6,063 of its 6,063 requests could not be started in it", true);
    report_free(report);
}

/* Its times grow with the length of the run: a reader must know before any figure. */
#define OPEN(lock, due, missed)                                                                    \
    "{\"lock\":\"" lock                                                                            \
    "\",\"clients\":64,\"arrival\":\"poisson:600/s\",\"throughput_per_s\":279,"                    \
    "\"arrivals\":{\"due\":" #due ",\"missed\":" #missed "},"                                      \
    "\"exclusion\":{\"verdict\":\"clean\",\"grants\":1797,\"tested\":1794}}"

TEST(a_rate_that_no_lock_carries_is_told_first) {
    struct report *report = report_of(OPEN("a", 3701, 2034) "," OPEN("b", 3701, 20), "");
    expect_said(
        report,
        "In 1 stage requests came faster than the lock took them (a: 2,034 of 3,701 not started)",
        true);
    report_free(report);
    report = report_of(OPEN("b", 3701, 20), "");
    expect_said(report, "requests came faster", false);
    report_free(report);
}

static struct run *run_with(int clients) {
    struct lb_err err = {0};
    char text[200];
    snprintf(
        text, sizeof text,
        "{\"schema\":\"lockbench.run/2\",\"plan\":{\"load\":{\"clients\":[%d]}},\"stages\":[{\"lock\":\"a\",\"clients\":2}]}",
        clients);
    struct run *run = run_parse(text, strlen(text), "run.json", &err);
    assert_string_equal(err.text, "");
    return run;
}

/* What distinguishes repeats is not the lock. */
TEST(runs_of_one_plan_are_told) {
    static const struct {
        int clients[4];
        const char *said;
    } cases[] = {{{1, 2, 3, 4}, NULL},
                 {{1, 2, 2, 2}, "3 runs have the same plan, that of run B."},
                 {{1, 2, 1, 2}, "2 runs have the same plan, that of run A."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct run **runs = calloc(4, sizeof *runs);
        for (int r = 0; r < 4; r++) runs[r] = run_with(cases[i].clients[r]);
        struct report *report = report_make(runs, 4, &err);
        assert_non_null(report);
        expect_said(report, cases[i].said ? cases[i].said : "have the same plan",
                    cases[i].said != NULL);
        report_free(report);
    }
}

/* A run of two locks, of which the second is faster; every repeat is a little faster than the one before. */
static struct run *ranked_run(int plan, int repeat) {
    struct lb_err err = {0};
    char text[700];
    snprintf(
        text, sizeof text,
        "{\"schema\":\"lockbench.run/2\",\"plan\":{\"seed\":%d},\"stages\":["
        "{\"lock\":\"slow\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":%d,"
        "\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}},"
        "{\"lock\":\"fast\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":%d,"
        "\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":900}}]}",
        plan, 100 + 50 * repeat, 1000 + 500 * repeat);
    struct run *run = run_parse(text, strlen(text), "run.json", &err);
    assert_string_equal(err.text, "");
    return run;
}

/* The best of several repeats of one lock is the luckiest one. */
TEST(runs_of_one_plan_are_not_ranked) {
    for (int same = 0; same < 2; same++) {
        struct lb_err err = {0};
        struct run **runs = calloc(2, sizeof *runs);
        for (int r = 0; r < 2; r++) runs[r] = ranked_run(same ? 1 : r, r);
        struct report *report = report_make(runs, 2, &err);
        assert_non_null(report);
        char *table = one_line(render(report, REPORT_FULL, false)),
             *page = render(report, REPORT_HTML, false), *md = render(report, REPORT_MD, false);
        assert_int_equal(strstr(table, "Which?") == NULL, same);
        assert_int_equal(strstr(page, "aria-label=\"Which lock\"") == NULL, same);
        assert_int_equal(strstr(md, "so no lock is ranked here") != NULL, same);
        free(table);
        free(page);
        free(md);
        report_free(report);
    }
}

TEST_MAIN(NULL, NULL)
