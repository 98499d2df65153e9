/* test_trend_gate: what shuts the gate of a history, and what does not: outliers, scatter, many series, changes that
 * were acknowledged. */
#define _GNU_SOURCE
#include "report/tests/trend_help.h"

/* A change that is older than the gate's runs does not fail the gate; neither does a change if no
 * gate is asked for. */
TEST(a_gate_sees_new_changes_only) {
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 8);
    assert_int_equal(trend_exit(view), LB_EXIT_OK);
    assert_int_equal(view->worse, 0);
    trend_view_free(view);
    view = look(trend, 0, 0);
    assert_int_equal(trend_exit(view), LB_EXIT_OK);
    assert_int_equal(view->series[0].figure[1].count, 0); /* only what was asked for */
    trend_view_free(view);
    trend_free(trend);
}

static struct trend *steps(double middle, double end, const char *verdict) {
    struct lines lines;
    struct lb_rng rng;
    rng_seed(&rng, 9, 1);
    lines_begin(&lines, HEADER);
    for (int day = 0; day < 36; day++) {
        double level = day < 12 ? 1000 : day < 24 ? middle : end;
        put_line(lines.out, day,
                 &(struct made){.rate = level * around(&rng, 0.01),
                                .verdict = day == 35 ? verdict : NULL});
    }
    struct trend *trend = lines_parse(&lines);
    return trend;
}

/* A lock that got stuck or starved its clients in the newest run shuts the gate, whatever its
 * figures; a violation gives exit code 3 without a gate, too. */
TEST(a_lock_that_failed_in_the_newest_run_shuts_the_gate) {
    const struct {
        const char *verdict, *said;
        int gated, asked;
    } cases[] = {
        {"clean", NULL, 0, 0},
        {"expired", NULL, 0, 0},
        {"STARVED", "CLIENTS STARVED in the newest run", LB_EXIT_REGRESSION, 0},
        {"STUCK", "A LOCK STUCK in the newest run", LB_EXIT_REGRESSION, 0},
        {"TOKENS", "FENCING TOKENS WRONG in the newest run", LB_EXIT_VIOLATED, LB_EXIT_VIOLATED},
        {"VIOLATED", "EXCLUSION VIOLATED in the newest run", LB_EXIT_VIOLATED, LB_EXIT_VIOLATED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trend *trend = steps(1000, 1000, cases[i].verdict);
        for (int gate = 0; gate <= 24; gate += 24) {
            struct trend_view *view = look(trend, -1, gate);
            int code = trend_exit(view), wanted = gate ? cases[i].gated : cases[i].asked;
            char *text = text_of(view, FORM_TABLE);
            if (code != wanted) fail_msg("%s, gate %d: exit code %d", cases[i].verdict, gate, code);
            if (cases[i].said) has(text, cases[i].said);
            free(text);
            trend_view_free(view);
        }
        trend_free(trend);
    }
}

/* A series that failed in its last run on an old machine, then 22 runs on a new one: news no more. It is
 * news while the new machine has few runs, and if both machines take turns. */
TEST(a_series_that_ended_is_no_news) {
    static const struct {
        const char *verdict;
        int then, every; /* runs on the new machine; one of so many is on the old one */
        int code;
    } cases[] = {{"VIOLATED", 22, 0, 0},
                 {"STUCK", 22, 0, 0},
                 {"VIOLATED", 5, 0, LB_EXIT_VIOLATED},
                 {"STUCK", 5, 0, LB_EXIT_REGRESSION},
                 {"VIOLATED", 22, 7, LB_EXIT_VIOLATED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines lines;
        lines_begin(&lines, HEADER);
        for (int day = 0; day < 2 + cases[i].then; day++) {
            bool old = day < 2 || (cases[i].every && day % cases[i].every == 0);
            put_line(lines.out, day,
                     &(struct made){.rate = 1000,
                                    .environment = old ? "old" : "new",
                                    .verdict = old && day > 0 ? cases[i].verdict : NULL});
        }
        struct trend *trend = lines_parse(&lines);
        struct trend_view *view = look(trend, -1, 5);
        if (trend_exit(view) != cases[i].code) fail_msg("case %zu: %d", i, trend_exit(view));
        char *table = text_of(view, FORM_TABLE);
        assert_int_equal(count_of(table, "ended: the newest"), cases[i].code == 0);
        assert_int_equal(count_of(table, "in the newest run of a series"), cases[i].code != 0);
        free(table);
        trend_view_free(view);
        trend_free(trend);
    }
}

/* Runs of one lock and load on an old kind of machine, then on a new one: nothing compares the two. The gate
 * says so as long as the new series began within its runs; the note stays until the old series has ended. */
TEST(a_gate_that_compares_nothing_says_so) {
    static const struct {
        int old, new, gate;
        bool back;            /* the newest run is on the old machine again */
        const char *topology; /* of the new runs */
        const char *verdict;  /* of the newest run */
        int code;
        const char *differs; /* NULL: there is no note */
    } cases[] = {
        {6, 6, 6, false, NULL, NULL, LB_EXIT_INCONCLUSIVE, "environment"},
        {6, 1, 3, false, NULL, NULL, LB_EXIT_INCONCLUSIVE, "environment"},
        {6, 6, 6, false, "cluster", NULL, LB_EXIT_INCONCLUSIVE, "topology, environment"},
        {6, 6, 6, false, NULL, "STUCK", LB_EXIT_REGRESSION, "environment"},
        {6, 6, 5, false, NULL, NULL, 0, "environment"},
        {6, 6, 0, false, NULL, NULL, 0, "environment"},
        {6, 11, 5, false, NULL, NULL, 0, NULL},
        {6, 5, 6, true, NULL, NULL, 0, NULL},
        {2, 6, 6, false, NULL, NULL, 0, NULL}, /* too few to have been compared with */
        {0, 3, 6, false, NULL, NULL, LB_EXIT_INCONCLUSIVE, NULL}, /* too few to judge */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines lines;
        int newest = cases[i].old + cases[i].new - !cases[i].back;
        lines_begin(&lines, HEADER);
        for (int day = 0; day <= newest; day++) {
            bool old = day < cases[i].old || (cases[i].back && day == newest);
            put_line(lines.out, day,
                     &(struct made){.rate = old ? 1000 : 500,
                                    .environment = old ? "e1" : "e2",
                                    .topology = old ? NULL : cases[i].topology,
                                    .verdict = day == newest ? cases[i].verdict : NULL});
            /* another load has a series of its own from the start, and is no part of this */
            put_line(lines.out, day,
                     &(struct made){.rate = 1, .environment = "e1", .load = "another"});
        }
        struct trend *trend = lines_parse(&lines);
        struct trend_view *view = look(trend, -1, cases[i].gate);
        char *table = text_of(view, FORM_MD), *json = text_of(view, FORM_JSON), differs[60];
        if (trend_exit(view) != cases[i].code) fail_msg("case %zu: %d", i, trend_exit(view));
        bool told = strstr(table, "nothing compares") != NULL;
        if (told != (cases[i].differs != NULL)) fail_msg("case %zu: %s", i, table);
        snprintf(differs, sizeof differs, "\"differs\": \"%s\"",
                 cases[i].differs ? cases[i].differs : "");
        assert_int_equal(count_of(json, differs), told);
        assert_int_equal(count_of(table, "1 series INCONCLUSIVE: it began within those runs"),
                         cases[i].gate > 0 && cases[i].new <= cases[i].gate &&told);
        free(table);
        free(json);
        trend_view_free(view);
        trend_free(trend);
    }
}

/* A gate that has nothing to judge yet is inconclusive, and says so; beside a series that it judges, a new one is only
 * named. */
TEST(too_few_runs_are_not_judged) {
    static const struct {
        int runs, others; /* of the lock; of another lock */
        int code;
        const char *said; /* NULL: nothing */
    } cases[] = {
        {1, 0, LB_EXIT_INCONCLUSIVE, "1 series NOT JUDGED: too few runs"},
        {5, 0, LB_EXIT_INCONCLUSIVE, "a change shows from 6 on; INCONCLUSIVE"},
        {5, 2, LB_EXIT_INCONCLUSIVE, "2 series NOT JUDGED: too few runs"},
        {5, 6, 0, "1 series NOT JUDGED: too few runs, and a change shows from 6 on"},
        {6, 0, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines lines;
        lines_begin(&lines, HEADER);
        for (int day = 0; day < 6; day++) {
            if (day < cases[i].runs) put_line(lines.out, day, &(struct made){.rate = 1000 + day});
            if (day < cases[i].others)
                put_line(lines.out, day, &(struct made){.rate = 900 + day, .lock = "zk-lock"});
        }
        struct trend *trend = lines_parse(&lines);
        struct trend_view *view = look(trend, -1, 3);
        char *table = text_of(view, FORM_MD), *json = text_of(view, FORM_JSON);
        if (trend_exit(view) != cases[i].code) fail_msg("case %zu: %d", i, trend_exit(view));
        if (cases[i].said) has(table, cases[i].said);
        assert_int_equal(count_of(table, "NOT JUDGED"), cases[i].said != NULL);
        assert_int_equal(count_of(json, "\"few\": true"), view->few);
        free(table);
        free(json);
        trend_view_free(view);
        view = look(trend, -1, 0);
        assert_int_equal(trend_exit(view), 0); /* no gate was asked for */
        trend_view_free(view);
        trend_free(trend);
    }
}

/* Two runs on a machine that was slow, between levels that differ by no more than their scatter: the p of the outliers
 * says nothing about these levels. */
TEST(levels_around_outliers_are_compared_with_each_other) {
    static const double after[] = {400, 402, 944, 948, 946};
    struct lines lines;
    lines_begin(&lines, COLUMNS "throughput\n");
    for (int day = 0; day < 25; day++) {
        put_day(lines.out, day);
        fprintf(lines.out, "%g\n", day < 20 ? 1000 + 50 * (day % 3 - 1) + day : after[day - 20]);
    }
    struct trend *trend = lines_parse(&lines);
    struct trend_view *view = look(trend, -1, 10);
    const struct trend_figure *figure = &view->series[0].figure[metric_of("throughput")];
    assert_int_equal(figure->change_count, 2);
    assert_true(figure->shift < -0.05);
    assert_true(figure->p > 0.05);
    assert_int_equal(trend_exit(view), 0);
    trend_view_free(view);
    trend_free(trend);
}

/* Twenty runs that scatter by 1 %, then these: one or two outliers shut no gate; three runs that
 * stay there are a level. */
TEST(outliers_shut_no_gate) {
    static const struct {
        double then[6]; /* as parts of the level; 0 ends the list */
        int changes;    /* at least so many change points are found */
        int code;
    } cases[] = {
        {{0.88}, 1, 0},
        {{0.88, 0.88}, 1, 0},
        {{0.88, 0.88, 0.88}, 1, 4},
        {{0.88, 1}, 0, 0},
        {{0.88, 1, 1}, 0, 0},
        {{0.88, 0.88, 1, 1}, 0, 0},
        {{0.88, 0.88, 0.88, 1}, 0, 4},
        {{1, 1, 1, 1, 0.88}, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines lines;
        struct lb_rng rng;
        rng_seed(&rng, 5, 1);
        lines_begin(&lines, HEADER);
        for (int day = 0; day < 20 || (day < 26 && cases[i].then[day - 20] > 0); day++) {
            double level = day < 20 ? 100 : 100 * cases[i].then[day - 20];
            put_line(lines.out, day, &(struct made){.rate = level * around(&rng, 0.01)});
        }
        struct trend *trend = lines_parse(&lines);
        struct trend_view *view = look(trend, 0, 10);
        int changes = view->series[0].figure[0].change_count;
        if (trend_exit(view) != cases[i].code || changes < cases[i].changes)
            fail_msg("case %zu: exit code %d, %d changes", i, trend_exit(view), changes);
        trend_view_free(view);
        trend_free(trend);
    }
}

/* So do outliers for the better: the runs after them are no slower than those before. */
TEST(good_outliers_shut_no_gate) {
    static const struct {
        double then[12]; /* as parts of the level; 0 ends the list */
        int code;
    } cases[] = {
        {{1.3, 1, 1, 1, 1, 1, 1}, 0},
        {{1.3, 1.3, 1, 1, 1, 1, 1}, 0},
        {{1.3, 1.3, 1.3, 1, 1, 1, 1}, 4},
        {{1, 1, 1, 1.3, 1, 1, 1, 1}, 0},
        {{1, 1, 1, 1, 1.3, 1.3, 0.8, 0.8, 0.8, 0.8}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines lines;
        struct lb_rng rng;
        rng_seed(&rng, 5, 1);
        lines_begin(&lines, HEADER);
        for (int day = 0; day < 12 && cases[i].then[day] > 0; day++)
            put_line(lines.out, day,
                     &(struct made){.rate = 100 * cases[i].then[day] * around(&rng, 0.001)});
        struct trend *trend = lines_parse(&lines);
        for (int gate = 4; gate <= 10;
             gate += 6) { /* with the change at the gate's begin, and within */
            struct trend_view *view = look(trend, 0, gate);
            if (trend_exit(view) != cases[i].code)
                fail_msg("case %zu, gate %d: exit code %d", i, gate, trend_exit(view));
            trend_view_free(view);
        }
        trend_free(trend);
    }
}

/* 60 runs, of which every sixth measures the figure; it doubles with run 30. */
static struct trend *seldom_measured(void) {
    struct lines lines;
    struct lb_rng rng;
    rng_seed(&rng, 3, 1);
    lines_begin(&lines, COLUMNS "throughput,handoff_p50\n");
    for (int day = 0; day < 60; day++) {
        put_day(lines.out, day);
        fprintf(lines.out, "%.6g,", 900 * around(&rng, 0.005));
        if (day % 6 == 0) fprintf(lines.out, "%.6g", 1e5 * around(&rng, 0.01) * (day < 30 ? 1 : 2));
        fputc('\n', lines.out);
    }
    struct trend *trend = lines_parse(&lines);
    return trend;
}

/* A gate and a median are of the newest runs, however many of those have the figure. */
TEST(a_gate_counts_runs_not_values) {
    static const struct { int gate, worse; } cases[] = {{6, 0}, {29, 0}, {30, 1}};
    struct trend *trend = seldom_measured();
    int metric = metric_of("handoff_p50");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trend_view *view = look(trend, -1, cases[i].gate);
        const struct trend_figure *figure = &view->series[0].figure[metric];
        assert_int_equal(figure->count, 10);
        assert_int_equal(figure->change_count, 1);
        if (view->worse != cases[i].worse)
            fail_msg("gate %d: %d figures are worse", cases[i].gate, view->worse);
        /* the last ten runs are 50 to 59, and only run 54 has it */
        assert_true(figure->median == figure->latest);
        trend_view_free(view);
    }
    /* The p of a gate is of the places in its runs: 30, 36, 42, 48 and 54. */
    struct trend_view *view = look(trend, metric, 30);
    const struct trend_figure *figure = &view->series[0].figure[metric];
    near(figure->p, 5 * figure->changes[0].p, 1e-12);
    trend_view_free(view);
    /* No run has it among the newest five: their median is not known. */
    struct lb_err err = {0};
    view =
        trend_look(trend, &(struct trend_ask){.metrics = choice_with(0, metric), .last = 5}, &err);
    assert_true(isnan(view->series[0].figure[metric].median));
    char *json = text_of(view, FORM_JSON), *table = text_of(view, FORM_TABLE);
    has(json, "\"median\": null");
    assert_null(strstr(table, "nan"));
    free(json);
    free(table);
    trend_view_free(view);
    trend_free(trend);
}

/* A figure that is not measured any more (a slow lock has too few values for p99) would leave a gate on it open. Where
 * no figure is chosen, the others are judged. */
TEST(a_gate_on_a_figure_that_is_gone_is_inconclusive) {
    static const struct {
        int has; /* of the newest five runs; the ten before have it */
        bool chosen;
        int code;
    } cases[] = {{0, true, LB_EXIT_INCONCLUSIVE},
                 {2, true, LB_EXIT_INCONCLUSIVE},
                 {3, true, LB_EXIT_OK},
                 {0, false, LB_EXIT_OK}};
    int metric = metric_of("acquire_p99");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines lines;
        lines_begin(&lines, COLUMNS "throughput,acquire_p99\n");
        for (int day = 0; day < 15; day++) {
            put_day(lines.out, day);
            fprintf(lines.out, "900,%s\n", day < 10 + cases[i].has ? "1000" : "");
        }
        struct trend *trend = lines_parse(&lines);
        struct trend_view *view = look(trend, cases[i].chosen ? metric : -1, 5);
        if (trend_exit(view) != cases[i].code)
            fail_msg("case %zu: exit code %d", i, trend_exit(view));
        char *table = text_of(view, FORM_MD);
        assert_int_equal(count_of(table, "1 series INCONCLUSIVE: fewer than 3 of those runs"),
                         cases[i].code == LB_EXIT_INCONCLUSIVE);
        free(table);
        trend_view_free(view);
        trend_free(trend);
    }
}

/* 100 histories of 40 runs that only scatter: eight figures each, and the gate shuts in at most
 * 5. */
TEST(scatter_shuts_no_gate) {
    int alarms = 0;
    for (uint64_t trial = 0; trial < 100; trial++) {
        struct lines lines;
        struct lb_rng rng;
        rng_seed(&rng, trial, 21);
        lines_begin(&lines, HEADER);
        for (int day = 0; day < 40; day++)
            put_line(lines.out, day, &(struct made){.rate = 1000 * around(&rng, 0.05)});
        struct trend *trend = lines_parse(&lines);
        struct trend_view *view = look(trend, -1, 10);
        alarms += trend_exit(view) != 0;
        trend_view_free(view);
        trend_free(trend);
    }
    if (alarms > 5) fail_msg("%d of 100", alarms);
}

static struct trend_view *look_with(struct trend *trend, const struct trend_acks *acks) {
    struct lb_err err = {0};
    const struct trend_ask ask = {.last = 10, .gate = 15, .min_effect = 0.03, .acks = acks};
    struct trend_view *view = trend_look(trend, &ask, &err);
    assert_string_equal(err.text, "");
    return view;
}

/* Four figures became worse at the run of commit c030. */
TEST(an_acknowledged_change_shuts_no_gate) {
    static const struct {
        const char *acks;
        int worse, known;
    } cases[] = {
        {"", 4, 0},
        {"# where lock figure why\n\nc030 redis-setnx * fsync is on now\n", 0, 4},
        {"2026-run-030\t* throughput  wanted\r\n", 3, 1},
        {"c031 * * a run later, since places move\n", 0, 4},
        {"c010 * * another change\n", 4, 0},
        {"c030 zk-lock * another lock\n", 4, 0},
        {"c030 * throughput a\nc030 * acquire_p50 b", 2, 2},
    };
    struct trend *trend = slower();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct trend_acks *acks = trend_acks_parse(strdup(cases[i].acks), "x.acks", &err);
        assert_string_equal(err.text, "");
        struct trend_view *view = look_with(trend, acks);
        if (view->worse != cases[i].worse || view->acknowledged != cases[i].known)
            fail_msg("case %zu: %d worse, %d acknowledged", i, view->worse, view->acknowledged);
        assert_int_equal(trend_exit(view), cases[i].worse ? LB_EXIT_REGRESSION : LB_EXIT_OK);
        if (i == 1) {
            char *text = text_of(view, FORM_TABLE);
            has(text,
                "0 figures WORSE by 3 % or more within the last 15 runs, 4 more\n  acknowledged");
            has(text, "acknowledged: fsync is on now");
            free(text);
        }
        trend_view_free(view);
        trend_acks_free(acks);
    }
    trend_free(trend);
}

TEST(wrong_acknowledgements_are_one_clear_line) {
    static const char *const cases[][2] = {
        {"c1 redis-setnx throughput\n", "x.acks:1: expected COMMIT-OR-RUN LOCK FIGURE and why"},
        {"# a\nc1 * speed because\n", "x.acks:2: no figure is called 'speed'"},
        {"c1 * * caf\xe9\n", "x.acks:1: 'caf?' is no UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        assert_null(trend_acks_parse(strdup(cases[i][0]), "x.acks", &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, cases[i][1]);
    }
}

/* 240 series that only scatter: the gate is about all of them together. */
static struct trend *many_series(uint64_t seed, int days) {
    struct lines lines;
    char lock[20];
    struct lb_rng rng;
    rng_seed(&rng, seed, 22);
    lines_begin(&lines, HEADER);
    for (int i = 0; i < 240; i++) {
        snprintf(lock, sizeof lock, "lock-%03d", i);
        for (int day = 0; day < days; day++)
            put_line(lines.out, day,
                     &(struct made){.rate = 1000 * around(&rng, 0.05), .lock = lock});
    }
    struct trend *trend = lines_parse(&lines);
    return trend;
}

TEST(a_gate_over_many_series_is_one_test) {
    int alarms = 0;
    for (uint64_t trial = 0; trial < 10; trial++) {
        struct trend *trend = many_series(trial, 25);
        struct trend_view *view = look(trend, 0, 10);
        assert_int_equal(view->count, 240);
        alarms += trend_exit(view) != 0;
        trend_view_free(view);
        trend_free(trend);
    }
    if (alarms > 1) fail_msg("%d of 10", alarms); /* a half on the average, at the most */
}

/* The promise of a gate says what it takes for granted. */
TEST(a_gate_promises_what_it_can_keep) {
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 15);
    char *text = text_of(view, FORM_MD);
    has(text, "at most 5 % if neither a lock nor the load of the machine has changed and the runs "
              "are independent");
    assert_null(strstr(text, "when nothing has changed"));
    free(text);
    trend_view_free(view);
    trend_free(trend);
}

/* A change that was undone is no regression, nor is a change for the better; a change that was
 * undone in part is one. */
TEST(what_counts_is_the_level_now) {
    static const struct {
        double middle, end;
        const char *verdict;
        int code;
    } cases[] = {{800, 1000, NULL, 0},  {1000, 1300, NULL, 0},       {700, 850, NULL, 4},
                 {1300, 1000, NULL, 0}, {1000, 1000, "VIOLATED", 3}, {700, 700, "VIOLATED", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trend *trend = steps(cases[i].middle, cases[i].end, cases[i].verdict);
        struct trend_view *view = look(trend, 0, 30);
        if (trend_exit(view) != cases[i].code) fail_msg("case %zu: %d", i, trend_exit(view));
        trend_view_free(view);
        view = look(trend, 0, 0); /* without a gate a violation still gives exit code 3 */
        assert_int_equal(trend_exit(view), cases[i].verdict ? LB_EXIT_VIOLATED : LB_EXIT_OK);
        trend_view_free(view);
        trend_free(trend);
    }
}

TEST_MAIN(make_folder, remove_folder)
