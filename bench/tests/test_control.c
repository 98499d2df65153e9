/* test_control: the control, a lock that excludes nobody, is caught: by threads, by clients of one thread and by
 * processes. */
#include "bench/tests/stage_help.h"

static struct stage *run_control(const char *const *sets) {
    return run_stage_as("unsafe-none", &(struct stage_wish){.until = was_violated, .grows = true},
                        sets);
}

TEST(test_the_control_is_caught) {
    struct stage *stage = run_control(SETS("load.clients=2"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
    stage_free(stage);
}

TEST(test_the_control_is_caught_on_one_thread) {
    struct stage *stage = run_control(SETS("load.clients=2", "load.threads=1"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
    assert_true(stage->exclusion.lost_updates > 0);
    stage_free(stage);
}

TEST(test_the_control_is_caught_across_processes) {
    struct stage *stage = run_control(SETS("load.clients=4", "load.processes=2"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
    stage_free(stage);
}

TEST_MAIN(NULL, NULL)
