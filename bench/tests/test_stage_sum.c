/* test_stage_sum: the figures of a stage from counts that are made here: nothing runs. */
#include "bench/tests/sum_help.h"

#include <math.h>

static void sum_of(const uint64_t *grants, const uint64_t *runs) {
    count_grants(grants);
    for (int i = 0; runs && i < CLIENTS; i++) clients[i].longest_run = runs[i];
    sum_up();
}

static void assert_real(double value, double expected) {
    if (!(fabs(value - expected) < 1e-12)) fail_msg("%.15g is not %.15g", value, expected);
}

TEST(jain_is_the_square_of_the_sum_by_n_times_the_sum_of_the_squares) {
    static const struct {
        uint64_t grants[CLIENTS];
        double jain;
    } cases[] = {{{7, 1, 1, 1}, 100.0 / 208},
                 {{5, 5, 5, 5}, 1},
                 {{9, 0, 0, 0}, 0.25},
                 /* the squares are more than 64 bits have room for */
                 {{7ull << 40, 1ull << 40, 1ull << 40, 1ull << 40}, 100.0 / 208}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sum_of(cases[i].grants, NULL);
        assert_real(stage.result.jain, cases[i].jain);
        free_sum();
    }
}

TEST(the_figures_of_fairness) {
    sum_of((const uint64_t[]){7, 1, 2, 2}, (const uint64_t[]){3, 1, 5, 2});
    assert_real(stage.result.jain, 144.0 / (4 * 58));
    assert_real(stage.result.min_share, 1.0 * 4 / 12);
    assert_real(stage.result.longest_run, 5);
    assert_real(stage.result.grants, 12);
    assert_real(stage.result.throughput_per_s, 6);
    assert_int_equal(json_integer_value(json_array_get(stage.result.grants_per_client, 0)), 7);
    free_sum();
}

TEST(without_grants_nothing_is_known) {
    sum_of((const uint64_t[]){0, 0, 0, 0}, NULL);
    assert_true(isnan(stage.result.jain) && isnan(stage.result.min_share));
    free_sum();
}

/* Client 1 waited for 9 s, until the drain limit, at 20 s by the clock. How many starved? */
static uint64_t starved_of(bool blocks, int64_t thread_stood_s, int64_t from_s, int64_t until_s) {
    static struct lb_lock blocking;
    blocking = lock;
    blocking.caps |= blocks ? LB_CAP_BLOCKS_THREAD : 0;
    struct plan_lock of = {.lock = &blocking};
    count_grants((const uint64_t[]){4, 0, 4, 4});
    shared.lock = &of;
    clients[1].cut_off_ns = 9 * LB_S_NS;
    clients[1].cut_off_at_ns = 20 * LB_S_NS;
    clients[1].cut_off_stood_ns = thread_stood_s * LB_S_NS;
    stage.stood_from_ns = from_s * LB_S_NS;
    stage.stood_until_ns = until_s * LB_S_NS;
    stage_sum(&stage, &shared);
    assert_real(stage.result.starved, 1);
    uint64_t starved = stage.exclusion.starved;
    free_sum();
    return starved;
}

/* More than 5 s make the verdict, but not those for which lockbench itself stood still. */
TEST(who_waited_for_the_lock_and_who_for_lockbench) {
    assert_int_equal(starved_of(false, 0, 0, 0), 1);
    assert_int_equal(starved_of(false, 3, 0, 0), 1);
    assert_int_equal(starved_of(false, 5, 0, 0), 0);
    assert_int_equal(starved_of(false, 0, 12, 20), 1); /* its thread ran on */
    /* A thread that its lock blocks by design: only the supervisor knows. */
    assert_int_equal(starved_of(true, 0, 0, 0), 1);
    assert_int_equal(starved_of(true, 0, 14, 17), 1);
    assert_int_equal(starved_of(true, 0, 14, 19), 0);
    assert_int_equal(starved_of(true, 0, 17, 22), 1); /* 3 s of it */
    assert_int_equal(starved_of(true, 0, 3, 12), 1);  /* before most of it */
}

/* Client 1 has no grant; the others have so many each. How many starved? */
static uint64_t passed_over_of(uint64_t others, int64_t waited_s, int64_t window_s) {
    count_grants((const uint64_t[]){others, 0, others, others});
    clients[1].max_wait_ns = waited_s * LB_S_NS;
    stage.window_ns = window_s * LB_S_NS;
    stage_sum(&stage, &shared);
    assert_real(stage.result.starved, 0);
    uint64_t starved = stage.exclusion.starved;
    free_sum();
    return starved;
}

TEST(a_client_that_others_pass_over_starves) {
    assert_int_equal(passed_over_of(300, 31, 30), 1);
    assert_int_equal(passed_over_of(300, 29, 30), 0); /* it thought, or came late */
    assert_int_equal(passed_over_of(300, 4, 2), 0);   /* a slow server explains it */
    assert_int_equal(passed_over_of(20, 31, 30), 0);  /* nobody is granted much */
}

/* Requests to a program are no requests to the server. */
TEST(what_a_program_sends_is_not_known) {
    static const char *const some[] = {"redis", NULL};
    for (int speaks = 0; speaks < 2; speaks++) {
        const struct lb_backend remote = {
            .name = "made", .schemes = some, .topologies = some, .program_speaks = speaks};
        struct lb_lock of = lock;
        struct plan_lock named = {.lock = &of};
        of.backend = &remote;
        count_grants((const uint64_t[]){4, 4, 4, 4});
        shared.lock = &named;
        for (int i = 0; i < CLIENTS; i++) {
            clients[i].commands = clients[i].wakeups = 8;
            clients[i].drained = true;
        }
        stage_sum(&stage, &shared);
        if (speaks) {
            assert_true(isnan(stage.result.commands_per_grant));
            assert_true(isnan(stage.result.wakeups_per_grant));
        } else {
            assert_real(stage.result.commands_per_grant, 2);
            assert_real(stage.result.wakeups_per_grant, 2);
        }
        free_sum();
    }
}

/* One host's cells do not see the grants of the others between two of its own. */
TEST(runs_of_one_host_of_several) {
    count_grants((const uint64_t[]){1, 1, 1, 1});
    clients[0].longest_run = 1;
    shared.split = true;
    stage_sum(&stage, &shared);
    assert_true(isnan(stage.result.longest_run));
    free_sum();
}

static void sum_again(void) {
    stage.status = STAGE_COMPLETE;
    stage.err.code = 0;
    result_field_clear_all(run_stage_fields(), &stage.result);
    stage_sum(&stage, &shared);
    free_sum();
}

/* What grants were is known only from the judge. */
TEST(a_stage_without_a_judgement_is_unchecked) {
    static struct stage_history history;
    static struct oplog oplog;
    memset(&history, 0, sizeof history);
    count_grants((const uint64_t[]){1, 1, 1, 1});
    shared.oplog = &oplog;
    stage.history = &history;
    err_set(&history.err, LB_EXIT_MACHINE, "the clocks moved");
    sum_again();
    assert_string_equal(stage.result.verdict, "unchecked");
    assert_int_equal(stage.status, STAGE_FAILED);
    assert_non_null(strstr(stage.err.text, "is not known: the clocks moved"));
    history.judged = true;
    sum_again();
    assert_string_not_equal(stage.result.verdict, "unchecked");
    assert_int_equal(stage.status, STAGE_COMPLETE);
    history.judgement = (struct judgement){.violations = 1, .revoked = 2, .ended = 3, .refused = 4};
    sum_again();
    assert_string_equal(stage.result.verdict, "violated");
    assert_real(stage.result.double_holders, 1);
    assert_real(stage.result.revoked, 2);
    assert_real(stage.result.ended, 3);
    /* planned faults explain what holders were told */
    history.judgement.violations = 0;
    shared.faulted = true;
    sum_again();
    assert_string_not_equal(stage.result.verdict, "violated");
    assert_real(stage.result.revoked, 0);
    assert_real(stage.result.ended, 0);
    /* A host knows better who of its own clients met. */
    history.judgement = (struct judgement){.expired = 1};
    stage_history_add(&history, &(struct exclusion){.double_holders = 2});
    stage_history_add(&history, &(struct exclusion){.double_holders = 3});
    sum_again();
    assert_string_equal(stage.result.verdict, "violated");
    assert_real(stage.result.double_holders, 5);
    assert_real(stage.result.expired_holders, 1);
}

/* Grants that met another one were not judged: there was no room, or their client was killed before it recorded them. */
TEST(what_was_not_judged_is_neither_clean_nor_violated) {
    static struct stage_history history;
    memset(&history, 0, sizeof history);
    history.judged = true;
    count_grants((const uint64_t[]){1, 1, 1, 1});
    stage.history = &history;
    history.dropped = 1;
    sum_again(); /* nobody met */
    assert_int_equal(stage.exclusion.verdict, VERDICT_CLEAN);
    atomic_store(&shared.findings.met, 2);
    sum_again();
    assert_int_equal(stage.exclusion.verdict, VERDICT_UNCHECKED);
    atomic_store(&cells[0].counter, 3);
    sum_again();
    assert_int_equal(stage.exclusion.verdict, VERDICT_EXPIRED);
    history.judgement.violations = 1;
    sum_again();
    assert_int_equal(stage.exclusion.verdict, VERDICT_VIOLATED);
    /* One that was killed after it had left may have overwritten another one's update. */
    history.judgement.violations = history.dropped = 0;
    sum_again();
    assert_int_equal(stage.exclusion.verdict, VERDICT_VIOLATED);
    clients[0].dead = clients[0].met = true;
    sum_again();
    assert_int_equal(stage.exclusion.verdict, VERDICT_UNCHECKED);
    assert_real(stage.result.lost_updates, 0);
}

/* Two ways to count that do not agree fail the stage; without any of these changes it passes. */
TEST(figures_that_contradict_each_other_fail_the_stage) {
    static const char *const says[] = {"", "grants are 13", "attempts are 12, the",
                                       "arrivals are 5", "clients x window"};
    for (int i = 0; i < 5; i++) {
        count_grants((const uint64_t[]){3, 3, 3, 3});
        if (i == 1) clients[0].grants++;
        if (i == 2) failed.count = 1;
        if (i == 3) stage.result.due = 5, stage.result.started = 3, stage.result.missed = 1;
        if (i == 4) clients[2].state_idle_ns -= LB_S_NS;
        stage_sum(&stage, &shared);
        assert_int_equal(stage.status, i == 0 ? STAGE_COMPLETE : STAGE_FAILED);
        if (i > 0 && !strstr(stage.err.text, says[i])) fail_msg("%d: %s", i, stage.err.text);
        free_sum();
    }
    count_grants((const uint64_t[]){3, 3, 3, 3}); /* a killed client may be between two counts */
    clients[0].dead = true;
    clients[0].grants++;
    sum_up();
    assert_int_equal(stage.status, STAGE_COMPLETE);
    free_sum();
}

TEST_MAIN(NULL, NULL)
