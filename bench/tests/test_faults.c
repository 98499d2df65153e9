/* test_faults: worker processes that are paused and killed by plan, and keys that nobody gets any
 * more. */
#include "bench/tests/toy_primitives.h"

#define PROCESSES "load.clients=6", "load.processes=3", "load.threads=3"

TEST(test_a_killed_process_is_nobodys_fault) {
    const struct lb_lock *locks[] = {&toy_mutex, &toy_rwlock, &toy_semaphore};
    for (int i = 0; i < 3; i++) {
        struct stage *stage =
            run_toy(locks[i], RIGHT,
                    (struct stage_case){.readers = 50, .permits = 1, .bound = 3, .faults = 3},
                    SETS(PROCESSES, "fault.kind=kill", "fault.first=50ms", "fault.every=100ms",
                         "acquire.lease=300ms", UNTIL_ENOUGH, "acquire.mode=timed",
                         "acquire.timeout=50ms"));
        if (stage->status != STAGE_COMPLETE) fail_msg("not complete: %s", stage->err.text);
        /* Two of three workers are killed. The last one is spared, and the log says so once,
         * however often the fault was tried. */
        assert_int_equal(stage->faults.count, 3);
        assert_false(stage->faults.events[2].acted);
        for (int f = 0; f < 2; f++) {
            assert_int_equal(stage->faults.events[f].kind, INJECT_KILL);
            assert_in_range(stage->faults.events[f].begin_ns - stage->window_begin_ns,
                            (50 + 100 * f) * LB_MS_NS, (51 + 100 * f) * LB_MS_NS);
            assert_takes(stage->faults.events[f].end_ns - stage->faults.events[f].begin_ns, 0);
        }
        assert_int_not_equal(stage->faults.events[0].process, stage->faults.events[1].process);
        assert_int_equal(sum_outcomes(stage), stage->result.attempts);
        assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
        /* a killed client may leave keys on the server */
        assert_true(isnan(stage->result.residue));
    }
}

/* The seed decides which client is hit. */
TEST(test_the_victim_is_drawn_from_the_seed) {
    int victim[2];
    for (int i = 0; i < 2; i++) {
        struct stage *stage =
            run_toy(&toy_mutex, RIGHT, (struct stage_case){.faults = 1},
                    SETS(PROCESSES, "fault.kind=pause", "fault.first=20ms", "fault.for=20ms",
                         "load.seed=7", "acquire.lease=20ms", UNTIL_ENOUGH));
        assert_int_equal(stage->faults.count, 1);
        victim[i] = stage->faults.events[0].process;
    }
    assert_int_equal(victim[0], victim[1]);
}

/* Nobody has the key and nobody gets it: after three leases and a second. */
TEST(test_a_stuck_key_is_seen) {
    static const char *const modes[] = {"acquire.mode=wait", "acquire.mode=try",
                                        "acquire.mode=timed"};
    for (int i = 0; i < 3; i++) {
        struct stage *stage =
            run_toy(&toy_mutex, (struct toy_faults){.stuck_after = 20}, PLAIN,
                    SETS("load.clients=3", "acquire.lease=10ms", modes[i], "acquire.timeout=30ms",
                         "load.think=1ms", "run.duration=1400ms", "run.drain=50ms"));
        assert_int_equal(stage->exclusion.stuck, 1);
        assert_int_equal(stage->exclusion.verdict, VERDICT_STUCK);
    }
}

/* A lock that overtakes one client for ever: the key is not stuck, since others get it, but the
 * client waits until the drain limit. */
TEST(test_a_client_that_is_shut_out_starves) {
    struct stage *stage = run_toy(&toy_mutex, (struct toy_faults){.shuts_out_second = true}, PLAIN,
                                  SETS("load.clients=3", "acquire.lease=20ms", "load.hold=1ms",
                                       "run.duration=1100ms", "run.drain=300ms"));
    assert_int_equal(stage->exclusion.stuck, 0);
    assert_int_equal((int)stage->result.starved, 1);
    assert_int_equal(stage->exclusion.starved, 1);
    assert_string_equal(stage->result.verdict, "starved");
    assert_true(stage->result.max_wait_ns > 1200 * LB_MS_NS);
    assert_true(any_text_has(stage->result.warnings, "had to end 1 wait:"));
}

TEST_MAIN(NULL, NULL)
