/* test_check_trials: which faults and grants of a cell count as trials of its lock, and the bound that they give. */
#include "bench/tests/check_cell_help.h"
#include "bench/tests/hdr_texts.h"

/* A fault is one trial of the lock, if it acted while a victim held. */
TEST(the_bound_of_a_fault_counts_faults) {
    static const struct {
        int acted, idle; /* further faults; idle: nobody held */
        double bound;
    } cases[] = {{0, 0, 0.95}, {2, 0, 1 - 0.368403149864}, {2, 5, 1 - 0.368403149864}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run = good_run();
        for (int k = 0; k < cases[i].acted + cases[i].idle; k++) {
            add_fault(run, "fault", "pause", true, 1.5);
            json_t *fault = json_array_get(part(run, "faults"), (size_t)k + 1);
            json_object_set_new(fault, "held", json_integer(k < cases[i].acted ? 2 : 0));
            json_object_set_new(fault, "tested", json_integer(k < cases[i].acted ? 2 : 0));
        }
        add_fault(run, "fault", "pause", false, 2);
        json_t *seen = judge(run, NULL, true);
        assert_bound(seen, cases[i].bound);
        assert_int_equal(whole(seen, "faults_hit"), 1 + cases[i].acted);
        assert_seen(seen, "safe", NULL);
    }
    /* All sections together are one trial. */
    json_t *run = good_run();
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill"));
    add_fault(run, "fault.2", "server-kill", true, 1.5);
    json_t *seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    json_decref(seen);
    /* Nobody held when the only fault acted, so the fault shows nothing about the lock. */
    run = good_run();
    json_object_set_new(json_array_get(part(run, "faults"), 0), "held", json_integer(0));
    json_object_set_new(json_array_get(part(run, "faults"), 0), "tested", json_integer(0));
    seen = judge(run, NULL, true);
    assert_bound(seen, 0);
    assert_int_equal(whole(seen, "faults_hit"), 0);
    assert_seen(seen, "inconclusive", "no client held a grant when the fault acted");
    /* Without a fault, grants are the trials; three of them bound nothing. */
    seen = judge(good_run(), NULL, false);
    assert_bound(seen, 3.0 / 300);
    assert_true(json_is_null(json_object_get(seen, "faults_hit")));
    json_decref(seen);
    run = good_run();
    json_object_set_new(part(run, "exclusion"), "grants", json_integer(2));
    seen = judge(run, NULL, false);
    assert_bound(seen, 0);
    json_decref(seen);
}

/* A leader was killed while `held` clients held, of whose grants `tested` were put to the test. */
static json_t *leaderless_run(int held, int tested) {
    json_t *run = good_run(), *fault = json_array_get(part(run, "faults"), 0);
    json_object_set_new(part(run, NULL), "fault", json_string("server-kill"));
    json_object_set_new(fault, "kind", json_string("server-kill"));
    json_object_set_new(fault, "held", json_integer(held));
    json_object_set_new(fault, "tested", json_integer(tested));
    return run;
}

/* A holder that had left before anybody could meet it is no trial, though the fault hit it. */
TEST(a_fault_that_nobody_could_fail_is_no_trial) {
    json_t *seen = judge(leaderless_run(3, 0), NULL, true);
    assert_bound(seen, 0);
    assert_int_equal(whole(seen, "faults_hit"), 0);
    assert_int_equal(whole(seen, "faults_untested"), 1);
    assert_seen(seen, "inconclusive", "not tested: who held when the fault acted had left");
    seen = judge(leaderless_run(3, 1), NULL, true);
    assert_bound(seen, 0.95);
    assert_int_equal(whole(seen, "faults_untested"), 0);
    assert_seen(seen, "safe", NULL);
    /* Beside another run it adds nothing but its count. */
    seen = json_of(merged(result_of(leaderless_run(3, 1), NULL, true),
                          result_of(leaderless_run(3, 0), NULL, true)));
    assert_bound(seen, 0.95);
    assert_int_equal(whole(seen, "faults_untested"), 1);
    assert_seen(seen, "safe", NULL);
    /* What went wrong went wrong. */
    json_t *run = leaderless_run(3, 0);
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("violated"));
    json_object_set_new(part(run, "exclusion"), "double_holders", json_integer(1));
    seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    assert_seen(seen, "violated", "1 double holder");
}

/* Three servers that are killed at once are one fault. */
TEST(an_injection_that_hits_several_servers_is_one_trial) {
    json_t *run = leaderless_run(3, 1);
    json_object_set_new(json_array_get(part(run, "faults"), 0), "injection", json_integer(1));
    for (int i = 1; i <= 3; i++) {
        add_fault(run, "fault", "server-kill", true, 1.2 + i);
        json_t *fault = json_array_get(part(run, "faults"), (size_t)i);
        json_object_set_new(fault, "tested", json_integer(1));
        json_object_set_new(fault, "injection", json_integer(i < 3 ? 1 : 2));
    }
    json_t *seen = judge(json_deep_copy(run), NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 2);
    json_decref(seen);
    /* One of them is enough. */
    json_object_set_new(json_array_get(part(run, "faults"), 0), "tested", json_integer(0));
    json_object_set_new(json_array_get(part(run, "faults"), 1), "acted", json_false());
    json_object_set_new(json_array_get(part(run, "faults"), 3), "tested", json_integer(0));
    seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    assert_int_equal(whole(seen, "faults_untested"), 1);
    json_decref(seen);
}

/* A step of a scenario: `held` clients held, of whose grants `tested` were put to the test. */
static void add_step(json_t *run, const char *section, const char *kind, int held, int tested) {
    add_fault(run, section, kind, true, 1.5);
    json_t *faults = part(run, "faults"),
           *step = json_array_get(faults, json_array_size(faults) - 1);
    json_object_set_new(step, "held", json_integer(held));
    json_object_set_new(step, "tested", json_integer(tested));
}

/* Replication is cut, which any lock survives; the primary dies when nobody holds; a replica is promoted. */
static json_t *run_of_steps(int held, int tested) {
    json_t *run = good_run();
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill+promote"));
    json_array_clear(part(run, "faults"));
    add_step(run, "fault", "wire-cut", 2, 2);
    add_step(run, "fault.2", "server-kill", 0, 0);
    add_step(run, "fault.3", "promote", held, tested);
    return run;
}

/* The steps before the last one only prepare it: a grant that they met is no trial of what the scenario asks. */
TEST(the_last_of_several_steps_decides) {
    json_t *seen = judge(run_of_steps(0, 0), NULL, true);
    assert_bound(seen, 0);
    assert_int_equal(whole(seen, "faults_hit"), 0);
    assert_int_equal(whole(seen, "faults_untested"), 1);
    assert_seen(seen, "inconclusive", "no client held a grant when the fault acted");
    seen = judge(run_of_steps(2, 0), NULL, true);
    assert_seen(seen, "inconclusive", "not tested: who held when the fault acted had left");
    seen = judge(run_of_steps(2, 1), NULL, true);
    assert_bound(seen, 0.95);
    assert_seen(seen, "safe", NULL);
    /* Two faults of one kind are no steps: each may be the trial. */
    json_t *run = run_of_steps(0, 0);
    json_object_set_new(json_array_get(part(run, "faults"), 0), "kind", json_string("promote"));
    seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    assert_seen(seen, "safe", NULL);
    /* A lock that failed in any step failed. */
    run = run_of_steps(0, 0);
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("violated"));
    json_object_set_new(part(run, "exclusion"), "double_holders", json_integer(1));
    seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    json_decref(seen);
}

/* A client that is stopped, cut off or killed does not leave: what is missing is somebody who wants its key. */
TEST(a_hit_client_whose_key_nobody_wants_is_told) {
    json_t *run = good_run(), *fault = json_array_get(part(run, "faults"), 0);
    json_object_set_new(fault, "process", json_integer(3));
    json_object_set_new(fault, "held", json_integer(1));
    json_object_set_new(fault, "tested", json_integer(0));
    assert_seen(judge(run, NULL, true), "inconclusive",
                "not tested: no other client asked for the key of a holder that was hit");
}

/* A grant during which nobody waited tests nothing. */
TEST(the_bound_without_a_fault_counts_the_grants_that_tested) {
    json_t *seen = judge(tested_run(1000, 10), NULL, false);
    assert_bound(seen, 0.3);
    assert_int_equal(whole(seen, "tested"), 10);
    json_decref(seen);
    seen = json_of(merged(result_of(tested_run(1000, 10), NULL, false),
                          result_of(tested_run(500, 20), NULL, false)));
    assert_bound(seen, 0.1);
    json_decref(seen);
    seen = judge(tested_run(1000, 10), NULL, true);
    assert_bound(seen, 0.95); /* the fault is the trial */
    json_decref(seen);
}

static json_t *short_holds(int64_t inside_ns, int64_t round_trip_ns) {
    json_t *run = tested_run(1000, 10);
    json_object_set_new(part(run, "exclusion"), "inside_mean_ns", json_integer(inside_ns));
    json_object_set_new(part(run, NULL), "latency_ns",
                        json_pack("{s:{s:i, s:s, s:I}}", "ping", "count", 200, "hdr", HDR_200,
                                  "p50", (json_int_t)round_trip_ns));
    return run;
}

/* Holders that are inside for less than a round trip meet nobody. One such run takes the bound from all of them; a
 * fault is a trial whatever the holds are. */
TEST(short_holds_give_no_bound) {
    json_t *seen = judge(short_holds(2000000, 2000000), NULL, false);
    assert_bound(seen, 0.3);
    assert_seen(seen, "safe", NULL);
    seen = judge(short_holds(20000000, 30000000), NULL, false);
    assert_bound(seen, 0);
    assert_seen(seen, "safe",
                "hardly tested: holders were inside for 20 ms, and a round trip took 30 ms");
    seen = json_of(merged(result_of(tested_run(1000, 10), NULL, false),
                          result_of(short_holds(20000000, 30000000), NULL, false)));
    assert_bound(seen, 0);
    json_decref(seen);
    seen = judge(short_holds(20000000, 30000000), NULL, true);
    assert_bound(seen, 0.95);
    assert_seen(seen, "safe", NULL);
}

TEST_MAIN(NULL, NULL)
