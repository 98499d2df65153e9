/* test_stage: known answers: whole stages on `sim`, `null` and locks of this machine, whose figures
 * can be predicted. No bound here is about speed: each follows from what the script makes
 * impossible. */

#include <math.h>

#include "bench/tests/stage_help.h"
#include "drivers/registry.h"

TEST(test_service_time_is_what_acquire_takes) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=1", "sim.service=2ms", "run.duration=200ms"));
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_takes(stage->hist[METRIC_ACQUIRE]->min, 2 * LB_MS_NS);
    assert_takes(stage->hist[METRIC_ACQUIRE]->max, 2 * LB_MS_NS);
    assert_takes(stage->hist[METRIC_RELEASE]->min, 2 * LB_MS_NS);
    assert_in_range(stage->result.attempts, 49, 50); /* each is two services */
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    /* One command each to acquire and to release. */
    assert_int_equal(stage->commands, 2 * stage->result.attempts);
    assert_true(stage->hist[METRIC_PING]->count > 0);
}

/* The example of wrk2's README: a server that freezes. Due-based latency must show the wait of
 * every slot that fell into the freeze; latency from the start shows one slow operation. */
TEST(test_a_freeze_shows_in_due_latency) {
    struct stage *stage = run_stage_of(
        "sim", SETS("load.clients=1", "load.arrival=constant:200/s", "sim.service=0",
                    "run.warmup=0", "run.duration=1s", "sim.stall_after=300ms", "sim.stall=400ms"));
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_int_equal(stage->result.due, 200);
    assert_int_equal(stage->result.started + stage->result.missed, stage->result.due);
    const struct hist *due = stage->hist[METRIC_ACQUIRE_DUE],
                      *service = stage->hist[METRIC_ACQUIRE];
    /* The freeze holds back 80 of the 200 slots; their waits run evenly from 400 ms down: at least
     * a fifth of all waited 200 ms or more. */
    assert_true(hist_quantile(due, 0.8) >= 195 * LB_MS_NS);
    assert_in_range(due->max, 395 * LB_MS_NS, 400 * LB_MS_NS);
    /* At most two calls can begin in a freeze with one client: an acquire and the ping. */
    assert_true(hist_quantile(service, 0.9) < 190 * LB_MS_NS);
    /* All slots of the freeze but the first fell due while the one client was busy. */
    double held_back = stage->result.queued + stage->result.stalled;
    assert_true(held_back >= 78);
    assert_true(stage->result.stalled == 0); /* the server stood still, and we did not */
    assert_true(any_text_has(stage->result.warnings, "clients were busy"));
}

/* Counts the grants of the series, in the window and after it. */
static void count_series(const struct stage *stage, double *ret_window, double *ret_drain) {
    *ret_window = *ret_drain = 0;
    for (int i = 0; i < stage->second_count; i++) {
        const struct stage_second *second = &stage->seconds[i];
        *(second->draining ? ret_drain : ret_window) += (double)second->ok;
    }
}

/* Eight clients queue for a key that each holds for 100 ms. In a window of 500 ms the lock can grant at most six times,
 * though eight clients more ask in it and are granted the key while the stage drains. */
TEST(test_throughput_counts_the_grants_of_the_window_only) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=8", "load.hold=100ms", "sim.service=0",
                                 "run.warmup=0", "run.duration=500ms", "run.drain=10s"));
    double window, drain;
    count_series(stage, &window, &drain);
    assert_true(stage->result.throughput_per_s * (double)stage->window_ns / 1e9 < 6.5);
    assert_true(window > 0 && drain > 0);
    assert_true(window + drain == stage->result.ok);
}

/* The second client asked in the warm-up and is granted in the window, so it is checked; who asked in the window is not
 * served before the drain ends. */
TEST(test_grants_to_who_asked_in_the_warm_up_are_checked) {
    struct stage *stage =
        run_stage_of("mem-mutex", SETS("load.clients=2", "load.hold=600ms", "load.think=5s",
                                       "run.warmup=500ms", "run.duration=400ms", "run.drain=10ms"));
    assert_true(stage->result.grants == 0);
    assert_true(stage->result.throughput_per_s > 0);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
}

/* How late an attempt started does not depend on whether it is granted. */
TEST(test_attempts_without_a_grant_have_a_lag) {
    const char *const sets[][6] = {{"load.arrival=constant:200/s", "load.clients=4",
                                    "load.hold=20ms", "acquire.mode=try", "sim.service=50us", NULL},
                                   {"load.think=1ms", "load.clients=4", "load.hold=20ms",
                                    "acquire.mode=timed", "acquire.timeout=5ms", NULL}};
    for (int i = 0; i < 2; i++) {
        struct stage *stage = run_stage_of("sim", sets[i]);
        assert_true(stage->result.grants < stage->result.attempts);
        assert_true((double)stage->hist[METRIC_LAG]->count == stage->result.attempts);
    }
}

/* A grant tests the lock if its client had to wait for another holder. With a key for each client no grant does. */
TEST(test_who_waited_put_the_lock_to_the_test) {
    static const char *const keys[] = {"load.keys=1", "load.keys=own"};
    for (int i = 0; i < 2; i++) {
        struct stage *stage = run_stage_of(
            "sim", SETS("load.clients=4", keys[i], "load.hold=200us", "sim.service=50us"));
        const struct run_stage *result = &stage->result;
        assert_string_equal(result->verdict, i == 0 ? "clean" : "untested");
        if (i == 0) {
            assert_true(result->tested_grants > result->checked_grants / 2);
            assert_true(result->tested_grants <
                        result->checked_grants); /* the first waits for none */
            assert_true(fabs(result->bound95 * result->tested_grants - 3) < 1e-9);
        } else {
            assert_true(result->tested_grants == 0);
            assert_true(isnan(result->bound95));
        }
        assert_takes(result->inside_mean_ns, 200 * LB_US_NS);
    }
}

TEST(test_unknown_is_neither_success_nor_failure) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=2", "sim.unknown_every=4", "sim.service=50us",
                                 "acquire.lease=1h", "run.drain=20s"));
    assert_true(stage->result.unknown > 0);
    assert_true(stage->result.ok > 0);
    assert_int_equal(sum_outcomes(stage), stage->result.attempts);
    /* The unknown attempts were settled: no client still waited for the end of the lease of an hour
     * when the stage ended, and no client entered beside a forgotten grant. */
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_true(stage->result.starved == 0);
    assert_string_equal(stage->err.text, "sim: answer lost");
    assert_int_equal(stage->status, STAGE_COMPLETE);
}

/* Three clients wait while one holds for 3 ms, so the waiter of each handoff began to wait before
 * the release. (A mutex of threads may give one client all grants of a window.) */
TEST(test_handoff_is_of_those_who_waited) {
    struct stage *stage =
        run_stage_of("mem-mutex", SETS("load.clients=4", "load.hold=3ms", "load.think=1ms",
                                       "run.duration=1s", "run.warmup=50ms"));
    const struct hist *handoff = stage->hist[METRIC_HANDOFF];
    assert_true(handoff->count > 0);
    assert_true(handoff->count <= (int64_t)stage->result.grants);
    /* The lock was free for the time of a handoff only, so that no two handoffs lie side by side:
     * all together are no longer than the stage. The waits of three clients would be. */
    double all_ns = hist_mean(handoff) * (double)handoff->count;
    assert_true(all_ns <= (double)(stage->warmup_ns + stage->window_ns + stage->drain_ns));
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->result.threads, 4);
    /* One client alone waits for nobody. */
    stage = run_stage_of("mem-mutex", SETS("load.clients=1"));
    assert_true(stage->result.grants > 0);
    assert_int_equal(stage->hist[METRIC_HANDOFF]->count, 0);
}

/* Attempts in progress at the window's end count: the only attempt of the window ends long after
 * it. */
TEST(test_what_is_in_flight_is_drained) {
    struct stage *stage = run_stage_of(
        "sim", SETS("load.clients=1", "run.warmup=0", "run.duration=50ms", "sim.service=200ms"));
    assert_int_equal(stage->result.attempts, 1);
    assert_int_equal(stage->result.ok, 1);
    assert_takes(stage->hist[METRIC_ACQUIRE]->min, 200 * LB_MS_NS);
    assert_in_range(stage->drain_ns, 350 * LB_MS_NS, 353 * LB_MS_NS);
}

/* A lock that nobody frees: the drain limit ends the waits, and they are counted. Nothing was granted in the window, so
 * nothing was checked. */
TEST(test_the_drain_limit_ends_waits) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=3", "sim.lose_every=1", "acquire.lease=1h",
                                 "run.duration=100ms", "run.drain=200ms", "sim.service=0"));
    assert_int_equal(sum_outcomes(stage), stage->result.attempts);
    assert_in_range(stage->drain_ns, 200 * LB_MS_NS, 203 * LB_MS_NS);
    assert_int_equal(stage->exclusion.grants, 1);
    assert_true(stage->result.starved == 3); /* also those whose wait began in the warm-up */
    /* 300 ms without a grant may be a slow server's */
    assert_string_equal(stage->result.verdict, "unchecked");
    assert_in_range(stage->result.max_wait_ns, 345 * LB_MS_NS,
                    351 * LB_MS_NS); /* warm-up, window, drain */
    const json_t *second = json_array_get(stage->result.series, 0);
    assert_true(json_is_null(json_object_get(second, "acquire_p50_ns")));
    assert_true(json_is_null(json_object_get(second, "acquire_p99_ns")));
    assert_true(any_text_has(stage->result.warnings, "had to end 3 waits:"));
    assert_true(
        any_text_has(stage->result.warnings, "at least 100 % of the time that clients waited"));
}

/* No client was free for the slots of the schedule, not even after the cut-off: the slots are
 * counted nevertheless. */
TEST(test_slots_that_nobody_came_to) {
    struct stage *stage = run_stage_of(
        "mem-mutex", SETS("load.clients=1", "load.arrival=constant:100/s", "load.hold=2s",
                          "run.warmup=0", "run.duration=300ms", "run.drain=50ms"));
    assert_int_equal(stage->result.started, 1);
    assert_int_equal(stage->result.due, 30);
    assert_int_equal(stage->result.missed, 29);
    assert_true(stage->result.queued >= 29);
}

/* 30 slots for a client that takes 20 ms for each: it starts about half of them within the window, and with a promise
 * all of them, because slots may then start within the promise's limit after the window. */
TEST(test_slots_of_a_promise_may_start_after_the_window) {
    const char *const *sets =
        SETS("load.clients=1", "load.arrival=constant:100/s", "load.hold=20ms", "run.warmup=0",
             "run.duration=300ms", "run.drain=20s");
    struct stage *stage = run_stage_of("mem-mutex", sets);
    assert_int_equal(stage->result.due, 30);
    assert_int_equal(stage->result.missed, 15);
    struct stage_case wanted = {.promise = {METRIC_ACQUIRE_DUE, 0.99, 20 * LB_S_NS}};
    stage = run_stage_as("mem-mutex", &wanted, sets);
    assert_int_equal(stage->result.due, 30);
    assert_int_equal(stage->result.missed, 0);
    assert_int_equal(stage->hist[METRIC_ACQUIRE_DUE]->count, 30);
}

/* A stage whose figures contradict each other fails. */
TEST(test_every_kind_of_stage_adds_up) {
    static const struct {
        const char *lock;
        const char *sets[8];
    } stages[] = {
        {"sim", {"load.clients=4", "load.hold=1ms"}},
        {"sim", {"load.clients=8", "load.arrival=poisson:2000/s"}},
        {"sim", {"load.clients=8", "load.arrival=constant:700/s", "load.threads=2"}},
        {"sim", {"load.clients=4", "acquire.mode=timed", "acquire.timeout=2ms", "load.hold=1ms"}},
        {"sim", {"load.clients=4", "acquire.mode=try", "load.think=1ms", "load.hold=1ms"}},
        {"sim", {"load.clients=4", "load.processes=2", "load.threads=2"}},
        {"mem-rwlock", {"load.clients=4"}},
        {"mem-semaphore", {"load.clients=6"}},
        /* a thread each, with few arrivals */
        {"mem-mutex", {"load.clients=100", "load.keys=own", "load.arrival=poisson:1500/s"}},
        {"null", {"load.clients=2"}}};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        const char *sets[12] = {"run.duration=100ms", "run.warmup=20ms"};
        int count = 2;
        for (int k = 0; stages[i].sets[k]; k++) sets[count++] = stages[i].sets[k];
        struct stage *stage =
            run_stage_as(stages[i].lock, &(struct stage_case){.readers = 50}, sets);
        if (stage->status != STAGE_COMPLETE) fail_msg("%s: %s", stages[i].lock, stage->err.text);
    }
}

/* The processor time of an idle program is no cost of a grant. If grants are few, it is most of the
 * processor time. */
TEST(test_idle_time_is_measured_apart) {
    struct stage *stage = run_stage_of(
        "sim", SETS("load.clients=1", "load.hold=20ms", "sim.service=0", "run.duration=400ms"));
    const struct run_stage *result = &stage->result;
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_takes(result->idle_s * 1e9, 30 * LB_MS_NS);
    assert_true(result->client_idle_ns_per_s > 0);
    assert_true(result->client_cpu_net_ns_per_grant >= 0);
    assert_true(result->client_cpu_net_ns_per_grant < result->client_cpu_ns_per_grant);
    double idle_ns = result->client_idle_ns_per_s * (double)stage->window_ns / 1e9;
    double net_ns = fmax(result->client_cpu_ns_per_grant * result->grants - idle_ns, 0);
    assert_true(fabs(net_ns - result->client_cpu_net_ns_per_grant * result->grants) < 1);
    assert_true(isnan(result->server_idle_ns_per_s)); /* it has no server */
    print_message("client CPU a grant: %.0f ns, net %.0f ns\n", result->client_cpu_ns_per_grant,
                  result->client_cpu_net_ns_per_grant);
}

static bool at_once(const struct stage *stage) {
    (void)stage;
    return true;
}

/* Clients that wait for their next attempt are woken when the window ends early; otherwise the stage would last until
 * its drain limit. */
TEST(test_an_early_end_wakes_who_waits_for_the_next_attempt) {
    static const char *const waits[] = {"load.think=1h", "load.arrival=constant:0.002/s"};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct stage_case wanted = {.enough = at_once};
        struct stage *stage = run_stage_as(
            "sim", &wanted,
            SETS("load.clients=3", waits[i], "run.duration=1h", "run.drain=20s", "sim.service=0"));
        assert_int_equal(stage->status, STAGE_COMPLETE);
        assert_true(stage->window_ns < 3600 * LB_S_NS);
        if (stage->drain_ns >= 20 * LB_S_NS) fail_msg("%s: it drained to its limit", waits[i]);
        assert_true(sum_outcomes(stage) == stage->result.attempts);
        assert_true(stage->result.starved == 0);
    }
}

/* The control, a lock that excludes nobody, is caught: by threads, by clients of one thread and by processes. */
TEST(test_the_control_is_caught) {
    static const char *const sets[][3] = {{"load.clients=2"},
                                          {"load.clients=2", "load.threads=1"},
                                          {"load.clients=4", "load.processes=2"}};
    for (int i = 0; i < 3; i++) {
        struct stage *stage = run_stage_of("unsafe-none", sets[i]);
        assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
        if (i == 1) assert_true(stage->exclusion.lost_updates > 0);
    }
}

TEST_MAIN(NULL, NULL)
