/* test_model: verdicts, medians, sums and winners, on runs whose answers are known. */

#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/run/run_doc.h"
#include "report/tests/report_help.h"

#define STAGE(lock, clients, verdict, grants, more)                                                \
    "{\"lock\":\"" lock "\",\"clients\":" #clients                                                 \
    ",\"keys\":1,\"arrival\":\"closed\",\"exclusion\":{\"verdict\":\"" verdict                     \
    "\",\"grants\":" #grants "}" more "}"
#define CONTROL ",\"control\":true"
#define BASELINE ",\"baseline\":true"

static enum lock_state state_of(const char *stages) {
    struct report *report = report_of(stages, "");
    enum lock_state state = report->locks[0].state;
    report_free(report);
    return state;
}

TEST(test_states) {
    assert_int_equal(state_of(STAGE("a", 2, "clean", 9, "")), LOCK_CLEAN);
    assert_int_equal(state_of(STAGE("a", 1, "clean", 9, "")), LOCK_ALONE);
    assert_int_equal(
        state_of(
            "{\"lock\":\"a\",\"clients\":9,\"keys\":\"own\",\"exclusion\":{\"verdict\":\"clean\","
            "\"grants\":9}}"),
        LOCK_ALONE);
    assert_int_equal(state_of(STAGE("a", 9, "clean", 9, ",\"key_distribution\":\"own\"")),
                     LOCK_ALONE);
    assert_int_equal(state_of(STAGE("a", 2, "clean", 0, "")), LOCK_UNCHECKED);
    assert_int_equal(state_of("{\"lock\":\"a\",\"clients\":2}"), LOCK_UNCHECKED);
    assert_int_equal(state_of(STAGE("a", 2, "violated", 9, "")), LOCK_VIOLATED);
    assert_int_equal(state_of(STAGE("a", 2, "expired", 9, "")), LOCK_EXPIRED);
    assert_int_equal(state_of(STAGE("a", 2, "violated", 9, CONTROL)), LOCK_CAUGHT);
    assert_int_equal(state_of(STAGE("a", 2, "clean", 9, CONTROL)), LOCK_MISSED);
    assert_int_equal(state_of(STAGE("a", 1, "clean", 9, CONTROL)), LOCK_ALONE);
    assert_int_equal(state_of(STAGE("a", 2, "baseline", 9, BASELINE)), LOCK_BASELINE);
    /* The worst stage decides, whatever the order; but one catch is enough for a control. */
    assert_int_equal(state_of(STAGE("a", 2, "violated", 9, "") "," STAGE("a", 4, "clean", 9, "")),
                     LOCK_VIOLATED);
    assert_int_equal(state_of(STAGE("a", 2, "clean", 9, "") "," STAGE("a", 4, "expired", 9, "")),
                     LOCK_EXPIRED);
    assert_int_equal(
        state_of(STAGE("a", 2, "clean", 9, CONTROL) "," STAGE("a", 4, "violated", 9, CONTROL)),
        LOCK_CAUGHT);
    assert_int_equal(
        state_of(STAGE("a", 4, "violated", 9, CONTROL) "," STAGE("a", 2, "clean", 9, CONTROL)),
        LOCK_CAUGHT);
}

/* A control in the workload that is meant to expose it must show the expected mistake, or a worse
 * one. */
TEST(test_controls_elsewhere) {
    static const struct {
        const char *verdict, *counts, *expected;
        enum lock_state state;
    } cases[] = {
        {"violated", "\"stuck\":0", "violated", LOCK_CAUGHT},
        {"violated", "\"stuck\":0", "expired", LOCK_CAUGHT},
        {"violated", "\"stuck\":0", "stuck", LOCK_CAUGHT},
        {"expired", "\"expired_holders\":3", "violated", LOCK_MISSED},
        {"expired", "\"expired_holders\":3", "expired", LOCK_CAUGHT},
        {"expired", "\"expired_holders\":3", "stuck", LOCK_MISSED},
        {"stuck", "\"stuck\":2", "stuck", LOCK_CAUGHT},
        {"stuck", "\"stuck\":2", "expired", LOCK_MISSED},
        {"clean", "\"stuck\":0", "expired", LOCK_MISSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char stage[400];
        snprintf(stage, sizeof stage,
                 "{\"lock\":\"u\",\"clients\":8,\"keys\":1,\"control\":true,\"workload\":\"late\","
                 "\"expected\":\"%s\",\"exclusion\":{\"verdict\":\"%s\",\"grants\":9,%s}}",
                 cases[i].expected, cases[i].verdict, cases[i].counts);
        if (state_of(stage) != cases[i].state) fail_msg("%s", stage);
    }
    /* A control that the user named is judged by its findings; in a workload that is not made to
     * expose it, it may show nothing. */
    assert_int_equal(state_of(STAGE("u", 8, "clean", 9, CONTROL ",\"exposed_by\":\"late\"")),
                     LOCK_HIDDEN);
    assert_int_equal(state_of(STAGE("u", 8, "violated", 9, CONTROL ",\"exposed_by\":\"late\"")),
                     LOCK_CAUGHT);
    assert_int_equal(state_of(STAGE("u", 8, "stuck", 9, CONTROL)), LOCK_CAUGHT);
    assert_int_equal(state_of(STAGE("a", 8, "stuck", 9, "")), LOCK_STUCK);
}

/* A lock on two topologies is two rows and two verdicts; each mode (readers, permits, ...) is a
 * load of its own. */
TEST(test_topologies_and_modes_are_kept_apart) {
    struct report *report = report_of(
        STAGE("a", 2, "clean", 9, ",\"topology\":\"one\"") "," STAGE(
            "a", 2, "violated", 9, ",\"topology\":\"two\"") "," STAGE("b", 2, "clean", 9,
                                                                      ",\"topology\":\"one\""),
        "");
    assert_int_equal(report->lock_count, 3);
    assert_string_equal(report->locks[0].label, "a @one");
    assert_int_equal(report->locks[0].state, LOCK_CLEAN);
    assert_string_equal(report->locks[1].label, "a @two");
    assert_int_equal(report->locks[1].state, LOCK_VIOLATED);
    assert_string_equal(report->locks[2].label, "b");
    assert_int_equal(report->group_count, 1);
    assert_int_equal(report->groups[0].row_count, 3);
    report_free(report);
    report = report_of(STAGE("a", 2, "clean", 9, ",\"readers\":0") "," STAGE("a", 2, "clean", 9,
                                                                             ",\"readers\":50"),
                       "");
    assert_int_equal(report->group_count, 2);
    assert_non_null(strstr(report->groups[1].load, "50 % readers"));
    report_free(report);
}

/* The verdict as Markdown: its headline is bold, and a tone is a mark. */
static char *verdict_of(const struct report *report) {
    struct doc doc = {0};
    run_verdict(report, &doc);
    return written(&doc, DOC_MARKDOWN);
}

static void expect_words(const char *stages, const char *more, const char *headline,
                         enum tone tone) {
    struct report *report = report_of(stages, more);
    char *text = verdict_of(report), *line = strstr(text, "**"),
         *end = line ? strchr(line, '\n') : NULL;
    assert_non_null(end);
    *end = '\0';
    if (!strstr(line, headline)) fail_msg("\"%s\" lacks \"%s\"", line, headline);
    assert_int_equal(strncmp(line + 2, tone_mark(tone), strlen(tone_mark(tone))), 0);
    free(text);
    report_free(report);
}

TEST(test_headlines) {
    expect_words(STAGE("a", 2, "clean", 1000, "") "," STAGE("b", 2, "clean", 234, ""), "",
                 "Every lock excluded: 2 locks, no overlap in 1,234 grants", TONE_GOOD);
    expect_words(STAGE("a", 2, "clean", 9, ""), "", "a excluded, no overlap in 9 grants",
                 TONE_GOOD);
    /* "Every lock" is not said of locks that nobody tested. */
    expect_words(STAGE("a", 2, "clean", 9, "") "," STAGE("b", 2, "clean", 9, "") "," STAGE(
                     "c", 2, "unchecked", 0, "") "," STAGE("d", 1, "clean", 9, ""),
                 "",
                 "2 of the 4 locks excluded (untested: d) (unchecked: c), no overlap in 18 grants",
                 TONE_GOOD);
    expect_words(STAGE("a", 2, "clean", 9, "") "," STAGE("b", 2, "clean", 9, "") "," STAGE(
                     "sim\",\"backend\":\"sim", 1, "clean", 9, ""),
                 "", "Every lock excluded: 2 locks", TONE_GOOD);
    expect_words(STAGE("a", 2, "clean", 9, "") "," STAGE("b", 2, "violated", 9, ""), "",
                 "b admitted two clients at once", TONE_BAD);
    expect_words(STAGE("a", 2, "clean", 9, "") "," STAGE("u", 2, "clean", 9, CONTROL), "",
                 "u, broken on purpose, went unnoticed", TONE_BAD);
    expect_words(STAGE("a", 2, "expired", 9, ""), "", "a admitted clients while an earlier holder",
                 TONE_WARN);
    expect_words(STAGE("a", 2, "stuck", 9, ""), "", "a left keys", TONE_BAD);
    expect_words(
        "{\"lock\":\"a\",\"clients\":2,\"exclusion\":{\"verdict\":\"violated\",\"grants\":9,"
        "\"token_errors\":2}}",
        "", "a admitted one client at a time", TONE_BAD);
    expect_words(STAGE("a", 1, "clean", 9, ""), "",
                 "Not tested: no client of a lock for use had to wait", TONE_WARN);
    expect_words(STAGE("a", 2, "unchecked", 0, ""), "",
                 "Not checked: no request of the measured window was granted by a lock for use",
                 TONE_WARN);
    /* A control that was caught does not make the verdict bad. */
    expect_words(STAGE("a", 2, "clean", 9, "") "," STAGE("u", 2, "violated", 9, CONTROL), "",
                 "a excluded", TONE_GOOD);
}

/* The simulator excludes too, but it is no candidate, because people can't use it as a lock. */
TEST(test_the_simulator_is_no_candidate) {
    struct report *report = report_of(
        STAGE("s", 2, "clean", 900, ",\"backend\":\"sim\"") "," STAGE("a", 2, "clean", 9, ""), "");
    assert_false(report->groups[0].rows[0].candidate);
    assert_true(report->groups[0].rows[1].candidate);
    report_free(report);
    expect_words(
        STAGE("s", 2, "clean", 900, ",\"backend\":\"sim\"") "," STAGE("a", 2, "clean", 9, ""), "",
        "a excluded, no overlap in 9 grants", TONE_GOOD);
}

#define ATOMIC(hold) ",\"atomic\":true,\"hold\":\"" hold "\""

/* A client of one statement keeps nobody out while it holds, so the statement would seem to be the
 * fastest lock. */
TEST(test_one_statement_ranks_beside_no_lock_that_holds) {
    struct report *report = report_of(STAGE("o", 2, "clean", 900, ATOMIC("1ms")) "," STAGE(
                                          "a", 2, "clean", 9, ",\"hold\":\"1ms\""),
                                      "");
    assert_false(report->groups[0].rows[0].candidate);
    assert_true(report->groups[0].rows[1].candidate);
    report_free(report);
    report = report_of(
        STAGE("o", 2, "clean", 900, ATOMIC("0")) "," STAGE("a", 2, "clean", 9, ",\"hold\":\"0\""),
        "");
    assert_true(report->groups[0].rows[0].candidate);
    report_free(report);
}

#define LIMITED ",\"limited_by\":\"generator\",\"warnings\":[\"other\"]"

TEST(test_limited_stages_are_named) {
    struct report *report =
        report_of(STAGE("a", 2, "clean", 9, LIMITED) "," STAGE("b", 2, "clean", 9, "") "," STAGE(
                      "n", 2, "baseline", 9, BASELINE LIMITED),
                  "");
    char *text = verdict_of(report);
    assert_non_null(strstr(text, "In 1 of the 2 rows"));
    /* Its driver may block the thread, or the clients be too many. */
    assert_null(strstr(text, "less busy machine"));
    assert_non_null(strstr(text, "so long waits are partly theirs"));
    free(text);
    assert_true(report->groups[0].rows[0].limited);
    assert_false(report->groups[0].rows[1].limited);
    report_free(report);
}

TEST(test_partial_comes_first) {
    static const char partial[] = "Incomplete: x y (1 of 1 stages).";
    for (int violated = 0; violated < 2; violated++) {
        struct report *report =
            violated ? report_of(STAGE("a", 2, "violated", 9, ",\"status\":\"partial\""),
                                 ",\"partial_reason\":\"x y\"")
                     : report_of(STAGE("a", 2, "clean", 9, ",\"status\":\"partial\""),
                                 ",\"partial_reason\":\"x y\"");
        char *text = verdict_of(report), *first = strstr(text, partial), *head = strstr(text, "**");
        assert_true(report->partial);
        /* But a violation is one, whatever is missing. */
        assert_true(first && head && (head < first) == violated);
        if (violated) assert_non_null(strstr(head, "a admitted two clients"));
        free(text);
        report_free(report);
    }
}

/* A lock whose turn did not come is in the plan only. One that was left out has a reason of its
 * own. */
TEST(test_locks_that_were_not_reached_are_named) {
    static const char more[] = ",\"partial\":true,\"partial_reason\":\"interrupted\","
                               "\"plan\":{\"locks\":[\"a\",\"b\",\"c\",7,\"d\",\"e\"]},"
                               "\"skipped\":[{\"lock\":\"d\",\"reason\":\"no server\"}]";
    static const struct {
        enum report_format format;
        const char *said[3];
    } formats[] = {
        {REPORT_FULL,
         {"Not reached: c and e.", "2 of the 2 locks that ran excluded,", "2 of 4 locks"}},
        {REPORT_MD,
         {"Not reached: c and e.", "2 of the 2 locks that ran excluded,", "2 of 4 locks"}},
        {REPORT_HTML,
         {"Not reached: c and e.", "2 of the 2 locks that ran excluded,", "2 of 4 locks"}},
        {REPORT_JSON, {"Not reached: c and e.", "\"not_reached\": [", "2 of 4 locks"}},
    };
    struct report *report =
        report_of(STAGE("a", 2, "clean", 9, "") "," STAGE("b", 2, "clean", 9, ""), more);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *text = one_line(render(report, formats[i].format, false));
        for (int j = 0; j < 3; j++) has(text, formats[i].said[j]);
        free(text);
    }
    report_free(report);
    expect_words(STAGE("a", 2, "clean", 9, "") "," STAGE("b", 2, "clean", 9, ""), more,
                 "2 of the 2 locks that ran excluded", TONE_WARN);
    /* One that ran is not the whole run either. */
    expect_words(STAGE("a", 2, "clean", 9, ""), ",\"plan\":{\"locks\":[\"a\",\"b\"]}", "a excluded",
                 TONE_WARN);
}

/* Two runs on servers of one's own differ in nothing else than where these are. */
TEST(test_servers_of_the_users_own_are_told_apart) {
    struct report *report = report_of(
        STAGE("a", 2, "clean", 9, ",\"backend\":\"redis\",\"topology\":\"url\""),
        ",\"servers\":[{\"backend\":\"redis\",\"topology\":\"url\",\"started_by\":\"url\","
        "\"url\":\"redis://me:***@staging:6379/2\",\"facts\":{\"version\":\"7.0.15\"}},"
        "{\"backend\":\"redis\",\"topology\":\"url\",\"started_by\":\"url\","
        "\"url\":\"redis://production\",\"facts\":{\"version\":\"7.0.15\"}}]");
    static const enum report_format formats[] = {REPORT_FULL, REPORT_MD, REPORT_HTML, REPORT_JSON};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *text = one_line(render(report, formats[i], false)), *to = text;
        /* Markdown escapes some of it. */
        for (const char *from = text; *from; from++)
            if (*from != '\\') *to++ = *from;
        *to = '\0';
        has(text,
            "redis 7.0.15 (yours: redis://me:***@staging:6379/2), redis 7.0.15 (yours: redis://production)");
        if (formats[i] != REPORT_JSON && strstr(text, "started by url")) fail_msg("%s", text);
        free(text);
    }
    report_free(report);
}

#define REPEAT(r, throughput, p50)                                                                 \
    STAGE("a", 4, "clean", 10,                                                                     \
          ",\"repeat\":" #r ",\"throughput_per_s\":" #throughput                                   \
          ",\"grants\":10,\"latency_ns\":{\"acquire\":{\"count\":10,\"hdr\":\"" HDR_10             \
          "\",\"p50\":" #p50 "}}")

TEST(test_repeats) {
    struct report *report =
        report_of(REPEAT(0, 300, 7) "," REPEAT(1, 100, 9) "," REPEAT(2, 200, null), "");
    assert_int_equal(report->group_count, 1);
    assert_int_equal(report->groups[0].row_count, 1);
    const struct report_row *row = &report->groups[0].rows[0];
    assert_int_equal(row->repeats, 3);
    assert_true(row->figures.throughput_per_s == 200);
    assert_true(row->figures.latency[METRIC_ACQUIRE].count ==
                30); /* percentiles of all waits together */
    assert_true(row->figures.grants == 30 && row->figures.checked_grants == 30);
    assert_true(row->figures.bound95 == 3.0 / 30);
    assert_true(row->typical->repeat == 2);
    assert_true(report->locks[0].competing == 30);
    report_free(report);
}

#define EXPOSED(lock, tested, inside)                                                              \
    "{\"lock\":\"" lock "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\","                      \
    "\"exclusion\":{\"verdict\":\"clean\",\"grants\":900,\"tested\":" #tested                      \
    ",\"inside_mean_ns\":" #inside "},\"latency_ns\":{\"ping\":{\"count\":200,\"hdr\":\"" HDR_200  \
    "\",\"p50\":90000}}}"

static void expect_said(const struct report *report, const char *words, bool said) {
    char *text = verdict_of(report);
    if ((strstr(text, words) != NULL) != said) fail_msg("'%s': %s", words, text);
    free(text);
}

/* The trials of a lock are the grants that had to wait for another holder. */
TEST(test_what_tests_exclusion) {
    struct report *report = report_of(EXPOSED("a", 600, 120000), "");
    assert_true(report->locks[0].competing == 600);
    assert_true(report->groups[0].rows[0].figures.bound95 == 3.0 / 600);
    assert_false(report_hardly_tested(&report->locks[0]));
    expect_said(report, "hardly tested", false);
    report_free(report);
    /* Nobody waited, so exclusion was not tested. Then three trials, which are too few for a
     * bound. */
    report = report_of(EXPOSED("a", 0, 120000), "");
    assert_int_equal(report->locks[0].state, LOCK_ALONE);
    expect_said(report, "Not tested", true);
    assert_true(isnan(report->groups[0].rows[0].figures.bound95));
    report_free(report);
    report = report_of(EXPOSED("a", 3, 120000), "");
    assert_true(isnan(report->groups[0].rows[0].figures.bound95));
    expect_said(report, "too few for a bound", true);
    report_free(report);
    /* Holders are gone before a second grant could arrive. */
    report = report_of(EXPOSED("a", 600, 300), "");
    assert_true(report_hardly_tested(&report->locks[0]));
    assert_true(isnan(report_bound(&report->locks[0])));
    assert_true(isnan(report->groups[0].rows[0].figures.bound95));
    expect_said(report, "Exclusion was hardly tested for 1 lock", true);
    expect_said(report, "95 %", false);
    report_free(report);
    /* Another lock's bound holds, and it alone is told. */
    report = report_of(EXPOSED("a", 600, 120000) "," EXPOSED("b", 30, 300), "");
    assert_true(report_bound(&report->locks[0]) == 3.0 / 600);
    expect_said(report, "Exclusion was hardly tested for 1 lock", true);
    expect_said(report, "Least tried: a, 600 such grants", true);
    report_free(report);
    /* The simulator is tested no better. */
    report =
        report_of(EXPOSED("a", 600, 120000) "," EXPOSED("sim\",\"backend\":\"sim", 600, 300), "");
    assert_true(report_hardly_tested(&report->locks[1]));
    assert_true(isnan(report_bound(&report->locks[1])));
    expect_said(report, "Exclusion was hardly tested for 1 lock", true);
    report_free(report);
}

/* Each state has one word, in tables, sentences and the page that explains them. */
TEST(test_each_state_has_one_word) {
    char *page = read_whole("report/READING.md"), row[64];
    assert_non_null(page);
    for (int word = LOCK_BASELINE; word <= LOCK_VIOLATED; word++) {
        snprintf(row, sizeof row, "\n  | `%s` | ", words_state((enum lock_state)word));
        has(page, row);
    }
    free(page);
    struct report *report =
        report_of(STAGE("a", 2, "clean", 9, "") "," STAGE("b", 2, "unchecked", 10,
                                                          "") "," STAGE("c", 1, "clean", 9, ""),
                  "");
    expect_said(report,
                "b: no request of the measured window was granted (10 grants "
                "went to requests from before or after it)",
                true);
    expect_said(report, "untested: c", true);
    expect_said(report, "nothing is known", false);
    report_free(report);
    /* One client alone takes nothing from that. */
    report = report_of(STAGE("a", 1, "clean", 9, "") "," STAGE("a", 4, "unchecked", 0, ""), "");
    assert_int_equal(report->locks[0].state, LOCK_UNCHECKED);
    expect_said(report, "a: no request of the measured window was granted", true);
    report_free(report);
}

TEST(test_loads_are_kept_apart) {
    struct report *report = report_of(
        "{\"lock\":\"a\",\"clients\":8},{\"lock\":\"a\",\"clients\":8,\"hold\":\"5ms\"},"
        "{\"lock\":\"a\",\"clients\":2},{\"lock\":\"b\",\"clients\":8},{\"lock\":\"b\",\"clients\":"
        "8,\"keys\":7}",
        "");
    static const struct { int clients, rows; } expected[] = {{2, 1}, {8, 2}, {8, 1}, {8, 1}};
    assert_int_equal(report->group_count, 4);
    for (int g = 0; g < 4; g++) {
        assert_int_equal((int)report->groups[g].clients, expected[g].clients);
        assert_int_equal(report->groups[g].row_count, expected[g].rows);
    }
    assert_int_equal(report->groups[0].load_index, report->groups[1].load_index);
    assert_int_not_equal(report->groups[1].load_index, report->groups[2].load_index);
    report_free(report);
}

/* One line names all locks that have the cause. Values in a stranger's file that are no texts are left out. */
TEST(a_known_cause_is_told_once_beside_its_locks) {
#define HOGS "Jain: known cause: few get most of it; the option poll_max changes it"
    struct report *report =
        report_of(STAGE("a", 8, "clean", 9, ",\"causes\":[\"" HOGS "\"]") "," STAGE(
                      "b", 8, "clean", 9,
                      "") "," STAGE("c", 8, "clean", 9,
                                    ",\"causes\":[7,null,\"handoff max: a tick\",\"" HOGS "\"]"),
                  "");
    static const enum report_format formats[] = {REPORT_FULL, REPORT_MD, REPORT_HTML};
    for (int i = 0; i < 3; i++) {
        char *text = render(report, formats[i], false), *said = strstr(text, "a, c: Jain: known");
        assert_non_null(said);
        assert_null(strstr(said + strlen("a, c: Jain"), "Jain: known cause"));
        assert_non_null(strstr(text, "c: handoff max: a tick"));
        free(text);
    }
    report_free(report);
}

/* A lock in the memory of a server whose tables are on disk: both are said. */
TEST(test_durability_of_the_lock_itself) {
    struct run_stage stage = {.topology = "postgres",
                              .durability = "write-ahead log, on disk before each commit",
                              .durability_note = "in the server's memory: nothing is written"};
    char *full = words_durability_full(&stage);
    assert_string_equal(
        full,
        "in the server's memory: nothing is written (the server: write-ahead log, on disk before "
        "each commit)");
    free(full);
}

/* The class is a field. No sentence beside it, and no topology, says anything of it. */
TEST(test_durability_class) {
    static const struct {
        const char *topology, *durability, *class;
        enum durability expect;
    } cases[] = {
        {"embedded", "nothing to lose", "none", DURABILITY_NONE},
        {"redis", "on disk before each answer", "memory", DURABILITY_MEMORY},
        {"nats", "reworded", "log", DURABILITY_LOG},
        {"url", "in memory", "disk", DURABILITY_DISK},
        {"redis", "in memory, nothing is written", NULL, DURABILITY_UNKNOWN},
        {"embedded", "none", NULL, DURABILITY_UNKNOWN},
        {"redis", "in memory", "no such class", DURABILITY_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_stage stage = {.topology = cases[i].topology,
                                  .durability = cases[i].durability,
                                  .durability_note = "kept in memory",
                                  .durability_class = cases[i].class};
        assert_int_equal(words_durability(&stage), cases[i].expect);
    }
}

TEST_MAIN(NULL, NULL)
