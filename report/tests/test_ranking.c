/* test_ranking: which lock comes first of its class, which are level with it, and what is noted of it. */
#define _GNU_SOURCE
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/page/html_parts.h"
#include "report/run/ranking.h"
#include "report/tests/report_help.h"
#include "results/stats/tests/stats_help.h"

/* more: further members, each with a comma before it. */
#define STAGE(lock, class, verdict, rate, inside_ns, more)                                         \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"" class                      \
        "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":" #rate           \
        ",\"exclusion\":{\"verdict\":\"" verdict "\",\"grants\":900,\"tested\":900,"               \
        "\"inside_mean_ns\":" #inside_ns "}" more "}"
#define LOCK(lock, rate) STAGE(lock, "memory", "clean", rate, 100000, "")
#define REPEAT(lock, repeat, rate)                                                                 \
    STAGE(lock, "memory", "clean", rate, 100000, ",\"repeat\":" #repeat)

#define MOST 8

/* The first class of the deciding load. */
static int class_of(const struct report *report, struct ranked ranks[MOST]) {
    const struct report_group *group = ranking_group(report);
    assert_non_null(group);
    assert_true(group->row_count <= MOST);
    return ranking_class(group, ranking_next_class(group, -1), ranks);
}

static const char *name_of(const struct report *report, const struct ranked *rank) {
    return report->locks[ranking_group(report)->rows[rank->row].lock].name;
}

/* At 5,000 grants a second 200 us lie between two grants, of which 100 us are the hold. */
TEST(the_cost_is_the_round_without_the_hold) {
    struct report *report = report_of(LOCK("slow", 1000) "," LOCK("fast", 5000), "");
    struct ranked ranks[MOST];
    assert_int_equal(class_of(report, ranks), 2);
    assert_string_equal(name_of(report, &ranks[0]), "fast");
    assert_true(fabs(ranks[0].cost_ns - 100e3) < 1 && fabs(ranks[1].cost_ns - 900e3) < 1);
    assert_true(!ranks[1].level && isnan(ranks[1].low_ns));
    assert_true(fabs(ranking_share(ranking_group(report), 1) - 0.5) < 0.01);
    report_free(report);
}

/* Of several tables with the same number of clients the first screen has the one with the most locks. */
TEST(the_table_of_most_locks_decides) {
    struct report *report = report_of(
        STAGE("permits", "memory", "clean", 900, 100000,
              ",\"primitive\":\"semaphore\",\"permits\":1,\"bound\":4") "," LOCK("a",
                                                                                 900) "," LOCK("b",
                                                                                               800),
        "");
    assert_int_equal(ranking_group(report)->row_count, 2);
    report_free(report);
}

/* What granted nothing costs more than all others, and a repeat that measured nothing makes no interval. */
TEST(nothing_granted_is_no_small_cost) {
    struct report *report = report_of(LOCK("none", 0) "," LOCK("slow", 1000), "");
    struct ranked ranks[MOST];
    assert_int_equal(class_of(report, ranks), 2);
    assert_string_equal(name_of(report, &ranks[0]), "slow");
    assert_true(isinf(ranks[1].cost_ns));
    report_free(report);
    report = report_of(REPEAT("fast", 0, 9000) "," REPEAT("fast", 1, 9000) "," REPEAT(
                           "slow", 0, 1000) "," REPEAT("slow", 1, null) "," REPEAT("slow", 2, 1000),
                       "");
    assert_int_equal(class_of(report, ranks), 2);
    assert_true(ranks[1].low_ns > 800e3 && !ranks[1].level);
    report_free(report);
}

/* With several keys some are free for a while, and that is no cost of the lock. */
TEST(with_several_keys_the_median_wait_ranks) {
    struct report *report = report_of(
        "{\"lock\":\"a\",\"topology\":\"t\",\"durability_class\":\"memory\",\"clients\":16,\"keys\":"
        "4,\"arrival\":\"closed\",\"throughput_per_s\":900,\"exclusion\":{\"verdict\":\"clean\","
        "\"grants\":900,\"tested\":900,\"inside_mean_ns\":1000}}",
        "");
    assert_false(ranking_by_cost(ranking_group(report)));
    report_free(report);
}

/* A control, a lock that failed and one that was cut off have no rank; another durability is another class. */
TEST(only_locks_to_choose_are_ranked) {
    struct report *report = report_of(
        STAGE("broken", "memory", "violated", 9000, 100000, "") "," STAGE(
            "unsafe", "memory", "violated", 9000, 100000,
            ",\"control\":true") "," STAGE("cut", "memory", "clean", 8000, 100000,
                                           ",\"status\":\"partial\"") "," LOCK("a",
                                                                               5000) "," STAGE("disk",
                                                                                               "disk",
                                                                                               "clean",
                                                                                               90,
                                                                                               100000,
                                                                                               ""),
        "");
    struct ranked ranks[MOST];
    int count = class_of(report, ranks);
    assert_int_equal(count, 3);
    assert_string_equal(name_of(report, &ranks[0]), "a");
    assert_true(isnan(ranks[1].cost_ns) && isnan(ranks[2].cost_ns));
    assert_false(ranking_is_contest(ranks, count));
    char *text = one_line(render(report, REPORT_FULL, false));
    lacks(text, "Which?"); /* nobody was compared */
    free(text);
    report_free(report);
}

#define ROUND(lock, repeat, rate, more)                                                            \
    STAGE(lock, "memory", "clean", rate, 100000, ",\"repeat\":" #repeat more)
#define ROUNDS(lock, more, one, two, three, four, five, six)                                       \
    ROUND(lock, 1, one, more)                                                                      \
    "," ROUND(lock, 2, two, more) "," ROUND(lock, 3, three, more) "," ROUND(                       \
        lock, 4, four, more) "," ROUND(lock, 5, five, more) "," ROUND(lock, 6, six, more)

/* The machine becomes six times slower, and in each round b costs 30 % more than a: the intervals of the two overlap, that
 * of their ratio does not hold 1. a once more costs 10 % more or the same, which is no difference of locks. */
TEST(rounds_are_compared_one_by_one) {
    static const char stages[] =
        ROUNDS("a", "", 5000, 3333.3, 2500, 2000, 1666.7,
               1428.6) "," ROUNDS("b", "", 4347.8, 2777.8, 2040.8, 1612.9, 1333.3, 1136.4);
    static const char again[] =
        ROUNDS("a", ",\"again\":true", 5000, 3125, 2500, 1851.9, 1538.5, 1315.8);
    static const char warm[] = ROUND("a", 0, 1, ",\"aside\":\"warms\"");
    char *all = NULL;
    assert_true(asprintf(&all, "%s,%s,%s", warm, stages, again) > 0);
    struct report *paired = report_of(all, ",\"paired\":true"), *apart = report_of(stages, "");
    struct ranked ranks[MOST];
    assert_int_equal(class_of(apart, ranks), 2);
    assert_true(ranks[1].level);
    assert_true(isnan(ranking_resolution(ranking_group(apart))));
    assert_int_equal(class_of(paired, ranks), 2);
    assert_false(ranks[1].level);
    assert_true(fabs(ranks[0].cost_ns - 350e3) < 30e3); /* without the round that warms */
    assert_true(fabs(ranking_resolution(ranking_group(paired)) - 0.1) < 0.01);
    char *text = one_line(render(paired, REPORT_TABLE, false));
    has(text, "6 rounds over all locks; differences under 1");
    free(text);
    free(all);
    /* in one round b is the better one */
    assert_true(
        asprintf(&all, "%s,%s", stages, ROUND("b", 7, 2000, "") "," ROUND("a", 7, 1900, "")) > 0);
    struct report *once = report_of(all, ",\"paired\":true");
    assert_int_equal(class_of(once, ranks), 2);
    assert_true(ranks[1].level);
    free(all);
    report_free(paired);
    report_free(apart);
    report_free(once);
}

/* It costs 30 % more in each round, or half once. */
TEST(a_lock_that_differs_from_itself_proves_nothing) {
    static const char *const all[] = {
        ROUNDS("a", "", 5000, 3333.3, 2500, 2000, 1666.7, 1428.6) "," ROUNDS(
            "a", ",\"again\":true", 4347.8, 2777.8, 2040.8, 1612.9, 1333.3, 1136.4),
        ROUNDS("a", "", 5000, 3333.3, 2500, 2000, 1666.7, 1428.6) "," ROUNDS(
            "a", ",\"again\":true", 2000, 3333.3, 2500, 2000, 1666.7, 1428.6)};
    for (int i = 0; i < 2; i++) {
        struct report *report = report_of(all[i], ",\"paired\":true");
        char *text = one_line(render(report, REPORT_TABLE, false));
        has(text,
            i == 0
                ? "Unproven: within 6 rounds a lock that ran twice in each differed from itself: run"
                : "differed from itself by more than 100 %: run");
        free(text);
        report_free(report);
    }
}

/* One run can't show that 3 % are a difference; intervals of repeats that overlap can't either. */
TEST(who_is_level) {
    static const struct {
        const char *stages;
        bool level;
    } cases[] = {
        {LOCK("a", 5000) "," LOCK("b", 4850), true},
        {LOCK("a", 5000) "," LOCK("b", 4500), false},
        {REPEAT("a", 0, 4000) "," REPEAT("a", 1, 5000) "," REPEAT("a", 2, 5100) "," REPEAT(
             "b", 0, 3900) "," REPEAT("b", 1, 4200) "," REPEAT("b", 2, 4300),
         true},
        {REPEAT("a", 0, 4900) "," REPEAT("a", 1, 5000) "," REPEAT("a", 2, 5100) "," REPEAT(
             "b", 0, 3900) "," REPEAT("b", 1, 4200) "," REPEAT("b", 2, 4300),
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report *report = report_of(cases[i].stages, "");
        struct ranked ranks[MOST];
        assert_int_equal(class_of(report, ranks), 2);
        assert_string_equal(name_of(report, &ranks[0]), "a");
        assert_int_equal(ranks[1].level, cases[i].level);
        assert_int_equal(isnan(ranks[0].low_ns), i < 2);
        report_free(report);
    }
}

#define TRIED 400

/* How often of so many computed runs of seven rounds b, whose grants cost so many times what those of a cost, is said to be
 * level with a, or better. Each round has a speed of its own (sigma 0.3), each lock scatters by 3 % in it, and in one window
 * of ten another process takes half of the machine from one of the two. */
static double level_share(double times) {
    struct lb_rng rng;
    int level = 0;
    rng_seed(&rng, 7, 1);
    for (int run = 0; run < TRIED; run++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        for (int i = 0; i < 2 * 7; i++) {
            static double speed;
            if (i % 2 == 0) speed = around(&rng, 0.3);
            double cost_us = 100 * speed * (i % 2 ? times : 1) * around(&rng, 0.03);
            if (rng_below(&rng, 10) == 0) cost_us *= 2;
            fprintf(out, "%s" STAGE("%s", "memory", "clean", % .6g, 100000, ",\"repeat\":%d"),
                    i ? "," : "", i % 2 ? "b" : "a", 1e6 / (cost_us + 100), i / 2);
        }
        fclose(out);
        struct report *report = report_of(text, ",\"paired\":true");
        struct ranked ranks[MOST];
        assert_int_equal(class_of(report, ranks), 2);
        level += ranks[1].level || strcmp(name_of(report, &ranks[0]), "b") == 0;
        report_free(report);
        free(text);
    }
    return (double)level / TRIED;
}

/* A lock is not told from itself, though the machine changes all the time; one of 2.5 times the cost is. */
TEST(rounds_tell_locks_apart_and_nothing_else) {
    double itself = level_share(1), more = level_share(2.5);
    if (itself < 0.97 || more > 0.05)
        fail_msg("level in %.3f of the runs with itself, in %.3f at 2.5 times the cost", itself,
                 more);
}

/* A shorter mean by a few per cent is no reason to take a lock that one client keeps. */
TEST(of_level_locks_the_steadier_one_leads) {
    struct report *report = report_of(
        STAGE("a", "memory", "clean", 5000, 100000, ",\"fairness\":{\"jain\":0.4}") "," STAGE(
            "b", "memory", "clean", 4900, 100000,
            ",\"fairness\":{\"jain\":0.99}") "," STAGE("c", "memory", "clean", 4000, 100000,
                                                       ",\"fairness\":{\"jain\":1}"),
        "");
    struct ranked ranks[MOST];
    assert_int_equal(class_of(report, ranks), 3);
    assert_string_equal(name_of(report, &ranks[0]), "b");
    assert_string_equal(name_of(report, &ranks[1]), "a");
    assert_true(!ranks[0].level && ranks[1].level && !ranks[2].level);
    report_free(report);
}

/* In an open loop the rate is the schedule's: the median from due to held decides, and "never" comes last. */
TEST(without_a_queue_the_wait_decides) {
#define DUE(lock, p50)                                                                             \
    "{\"lock\":\"" lock "\",\"durability_class\":\"memory\",\"clients\":2,\"keys\":1,"             \
    "\"arrival\":\"poisson:9/s\",\"throughput_per_s\":9,\"response_ns\":{\"p50\":" p50             \
    "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900}}"
    struct report *report =
        report_of(DUE("late", "\"never\"") "," DUE("b", "9000") "," DUE("a", "2000"), "");
    struct ranked ranks[MOST];
    assert_int_equal(class_of(report, ranks), 3);
    assert_string_equal(name_of(report, &ranks[0]), "a");
    assert_string_equal(name_of(report, &ranks[2]), "late");
    assert_true(isinf(ranks[2].cost_ns) && !ranks[2].level);
    assert_string_equal(ranking_figure(ranking_group(report)), "from due p50");
    report_free(report);
}

/* The rank stays, and the note says what it costs. */
TEST(what_takes_away_from_the_first) {
#define UNFAIR ",\"fairness\":{\"jain\":0.26}"
#define WAITING ",\"client_time_ns\":{\"waiting\":3000000000}"
#define FAILED ",\"outcomes\":{\"ok\":900,\"refused\":3,\"broken\":0,\"unknown\":1}"
    static const struct {
        const char *stages, *said;
    } cases[] = {
        {STAGE("a", "memory", "clean", 9000, 100, UNFAIR),
         "a: one client got almost all grants (Jain 0.26)."},
        {STAGE("a", "memory", "clean", 9000, 100, ",\"fairness\":{\"jain\":0.5}"),
         "a: few clients got most of the grants (Jain 0.50)."},
        /* Of four grants to four clients chance alone makes an index of a half. */
        {STAGE("a", "memory", "clean", 9000, 100, ",\"grants\":4,\"fairness\":{\"jain\":0.5}"),
         NULL},
        {STAGE("a", "memory", "clean", 9000, 100, WAITING),
         "a: 100 % of its waiting is in no percentile."},
        {STAGE("a", "memory", "clean", 9000, 100, FAILED), "a: 4 requests failed."},
        /* Half of the clients are dead: that the others got the grants is not the lock's doing. */
        {STAGE("a", "memory", "clean", 9000, 100, UNFAIR ",\"fault\":\"server-kill+kill\""), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *stages = NULL;
        assert_true(asprintf(&stages, "%s,%s", cases[i].stages, LOCK("b", 500)) > 0);
        struct report *report = report_of(stages, "");
        char *text = one_line(render(report, REPORT_MD, false));
        if (cases[i].said) has(text, cases[i].said);
        if (!cases[i].said) lacks(text, "(Jain");
        free(text);
        if (cases[i].said) {
            text = render(report, REPORT_HTML, false);
            has(text, "<p class=\"lock\">a</p>");
            has(text, "<p class=\"warn\">But: ");
            free(text);
        }
        report_free(report);
        free(stages);
    }
}

/* A tenth of the waiting is missing: the p99 of what was recorded is a lower bound. */
TEST(a_p99_without_long_waits_is_a_lower_bound) {
#define TAIL(waiting)                                                                                     \
    STAGE(                                                                                                \
        "a", "memory", "clean", 9000, 100,                                                                \
        ",\"latency_ns\":{\"acquire\":{\"count\":5000,\"mean\":20000,\"p99\":5310000,\"hdr\":\"" HDR_5000 \
        "\"}},\"client_time_ns\":{\"waiting\":" #waiting "}")
    for (int missing = 0; missing < 2; missing++) {
        struct report *report = report_of(missing ? TAIL(120000000) : TAIL(105000000), "");
        char *text = one_line(render(report, REPORT_TABLE, false));
        missing ? has(text, "> 5.31 ms") : lacks(text, "> 5.31 ms");
        missing ? has(text, ">: at least") : lacks(text, ">: at least");
        has(text, "5.31 ms");
        free(text);
        text = render(report, REPORT_HTML, false); /* the tile */
        missing ? has(text, "<dd>&gt; 5.31 ms") : has(text, "<dd>5.31 ms");
        free(text);
        report_free(report);
        /* Against a whole p99 twice as long it wins only where it is whole itself. */
        struct ranked ranks[MOST];
        static const char longer[] = "," STAGE(
            "b", "memory", "clean", 9050, 100,
            ",\"latency_ns\":{\"acquire\":{\"count\":5000,\"mean\":20000,\"p99\":11000000,\"hdr\":\"" HDR_5000
            "\"}}");
        char *both = NULL;
        assert_true(asprintf(&both, "%s%s", missing ? TAIL(120000000) : TAIL(105000000), longer) >
                    0);
        report = report_of(both, "");
        assert_int_equal(class_of(report, ranks), 2);
        assert_string_equal(name_of(report, &ranks[0]), missing ? "b" : "a");
        text = one_line(render(report, REPORT_TABLE, false));
        missing ? lacks(text, "decides") : has(text, "a (p99 or fairness decides), level with b");
        free(text);
        free(both);
        report_free(report);
    }
}

/* Of two servers that do not tell how durable they are none is before the other. */
TEST(servers_that_tell_nothing_are_not_compared) {
#define UNTOLD(lock, backend, rate)                                                                \
    STAGE(lock, "", "clean", rate, 100, ",\"backend\":\"" backend "\"")
    struct report *report = report_of(
        UNTOLD("a", "redis", 900) "," UNTOLD("b", "etcd", 9000) "," UNTOLD("c", "redis", 500), "");
    struct ranked ranks[MOST];
    assert_int_equal(class_of(report, ranks), 2);
    assert_string_equal(name_of(report, &ranks[0]), "a");
    char *text = one_line(render(report, REPORT_FULL, false));
    has(text, "-- redis: not stated a");
    has(text, "-- etcd: not stated b");
    free(text);
    report_free(report);
    report = report_of(UNTOLD("a", "redis", 900) "," LOCK("b", 900), "");
    text = one_line(render(report, REPORT_TABLE, false));
    has(text, "--set redis.durability=memory");
    free(text);
    report_free(report);
}

/* What stands between lockbench and the server is told beside the row of a client program. */
TEST(a_program_is_told) {
    struct report *report = report_of(
        STAGE("exec", "memory", "clean", 9000, 100, ",\"backend\":\"exec\"") "," LOCK(
            "b", 500) "," STAGE("exec-null", "none", "clean", 31000, 0, ",\"baseline\":true"),
        "");
    char *text = one_line(render(report, REPORT_MD, false));
    has(text, "exec: a line protocol and two process switches in each call");
    free(text);
    /* on the screen the program without a lock stands beside it */
    text = one_line(render(report, REPORT_TABLE, false));
    has(text, "31,000");
    free(text);
    report_free(report);
}

/* Whatever their number, with a note each. */
TEST(locks_fit_on_one_screen) {
    static const struct { int locks, lines; } cases[] = {{2, 25}, {10, 40}, {14, 40}, {60, 40}};
    static const char *const classes[] = {"memory", "disk", "log", "none"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char *stages = NULL;
        size_t size;
        FILE *out = open_memstream(&stages, &size);
        assert_non_null(out);
        for (int i = 0; i < 2 * cases[c].locks; i++)
            fprintf(
                out,
                "%s{\"lock\":\"lock-%d\",\"topology\":\"t\",\"durability_class\":\"%s\",\"clients\":%d,"
                "\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":%d,\"fairness\":{\"jain\":0.3},"
                "\"warnings\":[\"w\"],\"limited_by\":\"generator\",\"exclusion\":{\"verdict\":\"clean\","
                "\"grants\":900,\"tested\":900,\"inside_mean_ns\":100000}}",
                i ? "," : "", i / 2, classes[i / 2 % 4], i % 2 ? 16 : 1, 100 + i);
        fclose(out);
        struct report *report = report_of(stages, ",\"paired\":true");
        char *text = render(report, REPORT_TABLE, false);
        assert_lines_fit(text);
        if (count_of(text, "\n") > cases[c].lines)
            fail_msg("%d locks: %d lines\n%s", cases[c].locks, count_of(text, "\n"), text);
        free(text);
        report_free(report);
        free(stages);
    }
}

/* Machines read the same ranking. */
TEST(the_ranking_is_in_json) {
    struct report *report = report_of(LOCK("slow", 1000) "," LOCK("fast", 5000), "");
    char *text = render(report, REPORT_JSON, false);
    json_t *root = json_loads(text, 0, NULL);
    const json_t *class = json_array_get(json_object_get(root, "ranking"), 0),
                 *first = json_array_get(json_object_get(class, "locks"), 0);
    assert_string_equal(json_string_value(json_object_get(class, "class")), "in memory");
    assert_string_equal(json_string_value(json_object_get(first, "lock")), "fast");
    assert_true(json_is_null(json_object_get(first, "low_ns")));
    json_decref(root);
    free(text);
    report_free(report);
}

/* A percentile without long waits, and a dash, have their reasons. */
TEST(what_is_missing_is_told) {
    static const struct {
        const char *stage, *said;
    } cases[] = {
        {STAGE("a", "memory", "clean", 900, 100, ",\"grants\":900,\"fairness\":{\"jain\":0.25}"),
         "one client got almost all grants: there were hardly any handoffs to another one"},
        {STAGE("a", "memory", "clean", 900, 100,
               WAITING ",\"latency_ns\":{\"acquire\":{\"count\":900,\"hdr\":\"" HDR_900
                       "\",\"mean\":10000,\"p50\":9000,\"p99\":15000}}"),
         "at least 99 % of the time that its clients waited"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report *report = report_of(cases[i].stage, "");
        char *text = one_line(render(report, REPORT_FULL, false));
        has(text, cases[i].said);
        free(text);
        report_free(report);
    }
}

TEST_MAIN(NULL, NULL)
