/* test_ticks: a job once a tick (load.tick): which ticks count, which tick a client goes to next, and that a job that
 * runs twice in a tick shows, also where the lock excluded. */
#include <math.h>

#include "bench/load/observe.h"
#include "bench/tests/stage_help.h"

#define TICK_NS (100 * LB_MS_NS)
#define GO_NS (7 * LB_S_NS)

/* The ticks 0 to 9; the window has the whole of the ticks 1 to 7. */
TEST(only_ticks_that_lie_in_the_window_as_a_whole_count) {
    static _Atomic uint32_t runs[10] = {5, 1, 0, 1, 2, 1, 3, 0, 9, 9};
    const struct plan plan = {.tick_ns = TICK_NS};
    static struct shared shared;
    shared.plan = &plan;
    shared.ticks = 10;
    shared.tick_runs = runs;
    shared.go_ns = GO_NS;
    atomic_store(&shared.window_begin_ns, GO_NS + TICK_NS / 2);
    atomic_store(&shared.window_end_ns, GO_NS + 8 * TICK_NS + TICK_NS / 2);
    struct run_stage counts;
    tick_sum(&counts, &shared);
    assert_int_equal(counts.ticks, 7);
    assert_int_equal(counts.ticks_once, 3);
    assert_int_equal(counts.ticks_none, 2);
    assert_int_equal(counts.ticks_more, 2);
    /* A window that ends with a tick has that tick. */
    atomic_store(&shared.window_end_ns, GO_NS + 9 * TICK_NS);
    tick_sum(&counts, &shared);
    assert_int_equal(counts.ticks, 8);
}

TEST(a_plan_without_ticks_has_none) {
    const struct plan plan = {.duration_ns = LB_S_NS}, ticks = {.duration_ns = LB_S_NS,
                                                                .warmup_ns = 50 * LB_MS_NS,
                                                                .tick_ns = TICK_NS};
    assert_int_equal(tick_count(&plan), 0);
    assert_int_equal(tick_count(&ticks), 11);
}

TEST(a_client_that_is_busy_at_a_tick_leaves_it_out) {
    const struct plan plan = {.tick_ns = TICK_NS, .think = {.mean_ns = 3 * LB_MS_NS}};
    static struct shared shared;
    shared.plan = &plan;
    shared.ticks = 1000;
    shared.go_ns = GO_NS;
    struct worker worker = {.shared = &shared};
    struct client client = {.worker = &worker};
    tick_first(&client);
    assert_int_equal(client.tick, 0);
    assert_true(client.next_ns == GO_NS + 3 * LB_MS_NS);
    client.ended_ns = GO_NS + TICK_NS - 1;
    tick_next(&client);
    assert_int_equal(client.tick, 1);
    assert_true(client.next_ns == GO_NS + TICK_NS + 3 * LB_MS_NS);
    client.ended_ns = GO_NS + 3 * TICK_NS + 1;
    tick_next(&client);
    assert_int_equal(client.tick, 4);
    /* A client that ran so late that a later tick has begun does not go back to an earlier one. */
    client.ended_ns = GO_NS + 3 * TICK_NS;
    tick_next(&client);
    assert_int_equal(client.tick, 5);
}

static void assert_adds_up(const struct stage *stage) {
    const struct run_stage *result = &stage->result;
    assert_true(result->ticks > 0);
    assert_true(result->ticks == result->ticks_none + result->ticks_once + result->ticks_more);
}

TEST(a_lock_that_is_kept_long_enough_runs_the_job_once) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=4", "load.tick=200ms", "acquire.mode=try",
                                 "acquire.at_least=100ms", "run.warmup=0", "run.duration=2s"));
    assert_adds_up(stage);
    assert_int_equal(stage->result.ticks, 10);
    assert_int_equal(stage->result.ticks_once, 10);
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
