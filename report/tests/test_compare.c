/* test_compare: the figures of comparisons whose answers are known: of runs made from a seed with a spread of their
 * own. */
#define _GNU_SOURCE
#include "report/tests/compare_help.h"

/* Two samples of one distribution: called changed in at most 5 of 100 comparisons of eight
 * figures. */
TEST(nothing_changed_is_seldom_called_a_change) {
    const struct made made = {.lock = "a", .repeats = 10, .noise = 0.05};
    int alarms = 0;
    for (uint64_t trial = 0; trial < 300; trial++) {
        struct compare *compare = compare_of(&made, &made, trial);
        alarms += compare->counts[COMPARE_WORSE] + compare->counts[COMPARE_BETTER] > 0;
        compare_free(compare);
    }
    if (alarms > 15) fail_msg("%d false alarms in 300 comparisons", alarms);
}

TEST(five_per_cent_are_found_at_twenty_repeats) {
    const struct made base = {.lock = "a", .repeats = 20, .noise = 0.035};
    struct made new = base;
    new.faster = 0.95;
    int found = 0;
    for (uint64_t trial = 0; trial < 200; trial++) {
        struct compare *compare = compare_of(&base, &new, trial);
        found += compare->rows[0].figure[0].verdict == COMPARE_WORSE;
        compare_free(compare);
    }
    if (found < 180) fail_msg("found in %d of 200 comparisons", found);
}

TEST(direction_is_that_of_the_figure) {
    const struct made base = {.lock = "a", .repeats = 12, .noise = 0.01};
    struct made new = base;
    new.faster = 1.2;
    new.slower = 1.3;
    struct compare *compare = compare_of(&base, &new, 1);
    const struct compare_figure *figure = compare->rows[0].figure;
    assert_int_equal(figure[0].verdict, COMPARE_BETTER); /* more grants a second */
    assert_int_equal(figure[1].verdict, COMPARE_WORSE);  /* longer waits */
    assert_true(figure[0].low > 0.15 && figure[0].high < 0.25 && figure[0].shift > figure[0].low);
    assert_int_equal(figure_of(compare, "client_cpu_net")->verdict, COMPARE_SAME);
    assert_int_equal(figure_of(compare, "server_cpu_net")->verdict,
                     COMPARE_UNKNOWN); /* not measured */
    assert_int_equal(compare_exit(compare), 4);
    compare_free(compare);
}

TEST(one_run_is_too_little) {
    const struct made base = {.lock = "a", .repeats = 1, .noise = 0.01};
    struct made new = base;
    new.faster = 0.5;
    struct compare *compare = compare_of(&base, &new, 1);
    assert_int_equal(compare->rows[0].figure[0].verdict, COMPARE_INCONCLUSIVE);
    assert_int_equal(compare_exit(compare), 5);
    compare_free(compare);
}

/* A base that has no grant in two of three samples is no proof against a new sample without one. */
TEST(a_base_without_grants_makes_no_new_one_worse) {
    static const struct {
        const char *base;
        enum compare_verdict verdict;
    } cases[] = {{OTHER("a", "clean", 0) "," OTHER("a", "clean", 0) "," OTHER("a", "clean", 5),
                  COMPARE_INCONCLUSIVE},
                 {OTHER("a", "clean", 4) "," OTHER("a", "clean", 3) "," OTHER("a", "clean", 5),
                  COMPARE_WORSE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct made base = {.others = cases[i].base},
                          new = {.others = OTHER("a", "clean", 0)};
        struct compare *compare = compare_of(&base, &new, 1);
        assert_int_equal(figure_of(compare, "throughput")->verdict, cases[i].verdict);
        compare_free(compare);
    }
}

/* A figure that has nothing to compare says why. */
static void says(const struct made *base, const struct made *new, const char *figure,
                 const char *words) {
    struct compare *compare = compare_of(base, new, 1);
    assert_int_equal(figure_of(compare, figure)->verdict, COMPARE_INCONCLUSIVE);
    char *text = text_of(compare, COMPARE_MD);
    has(text, words);
    free(text);
    compare_free(compare);
}

TEST(a_figure_without_samples_says_why) {
    const struct made made = {.lock = "a", .repeats = 10, .noise = 0.01};
    struct made limited = made, failed = {.lock = "a"};
    limited.repeats = 6;
    limited.more = ",\"limited_by\":\"generator\"";
    failed.others = STAGE("a", "failed", "unchecked", "null", "");
    says(&limited, &limited, "throughput", "the load generator was the limit in the base");
    says(&made, &limited, "throughput", "the load generator was the limit in the new runs");
    says(&made, &failed, "throughput", "no sample in the new runs");
}

/* An open loop: requests wait from when they are due, and a request that is never granted waits for
 * ever. */
#define OPEN(p99, not_granted)                                                                     \
    ",\"response_ns\":{\"p50\":200000,\"p99\":" p99 "},\"not_granted\":" not_granted

static uint32_t choice_of(const char *name) {
    for (int m = 0; m < compare_metric_count(); m++) {
        if (strcmp(compare_metric(m)->compared, name) == 0) return choice_with(0, m);
    }
    fail_msg("nothing compared is called %s", name);
    return 0;
}

/* A gate on some figures: the others are shown, and neither their changes nor their noise count. */
TEST(figures_that_are_not_chosen_are_shown_only) {
    const struct made base = {.lock = "a", .repeats = 12, .noise = 0.02};
    struct made new = base;
    new.faster = 0.9;
    new.slower = 1.3;
    struct compare *all = compare_of(&base, &new, 1);
    struct compare_ask ask = {.metrics = choice_of("throughput")};
    struct compare *some = compare_with(&base, &new, 1, &ask);
    const struct compare_figure *waits = figure_of(some, "acquire_p50");
    assert_int_equal(compare_exit(some), 4);
    assert_int_equal(some->counts[COMPARE_WORSE], 1);
    assert_int_equal(some->counts[COMPARE_INCONCLUSIVE], 0);
    assert_int_equal(waits->verdict, COMPARE_UNJUDGED);
    assert_true(waits->shift > 0.2 && isnan(waits->p));
    /* The correction is over the chosen ones. */
    assert_true(figure_of(some, "throughput")->p < figure_of(all, "throughput")->p);
    char *text = text_of(some, COMPARE_MD);
    has(text, "judged (--metric): throughput; the other");
    has(text, "not judged");
    has(text, "over all judged figures");
    free(text);
    compare_free(some);
    compare_free(all);
    new.faster = 1;
    some = compare_with(&base, &new, 1, &ask);
    assert_int_equal(compare_exit(some), 0);
    compare_free(some);
    new.verdict = "violated"; /* whatever is chosen */
    some = compare_with(&base, &new, 1, &ask);
    assert_int_equal(compare_exit(some), 3);
    compare_free(some);
}

TEST(a_chosen_figure_that_was_not_measured_is_no_success) {
    const struct made made = {.lock = "a", .repeats = 10, .noise = 0.001};
    struct made open = made;
    open.more = OPEN("10000000", "0");
    struct compare_ask ask = {.metrics = choice_of("throughput") | choice_of("server_cpu_net")};
    struct compare *compare = compare_with(&made, &made, 1, &ask);
    assert_int_equal(compare_exit(compare), 5);
    char *text = text_of(compare, COMPARE_MD);
    has(text, "not measured in the base");
    free(text);
    compare_free(compare);
    /* Each of a pair is measured where the other one is not: in a closed loop, and in an open one. */
    ask.metrics = choice_of("acquire_p99") | choice_of("acquire_due_p99");
    compare = compare_with(&made, &made, 1, &ask);
    assert_int_equal(compare_exit(compare), 0);
    compare_free(compare);
    compare = compare_with(&open, &open, 1, &ask);
    assert_int_equal(compare_exit(compare), 0);
    compare_free(compare);
}

TEST(an_open_loop_is_compared_from_when_it_was_due) {
    const struct made base = {
        .lock = "a", .repeats = 10, .noise = 0.0001, .more = OPEN("10000000", "0")};
    struct made late = base, lost = base;
    late.more = OPEN("900000000", "0");
    lost.more = OPEN("\"never\"", "0.02");
    lost.slower = 0.5; /* of those that were granted */
    struct compare *compare = compare_of(&base, &late, 1);
    assert_int_equal(figure_of(compare, "acquire_p99")->verdict, COMPARE_UNKNOWN);
    assert_int_equal(figure_of(compare, "acquire_due_p99")->verdict, COMPARE_WORSE);
    assert_int_equal(compare_exit(compare), 4);
    compare_free(compare);
    compare = compare_of(&base, &lost, 1);
    const struct compare_figure *p99 = figure_of(compare, "acquire_due_p99");
    assert_int_equal(p99->verdict, COMPARE_WORSE);
    assert_true(p99->shift == INFINITY && p99->new.median == INFINITY);
    assert_int_equal(figure_of(compare, "not_granted")->verdict, COMPARE_WORSE);
    char *text = text_of(compare, COMPARE_TABLE);
    has(text, "10.0 ms   never   never [without limit, without limit] worse");
    free(text);
    text = text_of(compare, COMPARE_JSON);
    has(text, "\"never\"");
    free(text);
    compare_free(compare);
    compare = compare_of(&lost, &base, 1);
    assert_int_equal(figure_of(compare, "acquire_due_p99")->verdict, COMPARE_BETTER);
    compare_free(compare);
}

/* Of many locks the first screen has those that got worse, and says how many figures it lacks. */
TEST(many_locks_are_one_screen) {
    const struct made base = {.lock = "a", .repeats = 10, .noise = 0.01};
    struct made new = base;
    struct compare_row rows[28];
    struct compare *same = compare_of(&base, &new, 1);
    new.slower = 1.5;
    struct compare *worse = compare_of(&base, &new, 1), many = *same;
    for (int i = 0; i < 28; i++) rows[i] = i < 27 ? same->rows[0] : worse->rows[0];
    many.rows = rows;
    many.row_count = 28;
    char *text = text_of(&many, COMPARE_TABLE);
    int lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    assert_in_range(lines, 30, 40);
    has(text, "  worse  ");
    has(text, "Not shown (--full): ");
    free(text);
    text = text_as(&many, COMPARE_MD, false);
    assert_null(strstr(text, "Not shown"));
    free(text);
    /* What fails is named before all that is only worse; loads and servers that differ stand in the headings. */
    char other[] = "another load", there[] = "disk first";
    for (int i = 0; i < 28; i++) rows[i] = worse->rows[0];
    rows[27].state = LOCK_VIOLATED;
    rows[27].load = other;
    rows[1].guarantee = rows[1].new_guarantee = there;
    text = text_of(&many, COMPARE_TABLE);
    has(text, " samples)");
    *strstr(text, " samples)") = '\0'; /* the first heading ends there */
    has(text, ", another load");
    free(text);
    text = text_of(&many, COMPARE_TABLE);
    has(text, "disk first");
    free(text);
    compare_free(same);
    compare_free(worse);
}

/* Who gives up early waits little: the share that was not granted shows it. */
TEST(giving_up_is_a_figure_of_its_own) {
    const struct made base = {.lock = "a", .repeats = 10, .more = ",\"not_granted\":0.01"};
    struct made new = base;
    new.more = ",\"not_granted\":0.3";
    new.slower = 0.7;
    struct compare *compare = compare_of(&base, &new, 1);
    assert_int_equal(figure_of(compare, "acquire_p99")->verdict, COMPARE_BETTER);
    assert_int_equal(figure_of(compare, "not_granted")->verdict, COMPARE_WORSE);
    assert_int_equal(compare_exit(compare), 4);
    /* As in a report, it is per cent for people. */
    static const enum compare_format formats[] = {COMPARE_TABLE, COMPARE_MD};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *text = text_of(compare, formats[i]);
        has(text, "1.00 %");
        has(text, "30.0 %");
        free(text);
    }
    compare_free(compare);
}

/* A stage that is flagged as generator-limited is no sample: the output says so, and a figure without other samples is
 * inconclusive. */
/* A disturbance takes away what it disturbs: no cost, a median where more than 5 % of the window was lost, every tail. What
 * was measured is shown all the same. */
TEST(a_disturbance_takes_away_what_it_disturbs) {
#define STOOD(ns)                                                                                  \
    ",\"limited_by\":\"generator\",\"duration_s\":1,\"executor\":{\"stood_still_ns\":" #ns "}"
    static const struct {
        const char *more;
        enum compare_verdict rate;
    } cases[] = {
        {"", COMPARE_WORSE},
        {STOOD(40000000), COMPARE_WORSE},
        {STOOD(90000000), COMPARE_INCONCLUSIVE},
        {",\"limited_by\":\"generator\"", COMPARE_INCONCLUSIVE},
    };
    const struct made base = {.lock = "a", .repeats = 10, .noise = 0.01};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made new = base;
        new.faster = 0.8;
        new.slower = 1.5;
        new.more = cases[i].more;
        struct compare *compare = compare_of(&base, &new, 1);
        const struct compare_figure *tail = figure_of(compare, "acquire_p99");
        assert_int_equal(figure_of(compare, "throughput")->verdict, cases[i].rate);
        assert_int_equal(figure_of(compare, "commands")->verdict, COMPARE_SAME);
        assert_int_equal(tail->verdict, i == 0 ? COMPARE_WORSE : COMPARE_INCONCLUSIVE);
        assert_true(tail->new.median > 1.3 * tail->base.median);
        compare_free(compare);
    }
}

TEST(generator_limited_stages_are_not_judged) {
    const struct made base = {.lock = "a", .repeats = 10, .noise = 0.01};
    struct made new = base;
    new.faster = 0.8; /* by the load generator: no regression of the lock */
    new.more = ",\"limited_by\":\"generator\"";
    struct compare *compare = compare_of(&base, &new, 1);
    assert_int_equal(compare->counts[COMPARE_WORSE], 0);
    assert_int_equal(figure_of(compare, "throughput")->verdict, COMPARE_INCONCLUSIVE);
    assert_int_equal(compare_exit(compare), LB_EXIT_INCONCLUSIVE);
    assert_int_equal(compare->limited_count, 10);
    char *text = text_of(compare, COMPARE_TABLE);
    has(text, "10 of 20 stages were disturbed on the load generator's side");
    free(text);
    text = text_of(compare, COMPARE_JSON);
    has(text, "\"new_limited\": 10");
    free(text);
    compare_free(compare);
    compare = compare_of(&new, &new, 1); /* nothing is left at all */
    assert_int_equal(compare_exit(compare), LB_EXIT_INCONCLUSIVE);
    compare_free(compare);
}

TEST(two_holders_are_worse_than_any_figure) {
    static const struct {
        const char *verdict, *more, *says;
        int code;
    } cases[] = {
        {"violated", NULL, "Exclusion violated in the new runs", 3},
        {"violated", ",\"control\":true", "no regression shown", 0}, /* broken on purpose */
        {"violated\",\"token_errors\":3,\"another\":\"", NULL,
         "Fencing tokens wrong in the new runs", 3},
        {"starved", NULL, "Clients starved in the new runs", 4},
        {"stuck", NULL, "A lock stuck in the new runs", 4}};
    const struct made base = {.lock = "a", .repeats = 10, .noise = 0.01};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made new = base;
        new.verdict = cases[i].verdict;
        new.more = cases[i].more;
        struct compare *compare = compare_of(&base, &new, 1);
        char *text = text_of(compare, COMPARE_TABLE);
        has(text, cases[i].says);
        assert_int_equal(compare_exit(compare), cases[i].code);
        free(text);
        compare_free(compare);
    }
}

/* Ten stages of one run a side are other evidence than ten runs, and a partial run is less of it: each output says so,
 * before any figure. */
TEST(outputs_say_it) {
    const struct made base = {.lock = "a<b>", .repeats = 12, .noise = 0.01};
    struct made new = base;
    new.faster = 0.8;
    new.root = "\"partial\":true,";
    struct compare *compare = compare_of(&base, &new, 1);
    char *text = text_of(compare, COMPARE_TABLE);
    has(text, "worse. 1 figure worse");
    has(text, "1 of the runs is partial");
    const char *stages = strstr(text, "samples are the stages of one run a side");
    assert_non_null(stages);
    assert_true(stages < strstr(text, "grants/s"));
    lacks(text, "One run is one sample");
    free(text);
    text = text_of(compare, COMPARE_MD);
    has(text, "❌ worse");
    free(text);
    text = text_of(compare, COMPARE_JSON);
    has(text, "\"exit_code\": 4");
    has(text, "\"samples_of\": \"stages\"");
    has(text, "\"partial_runs\": 1");
    has(text, "\"min_effect\": 0.03,"); /* not 0.029999999999999999 */
    free(text);
    compare_free(compare);
}

/* ---- the command ---- */

/* Stores a run of the two locks a and b under a name in the test's folder. */
static void store_run(const char *name, const char *topology, double faster, uint64_t seed) {
    struct made made = {
        .lock = "a", .repeats = 12, .noise = 0.01, .faster = faster, .slower = 1 / faster};
    made.topology = topology;
    made.others = OTHER("b", "clean", 1100) "," OTHER("b", "clean", 1101);
    char *path = make_run(&made, seed), *to = path_of(name);
    assert_int_equal(rename(path, to), 0);
    free(path);
    free(to);
}

#define BOTH "$D/base.json -- $D/slow.json "

TEST(what_each_option_does) {
    static const struct {
        const char *words;
        int code;
        const char *says;
    } cases[] = {
        {"$D/base.json -- $D/like.json --lock a=a", LB_EXIT_OK, "no regression shown. 0 figures"},
        {BOTH, LB_EXIT_REGRESSION, "worse. 5 figures worse, 0 better, 2 without"},
        {BOTH "--min-effect 30 --lock a=a", LB_EXIT_OK, "0 figures worse, 0 better, 7 without"},
        {BOTH "--lock b=a", LB_EXIT_REGRESSION, "-- b -> a, 4 clients"},
        {BOTH "--metric throughput", LB_EXIT_REGRESSION, "worse. 1 figure worse, 0 better, 0 "},
        {"$D/base.json -- $D/other.json", LB_EXIT_REGRESSION,
         "differs: a: topology: redis, now redis-sentinel"},
        {BOTH "--json", LB_EXIT_REGRESSION, "\"schema\": \"lockbench.compare/2\""},
        {BOTH "--md", LB_EXIT_REGRESSION, "\n| grants/s | "},
    };
    store_run("base.json", "redis", 1, 1);
    store_run("like.json", "redis", 1, 2);
    store_run("slow.json", "redis", 0.85, 3);
    store_run("other.json", "redis-sentinel", 0.85, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run_lockbench("compare", cases[i].words);
        char *said = content_of(code == LB_EXIT_USAGE ? "err" : "out");
        if (code != cases[i].code)
            fail_msg("%s: exit code %d, not %d; %s", cases[i].words, code, cases[i].code, said);
        has(said, cases[i].says);
        free(said);
    }
}

/* Comparisons of every verdict, with a figure that is never reached, without an interval, and with
 * stages that are no samples. */
TEST(json_keeps_to_the_schema) {
    const struct made plain = {
        .lock = "a", .repeats = 10, .noise = 0.01, .more = OPEN("10000000", "0")};
    struct made noisy = plain, lost = plain, violated = plain, limited = plain, few = plain;
    noisy.noise = 3;
    lost.more = OPEN("\"never\"", "0.02");
    violated.verdict = "violated";
    violated.others = OTHER("b", "clean", 5);
    limited.more = ",\"limited_by\":\"generator\"";
    few.repeats = 2;
    const struct made *const sides[][2] = {
        {&plain, &plain},    {&noisy, &noisy},   {&plain, &lost}, {&lost, &plain},
        {&plain, &violated}, {&plain, &limited}, {&plain, &few}};
    enum { CASES = sizeof sides / sizeof *sides };
    const char *argv[4 + CASES] = {"node", "report/tests/validate.mjs",
                                   ".build/schema/compare.schema.json"};
    char paths[CASES][sizeof folder + 20];
    need_validator();
    for (int i = 0; i < CASES; i++) {
        struct compare *compare = compare_of(sides[i][0], sides[i][1], (uint64_t)i);
        char *text = text_of(compare, COMPARE_JSON);
        snprintf(paths[i], sizeof paths[i], "%s/schema%d", folder, i);
        FILE *out = fopen(paths[i], "w");
        assert_non_null(out);
        fputs(text, out);
        assert_int_equal(fclose(out), 0);
        argv[3 + i] = paths[i];
        free(text);
        compare_free(compare);
    }
    assert_int_equal(run_command(argv, NULL), 0);
}

TEST_MAIN(make_folder, remove_folder)
