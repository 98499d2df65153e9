/* test_wall: a step of the machine's wall clock is seen. */
#include "bench/stage/machine.h"
#include "bench/tests/stage_help.h"

TEST(a_step_is_told_from_steering) {
    struct wall wall = {0};
    wall_note(&wall, 5 * LB_S_NS, 1000 * LB_S_NS);
    /* steered by 0.05 % for 1,000 looks */
    for (int i = 1; i <= 1000; i++)
        wall_note(&wall, 5 * LB_S_NS + i * 50 * LB_MS_NS, 1000 * LB_S_NS + i * 50025 * LB_US_NS);
    assert_int_equal(wall.step_ns, 0);
    wall_note(&wall, 56 * LB_S_NS, 1055 * LB_S_NS);
    assert_int_equal(wall.step_ns, 4 * LB_S_NS - 25 * LB_MS_NS);
    wall_note(&wall, 57 * LB_S_NS, 1050 * LB_S_NS); /* and back, farther */
    assert_int_equal(wall.step_ns, -2 * LB_S_NS - 25 * LB_MS_NS);
    assert_int_equal(wall.largest_ns, 6 * LB_S_NS);
}

static int64_t move_by_s; /* in the next stage's window, at its second look */
static int looks;

static bool move_clock(const struct stage *stage) {
    (void)stage;
    if (++looks == 2) virtual_clock_step_wall(move_by_s * LB_S_NS);
    return looks >= 5;
}

static struct stage *run_with_step(int64_t by_s) {
    struct stage_case wanted = {.enough = move_clock};
    move_by_s = by_s;
    looks = 0;
    struct stage *stage =
        run_stage_as("sim", &wanted, SETS("load.clients=1", "sim.service=1ms", UNTIL_ENOUGH));
    assert_int_equal(stage->status, STAGE_COMPLETE);
    return stage;
}

TEST(a_stage_says_that_the_clock_stepped) {
    static const struct {
        int64_t by_s;
        const char *words;
    } cases[] = {{3, "stepped by +3 s"}, {-7, "stepped by -7 s"}};
    for (int i = 0; i < 2; i++) {
        struct stage *stage = run_with_step(cases[i].by_s);
        assert_true(any_text_has(stage->result.warnings, cases[i].words));
        assert_true(any_text_has(stage->result.warnings, i == 0 ? "early" : "late"));
        assert_int_equal((int64_t)(stage->result.wall_step_ns / 1e9 + (i ? -0.5 : 0.5)),
                         cases[i].by_s);
    }
}

TEST(without_a_step_nothing_is_said) {
    struct stage *stage = run_stage_of("sim", SETS("load.clients=1", "sim.service=1ms"));
    assert_int_equal((int64_t)stage->result.wall_step_ns, 0);
    assert_false(any_text_has(stage->result.warnings, "wall clock"));
}

TEST_MAIN(NULL, NULL)
