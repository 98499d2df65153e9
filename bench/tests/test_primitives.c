/* test_primitives: the figures of each kind of lock with a right toy; and of locks without holders, a toy with the mistake
 * which the check looks for. Wrong holders: test_history_stage. */
#include <math.h>

#include "bench/tests/toy_primitives.h"

static void assert_clean(struct stage *stage) {
    assert_int_equal(whole(stage)->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->result.ok, stage->result.attempts);
    assert_true(stage->result.grants > 20);
    assert_int_equal(stage->exclusion.grants, stage->exclusion.counter);
}

/* Several threads, since some faults need real overlap. */
#define CROWD "load.clients=6", "load.threads=3"

TEST(test_readers_share_and_writers_do_not) {
    struct stage *stage =
        run_toy(&toy_rwlock, RIGHT, (struct stage_case){.readers = 60}, SETS(CROWD));
    assert_clean(stage);
    assert_true(stage->result.shared_grants > 0 &&
                stage->result.shared_grants < stage->result.grants);
    /* Each of the two has a histogram of its waits. */
    assert_int_equal(stage->hist[METRIC_ACQUIRE_SHARED]->count, stage->result.shared_grants);
    assert_int_equal(stage->hist[METRIC_ACQUIRE_EXCLUSIVE]->count,
                     stage->result.grants - stage->result.shared_grants);
    assert_int_equal(stage->hist[METRIC_ACQUIRE]->count, stage->result.grants);
    /* Readers alone hold together: one after another, they could hold for the window's time only, however busy the
     * machine is. */
    stage = run_toy(&toy_rwlock, RIGHT, (struct stage_case){.readers = 100},
                    SETS("load.clients=6", "load.hold=5ms", "run.duration=300ms"));
    assert_clean(stage);
    assert_int_equal(stage->result.shared_grants, stage->result.grants);
    assert_true(stage->result.state_holding_ns > 2 * (double)stage->window_ns);
}

/* Writers alone are a mutex: somebody waits during nearly every grant, and each is a trial. */
TEST(test_each_writers_grant_is_a_trial) {
    struct stage *stage = run_toy(&toy_rwlock, RIGHT, PLAIN, SETS(CROWD));
    assert_clean(stage);
    assert_true(stage->result.tested_grants > stage->result.checked_grants / 2);
    assert_true(stage->result.tested_grants < stage->result.checked_grants);
}

/* A reader leaves while others stay, so its release enables nobody's grant. */
TEST(test_only_writers_have_a_handoff) {
    struct stage *stage = run_toy(&toy_rwlock, RIGHT, (struct stage_case){.readers = 100},
                                  SETS(CROWD, "load.hold=1ms"));
    assert_clean(stage);
    assert_int_equal(stage->hist[METRIC_HANDOFF]->count, 0);
    stage = run_toy(&toy_rwlock, RIGHT, (struct stage_case){.readers = 50},
                    SETS(CROWD, "load.hold=1ms"));
    assert_clean(stage);
    assert_true(stage->hist[METRIC_HANDOFF]->count > 0);
    assert_true(stage->hist[METRIC_HANDOFF]->count <=
                (int64_t)(stage->result.grants - stage->result.shared_grants));
}

TEST(test_permits_up_to_the_bound) {
    struct stage *stage =
        run_toy(&toy_semaphore, RIGHT, (struct stage_case){.permits = 2, .bound = 5},
                SETS(CROWD, "load.hold=200us"));
    assert_clean(stage);
    assert_int_equal(stage->hist[METRIC_HANDOFF]->count, 0); /* nobody knows whose permit it is */
    assert_int_equal(toy_kept.armed, 0);                     /* disarmed again */
}

TEST(test_each_update_makes_its_own_version) {
    struct stage *stage = run_toy(&toy_optimistic, RIGHT, PLAIN, SETS(CROWD, "load.hold=50us"));
    assert_clean(stage);
    assert_true(stage->result.retries > 0);
    assert_int_equal(stage->exclusion.grants, atomic_load(&toy_kept.key[0].version));
    stage =
        run_toy(&toy_optimistic, RIGHT, PLAIN, SETS(CROWD, "load.hold=50us", "acquire.mode=try"));
    assert_int_equal(stage->result.busy, stage->result.retries); /* one try each */
    assert_true(stage->result.busy > 0);
    stage = run_toy(&toy_optimistic, (struct toy_faults){.last_writer_wins = true}, PLAIN,
                    SETS(CROWD, "load.hold=50us"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
    assert_true(stage->exclusion.lost_updates > 0);
}

TEST(test_one_statement_never_tries_again) {
    struct stage *stage = run_toy(&toy_atomic, RIGHT, PLAIN, SETS(CROWD, "load.hold=50us"));
    assert_clean(stage);
    assert_true(stage->result.retries == 0);
    assert_true(stage->result.busy == 0);
    assert_int_equal(stage->exclusion.grants, atomic_load(&toy_kept.key[0].version));
    stage = run_toy(&toy_atomic, (struct toy_faults){.last_writer_wins = true}, PLAIN,
                    SETS(CROWD, "load.hold=50us"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
    assert_true(stage->exclusion.lost_updates > 0);
}

static bool warns_of(struct stage *stage, const char *words) {
    struct plan plan = {.name = "test"};
    struct plan_lock lock = {.lock = &toy_mutex};
    struct stage_ask ask = {.of = {.plan = &plan, .lock = &lock}};
    stage->ask = &ask;
    json_t *warnings = stage_warnings(stage);
    stage->ask = NULL;
    bool has = any_text_has(warnings, words);
    json_decref(warnings);
    return has;
}

TEST(test_residue_is_reported) {
    struct stage *stage = run_toy(&toy_mutex, RIGHT, PLAIN, SETS("load.clients=2"));
    assert_int_equal(stage->result.residue, 0);
    assert_false(warns_of(stage, "left on the server"));
    stage = run_toy(&toy_mutex, (struct toy_faults){.residue = 3}, PLAIN, SETS("load.clients=2"));
    assert_int_equal(stage->result.residue, 3);
    assert_true(warns_of(stage, "left on the server"));
    /* An attempt whose answer was lost may leave something on the server: then the residue is not known. */
    stage = run_toy(&toy_mutex, (struct toy_faults){.residue = 3, .unknown_every = 5}, PLAIN,
                    SETS("load.clients=2"));
    assert_true(stage->result.unknown > 0);
    assert_true(isnan(stage->result.residue));
}

TEST_MAIN(NULL, NULL)
