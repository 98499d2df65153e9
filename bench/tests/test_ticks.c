/* test_ticks: a job once a tick (load.tick): which ticks count, which tick a client goes to next, and that a job that
 * runs twice in a tick shows, also where the lock excluded. */
#include <math.h>

#include "bench/tests/stage_help.h"

static void assert_adds_up(const struct stage *stage) {
    const struct run_stage *result = &stage->result;
    assert_true(result->ticks > 0);
    assert_true(result->ticks == result->ticks_none + result->ticks_once + result->ticks_more);
}

TEST(a_client_that_is_busy_at_a_tick_leaves_it_out) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=1", "load.tick=100ms", "load.hold=250ms",
                                 "run.warmup=0", "run.duration=3s"));
    assert_int_equal(stage->result.ticks, 30);
    assert_int_equal(stage->result.ticks_once, 10);
    assert_int_equal(stage->result.ticks_none, 20);
}

/* The window has the whole of the ticks 1 to 9. */
TEST(a_lock_that_is_kept_long_enough_runs_the_job_once) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=4", "load.tick=200ms", "acquire.mode=try",
                                 "acquire.at_least=100ms", "run.warmup=100ms", "run.duration=2s"));
    assert_adds_up(stage);
    assert_int_equal(stage->result.ticks, 9);
    assert_int_equal(stage->result.ticks_once, 9);
    assert_true(stage->result.ok >= stage->result.ticks);
    assert_true(stage->result.busy > 0);
    assert_true(stage->result.latency[METRIC_HOLD].min >= 100e6);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
}

/* The control for this figure: the lock works, but is released before late clients have asked. */
TEST(a_lock_that_is_given_back_early_runs_the_job_twice_and_is_clean) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=4", "load.tick=200ms", "load.think=exponential:30ms",
                                 "acquire.mode=try", "run.warmup=0", "run.duration=2s"));
    assert_adds_up(stage);
    assert_true(stage->result.ticks_more > 0);
    assert_int_equal(stage->exclusion.double_holders, 0);
    assert_true(stage->exclusion.verdict != VERDICT_VIOLATED);
}

TEST(with_no_lock_several_work) {
    struct stage *stage =
        run_stage_of("unsafe-none", SETS("load.clients=8", "load.tick=200ms", "load.hold=50ms",
                                         "acquire.mode=try", "run.warmup=0", "run.duration=1s"));
    assert_adds_up(stage);
    assert_true(stage->result.ticks_more > 0);
    assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
}

TEST(a_load_without_ticks_has_no_figures_of_them) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=2", "run.warmup=0", "run.duration=200ms"));
    assert_true(isnan(stage->result.ticks));
    assert_true(isnan(stage->result.ticks_more));
}

TEST_MAIN(NULL, NULL)
