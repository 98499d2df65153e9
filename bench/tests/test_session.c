/* test_session: sessions that several clients share, that are opened for each attempt, that are
 * renewed and that are lost; and whether the holder learns of the loss. */
#include "bench/load/client.h"
#include "bench/tests/toy_primitives.h"

static void assert_sums(struct stage *stage) {
    assert_int_equal(sum_outcomes(whole(stage)), stage->result.attempts);
    assert_int_equal(atomic_load(&toy_kept.open), 0); /* every session was closed */
    /* and none while a call was under way */
    assert_int_equal(atomic_load(&toy_kept.closed_inside), 0);
}

TEST(test_a_session_for_each) {
    struct stage *stage = run_toy(&toy_mutex, RIGHT, PLAIN, SETS("load.clients=6"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->result.connect_count, 6);
    assert_int_equal(atomic_load(&toy_kept.connects), 1 + 6 + 1); /* one described, one tidied up */
    assert_int_equal(atomic_load(&toy_kept.most_inside), 1);
}

/* The random numbers by which a driver names clients on a server must differ between runs with the same seed. */
TEST(test_the_seed_gives_no_client_its_name) {
    uint64_t drawn[2];
    for (int i = 0; i < 2; i++) {
        run_toy(&toy_mutex, RIGHT, PLAIN, SETS("load.clients=1"));
        drawn[i] = atomic_load(&toy_kept.drawn);
    }
    assert_true(drawn[0] != 0 && drawn[0] != drawn[1]);
}

/* Thousands of connections at once would be more than a server lets in before it gives up on them. */
TEST(test_sessions_open_in_turns) {
    struct stage *stage =
        run_toy(&toy_mutex, (struct toy_faults){.connect_ns = 5 * LB_MS_NS}, PLAIN,
                SETS("load.clients=400", "load.threads=1", "acquire.mode=try"));
    assert_sums(stage);
    assert_int_equal(stage->result.connect_count, 400);
    int64_t most = atomic_load(&toy_kept.most_opening);
    assert_true(most > 1 && most <= CLIENTS_OPENING);
}

TEST(test_clients_share_sessions) {
    struct stage_case wanted = {.clients_per_session = 3};
    struct stage *stage = run_toy(&toy_mutex, RIGHT, wanted,
                                  SETS("load.clients=7", "load.threads=1", "load.hold=200us",
                                       "load.think=exponential:200us"));
    assert_sums(stage);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->result.connect_count, 3); /* 3, 3 and 1 */
    assert_int_equal(atomic_load(&toy_kept.connects), 1 + 3 + 1);
    assert_true(atomic_load(&toy_kept.most_inside) > 1);
    assert_true(stage->result.min_share > 0);
    /* Each grant has an acquire and a release, on any of the sessions. */
    assert_true(stage->commands >= 2 * stage->result.grants &&
                stage->commands <= 2 * stage->result.grants + 14);
}

static bool was_unknown(const struct stage *stage) {
    return stage->result.unknown > 0 && stage->result.ok > 0;
}

TEST(test_a_broken_session_is_left_by_all) {
    struct stage *stage = run_toy(
        &toy_mutex, (struct toy_faults){.unknown_every = 20},
        (struct stage_case){.clients_per_session = 4},
        SETS("load.clients=8", "load.threads=2", "acquire.mode=timed", "acquire.timeout=20ms"));
    assert_sums(stage);
    assert_true(was_unknown(stage));
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_true(atomic_load(&toy_kept.connects) > 3);
}

/* The attempts were settled, and the last client to leave the lost session has closed it: the next attempt opens a new
 * one. */
TEST(test_no_call_goes_through_a_session_that_was_lost_while_settling) {
    struct stage *stage = run_toy(
        &toy_mutex, (struct toy_faults){.unknown_every = 5, .settling_loses = true},
        (struct stage_case){.clients_per_session = 2},
        SETS("load.clients=2", "load.threads=1", "acquire.mode=timed", "acquire.timeout=20ms"));
    assert_sums(stage);
    assert_true(was_unknown(stage));
    assert_true(atomic_load(&toy_kept.connects) > 2);
    assert_int_equal(atomic_load(&toy_kept.unopened), 0);
}

TEST(test_a_session_for_each_attempt) {
    struct stage *stage =
        run_toy(&toy_mutex, RIGHT, (struct stage_case){.churn = true}, SETS("load.clients=3"));
    assert_sums(stage);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->hist[METRIC_CONNECT]->count, stage->result.attempts);
    /* what a toy's connect sleeps */
    assert_takes(stage->hist[METRIC_CONNECT]->min, 50 * LB_US_NS);
    assert_true(atomic_load(&toy_kept.connects) >= (int64_t)stage->result.attempts);
}

TEST(test_renewal_keeps) {
    static const int sharing[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        struct stage_case wanted = {.renew = true, .clients_per_session = sharing[i]};
        struct stage *stage =
            run_toy(&toy_mutex, RIGHT, wanted,
                    SETS("load.clients=3", "load.hold=700ms", "acquire.lease=300ms",
                         "load.keys=own", "run.duration=1s"));
        assert_sums(stage);
        assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
        assert_int_equal(stage->result.ok, stage->result.attempts);
        assert_true(atomic_load(&toy_kept.renewals) > (int64_t)stage->result.grants);
    }
    /* Without it the lease ends. */
    struct stage *stage = run_toy(&toy_mutex, RIGHT, PLAIN,
                                  SETS("load.clients=3", "load.hold=700ms", "acquire.lease=300ms",
                                       "load.keys=own", "run.duration=1s"));
    assert_int_equal(stage->result.lost, stage->result.attempts);
    assert_int_equal(atomic_load(&toy_kept.renewals), 0);
}

/* Renewals and releases of one grant meet again and again, and none is for a grant that was given
 * back. */
TEST(test_renewal_beside_short_holds) {
    struct stage *stage = run_toy(&toy_mutex, RIGHT, (struct stage_case){.renew = true, .depth = 2},
                                  SETS("load.clients=4", "acquire.lease=300ms", "run.duration=1s"));
    assert_sums(stage);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->result.ok, stage->result.attempts);
    assert_int_equal(atomic_load(&toy_kept.most_inside), 1); /* one call of a session at a time */
}

/* The server takes the grant away; the next renewal finds out, and the holder stops. */
TEST(test_what_a_renewal_says_ends_the_hold) {
    struct stage *stage = run_toy(
        &toy_mutex, (struct toy_faults){.evict_every = 3}, (struct stage_case){.renew = true},
        SETS("load.clients=3", "load.hold=600ms", "acquire.lease=300ms", "run.duration=1500ms"));
    assert_sums(stage);
    assert_true(stage->result.lost > 0);
    assert_true(stage->exclusion.detected >= stage->result.lost);
    /* A holder that learned of its loss did not write, so no update of the others is lost. */
    assert_int_equal(stage->exclusion.lost_updates, 0);
    assert_int_equal(stage->exclusion.double_holders, 0);
    assert_int_equal(stage->exclusion.grants, stage->exclusion.counter + stage->exclusion.detected);
    /* It ended early: at the third renewal of 100 ms. */
    assert_true(stage->hist[METRIC_HOLD]->min < 301 * LB_MS_NS);
}

TEST(test_a_lost_session_ends_the_hold) {
    static const char *const sets[] = {"load.clients=3", "load.hold=40ms", "run.duration=600ms",
                                       NULL};
    struct stage *stage =
        run_toy(&toy_session, (struct toy_faults){.session_lost_every = 2}, PLAIN, sets);
    assert_sums(stage);
    assert_true(stage->result.lost > 0);
    assert_int_equal(stage->exclusion.lost_updates, 0);
    assert_int_equal(stage->exclusion.double_holders, 0);
    assert_true(stage->exclusion.detected >= stage->result.lost);
    assert_true(stage->hist[METRIC_HOLD]->min < 40 * LB_MS_NS);
    /* A holder that learned of its loss did not call release. */
    assert_int_equal(stage->hist[METRIC_RELEASE]->count, stage->result.grants - stage->result.lost);
    assert_true(atomic_load(&toy_kept.connects) > 4); /* a lost one is opened anew */
    /* The same, and nobody is told: two holders. */
    stage = run_toy(&toy_mutex, (struct toy_faults){.session_lost_every = 2, .silent = true}, PLAIN,
                    sets);
    assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
    assert_int_equal(stage->exclusion.detected, 0);
}

/* All is measured by then, but the process that carried the clients did not end as it should. */
TEST(test_a_process_that_dies_after_its_sessions) {
    struct stage *stage = run_toy(&toy_mutex, (struct toy_faults){.dies_closed = true}, PLAIN,
                                  SETS("load.clients=2", "load.processes=2", "load.threads=2"));
    assert_int_equal(stage->status, STAGE_PARTIAL);
    if (!strstr(stage->err.text, "worker process 0 was killed by signal 9"))
        fail_msg("it said: %s", stage->err.text);
    assert_int_equal(sum_outcomes(stage), stage->result.attempts);
}

/* In an open loop a slow connect counts as the server's time: the attempt starts when it begins to
 * connect. */
TEST(test_a_slow_connect_is_no_late_start) {
    struct stage *stage = run_toy(
        &toy_mutex, (struct toy_faults){.connect_ns = 30 * LB_MS_NS},
        (struct stage_case){.churn = true},
        SETS("load.clients=8", "load.arrival=constant:40/s", "run.warmup=0", "run.duration=300ms"));
    assert_int_equal(stage->hist[METRIC_LAG]->count, stage->result.grants);
    assert_true(stage->hist[METRIC_LAG]->min < 30 * LB_MS_NS);
    assert_takes(stage->hist[METRIC_ACQUIRE_DUE]->min, 30 * LB_MS_NS + 50 * LB_US_NS);
}

/* The stage ends early while clients sleep until their slots are due: these slots do not count. */
TEST(test_slots_after_an_early_end_are_not_due) {
    struct stage *stage = run_toy(
        &toy_mutex, (struct toy_faults){.interrupt_at = 5}, PLAIN,
        SETS("load.clients=8", "load.arrival=constant:20/s", "run.warmup=0", "run.duration=1h"));
    no_interrupts = 0;
    assert_int_equal(stage->status, STAGE_PARTIAL);
    assert_true(stage->result.due <= 20 * (double)stage->window_ns / 1e9 + 1);
    /* All eight slept for a slot. One slot may be due just before the end, and then too late. */
    assert_true(stage->result.due - stage->result.started <= 1);
    assert_true(stage->result.missed <= 1);
}

TEST_MAIN(NULL, NULL)
