/* test_stage: known answers: whole stages on `sim`, `null` and locks of this machine, whose figures
 * can be predicted. No bound here is about speed: each follows from what the script makes
 * impossible. */
#include <string.h>

#include <math.h>

#include "bench/tests/stage_help.h"
#include "drivers/registry.h"

TEST(test_null_records_everything) {
    struct stage *stage = run_stage_of("null", SETS("load.clients=3"));
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_true(stage->result.attempts > 100);
    assert_int_equal(sum_outcomes(stage), stage->result.attempts);
    assert_int_equal(stage->result.ok, stage->result.attempts);
    assert_int_equal(stage->result.grants, stage->result.attempts);
    static const enum metric always[] = {METRIC_ACQUIRE, METRIC_ACQUIRE_DUE, METRIC_RELEASE,
                                         METRIC_HOLD, METRIC_LAG};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        assert_int_equal(stage->hist[always[i]]->count, stage->result.attempts);
    }
    assert_int_equal(stage->hist[METRIC_WAIT_FAILED]->count, 0);
    /* each client has a cell of its own */
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    uint64_t sum = 0;
    for (int i = 0; i < 3; i++) sum += stage->grants_per_client[i];
    assert_int_equal(sum, stage->result.grants);
    stage_free(stage);
}

TEST(test_service_time_is_what_acquire_takes) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=1", "sim.service=2ms", "run.duration=200ms"));
    assert_int_equal(stage->status, STAGE_COMPLETE);
    /* A timer is never early, so no acquire is shorter; each cycle is two services, so there can't
     * be more than window / 4 ms cycles begun, and the one at its edge. */
    assert_true(stage->hist[METRIC_ACQUIRE]->min >= 2 * LB_MS_NS);
    assert_true(stage->hist[METRIC_RELEASE]->min >= 2 * LB_MS_NS);
    assert_true(stage->result.attempts >= 1 && stage->result.attempts <= 51);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    /* One command each to acquire and to release. */
    assert_int_equal(stage->commands, 2 * stage->result.attempts);
    assert_true(stage->hist[METRIC_PING]->count > 0);
    stage_free(stage);
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
    assert_true(hist_quantile(due, 0.8) >= 190 * LB_MS_NS);
    assert_true(due->max >= 390 * LB_MS_NS);
    /* At most two calls can begin in a freeze with one client: an acquire and the ping. */
    assert_true(hist_quantile(service, 0.9) < 190 * LB_MS_NS);
    /* All slots of the freeze but the first fell due while the one client was busy, or while the machine
     * was. */
    assert_true(stage->result.queued + stage->result.stalled >= 78);
    stage_free(stage);
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
    stage_free(stage);
}

/* Clients that started late, on a busy machine, find a short queue when they ask in the window. */
static bool granted_the_warm_up_only(const struct stage *stage) {
    return stage->result.grants == 0 && stage->result.throughput_per_s > 0;
}

/* The second client asked in the warm-up and is granted in the window, so it is checked; who asked in the window is not
 * served before the drain ends. */
TEST(test_grants_to_who_asked_in_the_warm_up_are_checked) {
    struct stage *stage =
        run_stage_as("mem-mutex", &(struct stage_wish){.until = granted_the_warm_up_only},
                     SETS("load.clients=2", "load.hold=600ms", "load.think=5s", "run.warmup=500ms",
                          "run.duration=400ms", "run.drain=10ms"));
    assert_true(stage->result.grants == 0);
    assert_true(stage->result.throughput_per_s > 0);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    stage_free(stage);
}

static bool warns_under(struct stage *stage, enum arrival_kind arrival, const char *words) {
    const struct plan plan = {.name = "test", .arrival.kind = arrival};
    const struct plan_lock lock = {.lock = registry_lock("sim")};
    const struct stage_ask ask = {.of = {.plan = &plan, .lock = &lock}};
    stage->ask = &ask;
    json_t *warnings = stage_warnings(stage);
    stage->ask = NULL;
    bool has = any_text_has(warnings, words);
    json_decref(warnings);
    return has;
}

static bool warns_of(struct stage *stage, const char *words) {
    return warns_under(stage, ARRIVAL_CONSTANT, words);
}

/* Of 10 s that clients waited in the window, the percentiles have what they were given here. */
TEST(test_waits_that_no_percentile_has_are_told) {
    static const char words[] = "% of the time that clients waited is in no percentile of acquire";
    struct stage *stage = run_stage_of("sim", SETS("load.clients=1", "sim.service=50us"));
    assert_false(warns_under(stage, ARRIVAL_CLOSED, words));
    struct run_latency *acquire = &stage->result.latency[METRIC_ACQUIRE];
    stage->result.arrival = "closed";
    stage->result.state_waiting_ns = 10e9;
    stage->result.state_connecting_ns = 90e9; /* no part of acquire, so no percentile lacks it */
    *acquire = stage->result.latency[METRIC_WAIT_FAILED] =
        (struct run_latency){.count = 4, .mean = 1e9};
    assert_true(warns_under(stage, ARRIVAL_CLOSED, "at least 20 % of the time"));
    stage->result.arrival = "constant:1/s"; /* acquire_due counts from due */
    assert_false(warns_under(stage, ARRIVAL_CONSTANT, words));
    stage->result.arrival = "closed";
    acquire->count = 6;
    assert_false(warns_under(stage, ARRIVAL_CLOSED, words));
    stage_free(stage);
}

/* Where acquire.bound means nothing, a bound would say that several may hold a key. */
TEST(test_a_mutex_has_no_bound) {
    struct stage *stage = run_stage_of("sim", SETS("load.clients=1", "sim.service=50us"));
    assert_true(isnan(stage->result.bound));
    stage_free(stage);
    stage = run_stage_of("mem-semaphore", SETS("load.clients=1", "acquire.bound=3"));
    assert_true(stage->result.bound == 3);
    stage_free(stage);
}

/* 150/s are more than a key carries that has one holder at a time, and no more than its four slots do. */
TEST(test_a_divided_key_carries_more_than_one_holder_does) {
    static const char words[] = "150/s is more than 1/(hold + handoff) of one key";
    struct lb_lock divided = *registry_lock("sim");
    const struct plan plan = {
        .name = "test", .arrival.kind = ARRIVAL_POISSON, .keys = {KEYS_UNIFORM, .count = 1}};
    struct stage *stage = run_stage_of("sim", SETS("load.clients=1", "sim.service=50us"));
    hist_record_times(stage->hist[METRIC_HANDOFF], 5 * LB_MS_NS, 1000);
    hist_record_times(stage->hist[METRIC_HOLD], 5 * LB_MS_NS, 100000);
    stage->offered_per_s = 150;
    divided.caps |= LB_CAP_SLOTS;
    for (int i = 0; i < 2; i++) {
        const struct plan_lock lock = {.lock = i ? registry_lock("sim") : &divided};
        const struct stage_ask ask = {.of = {.plan = &plan, .lock = &lock}};
        stage->ask = &ask;
        json_t *warnings = stage_warnings(stage);
        assert_int_equal(any_text_has(warnings, words), i);
        json_decref(warnings);
    }
    stage_free(stage);
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
        stage_free(stage);
    }
}

/* A late start is the fault of the load generator, or of a pool that is too small because the lock
 * keeps its clients waiting. */
TEST(test_late_starts_are_told_apart) {
    struct stage *stage = run_stage_of("sim", SETS("load.clients=1", "sim.service=50us"));
    assert_false(warns_of(stage, "starts were late"));
    for (int i = 0; i < 1000000; i++) hist_record(stage->hist[METRIC_LAG], 5 * LB_MS_NS);
    stage->result.stood_still_ns = 0;
    stage->result.due = 1000;
    stage->result.queued = 9;
    assert_true(warns_of(
        stage, "generator-limited: starts were late by 5.0 ms at p99 although clients were free"));
    assert_false(warns_of(stage, "clients were busy"));
    stage->result.queued = 500;
    assert_true(warns_of(stage, "500 of 1000 arrivals fell due while all clients were busy"));
    assert_false(warns_of(stage, "were free"));
    stage_free(stage);
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
        assert_true(result->inside_mean_ns >= 200e3);
        stage_free(stage);
    }
}

/* Holders that are inside for less than a round trip have gone before a second grant could meet them. */
TEST(test_what_is_hardly_tested_has_no_bound) {
    static const char *const holds[] = {"load.hold=0", "load.hold=20ms"};
    for (int i = 0; i < 2; i++) {
        struct stage *stage = run_stage_of(
            "sim", SETS("load.clients=4", holds[i], "sim.service=1ms", "run.duration=500ms"));
        assert_string_equal(stage->result.verdict, "clean");
        assert_true(stage->result.tested_grants > 3);
        assert_int_equal(isnan(stage->result.bound95), i == 0);
        stage_free(stage);
    }
}

TEST(test_lost_releases_wait_for_the_lease) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=2", "sim.lose_every=3", "acquire.lease=60ms",
                                 "run.duration=500ms", "sim.service=0"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN); /* forgotten is not broken */
    assert_int_equal(stage->status, STAGE_COMPLETE);
    /* A third of the releases is lost, so at least a fifth of the acquires had to sit out a
     * lease. */
    assert_true(stage->result.max_wait_ns >= 55 * LB_MS_NS);
    assert_true(hist_quantile(stage->hist[METRIC_ACQUIRE], 0.95) >= 50 * LB_MS_NS);
    stage_free(stage);
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
    stage_free(stage);
}

TEST(test_a_holder_past_its_lease_is_told_apart) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=2", "load.hold=40ms", "acquire.lease=10ms",
                                 "run.duration=400ms", "sim.service=0"));
    assert_int_equal(stage->exclusion.verdict, VERDICT_EXPIRED);
    assert_int_equal(stage->exclusion.double_holders, 0);
    assert_true(stage->exclusion.expired_holders > 0);
    assert_true(stage->result.lost > 0); /* the release said so */
    stage_free(stage);
}

TEST(test_try_is_busy) {
    struct stage *stage = run_stage_of(
        "sim", SETS("load.clients=4", "acquire.mode=try", "load.hold=5ms", "sim.service=200us"));
    assert_true(stage->result.busy > 0);
    assert_int_equal(stage->result.timeout, 0);
    assert_int_equal(stage->hist[METRIC_WAIT_FAILED]->count, stage->result.busy);
    assert_int_equal(sum_outcomes(stage), stage->result.attempts);
    stage_free(stage);
}

TEST(test_timed_times_out) {
    struct stage *stage =
        run_stage_of("sim", SETS("load.clients=4", "acquire.mode=timed", "acquire.timeout=5ms",
                                 "load.hold=20ms", "sim.service=0", "run.duration=300ms"));
    assert_true(stage->result.timeout > 0);
    assert_true(stage->hist[METRIC_WAIT_FAILED]->min >= 5 * LB_MS_NS);
    stage_free(stage);
}

static bool was_handed_on(const struct stage *stage) {
    return stage->hist[METRIC_HANDOFF]->count > 0;
}

/* Three clients wait while one holds for 3 ms, so the waiter of each handoff began to wait before
 * the release. (A mutex of threads may give one client all grants of a window.) */
TEST(test_handoff_is_of_those_who_waited) {
    struct stage *stage =
        run_stage_as("mem-mutex", &(struct stage_wish){.until = was_handed_on},
                     SETS("load.clients=4", "load.hold=3ms", "run.duration=1s", "run.warmup=50ms"));
    const struct hist *handoff = stage->hist[METRIC_HANDOFF];
    assert_true(handoff->count > 0);
    assert_true(handoff->count <= (int64_t)stage->result.grants);
    /* The lock was free for the time of a handoff only, so that no two handoffs lie side by side:
     * all together are no longer than the stage. The waits of three clients would be. */
    double all_ns = hist_mean(handoff) * (double)handoff->count;
    assert_true(all_ns <= (double)(stage->warmup_ns + stage->window_ns + stage->drain_ns));
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->threads, 4);
    stage_free(stage);
}

/* Attempts in progress at the window's end count: the only attempt of the window ends long after
 * it. */
TEST(test_what_is_in_flight_is_drained) {
    struct stage *stage = run_stage_of(
        "sim", SETS("load.clients=1", "run.warmup=0", "run.duration=50ms", "sim.service=200ms"));
    assert_int_equal(stage->result.attempts, 1);
    assert_int_equal(stage->result.ok, 1);
    assert_true(stage->hist[METRIC_ACQUIRE]->min >= 200 * LB_MS_NS);
    assert_true(stage->drain_ns >= 300 * LB_MS_NS);
    stage_free(stage);
}

static bool was_unchecked(const struct stage *stage) {
    return strcmp(stage->result.verdict, "unchecked") == 0;
}

/* A lock that nobody frees: the drain limit ends the waits, and they are counted. Nothing was granted in the window, so
 * nothing was checked. (On a busy machine the only grant may come as late as in the window.) */
TEST(test_the_drain_limit_ends_waits) {
    struct stage *stage =
        run_stage_as("sim", &(struct stage_wish){.until = was_unchecked},
                     SETS("load.clients=3", "sim.lose_every=1", "acquire.lease=1h",
                          "run.duration=100ms", "run.drain=200ms", "sim.service=0"));
    assert_int_equal(sum_outcomes(stage), stage->result.attempts);
    assert_true(stage->drain_ns >= 150 * LB_MS_NS);
    assert_int_equal(stage->exclusion.grants, 1);
    assert_true(stage->result.starved == 3); /* also those whose wait began in the warm-up */
    /* 300 ms without a grant may be a slow server's */
    assert_string_equal(stage->result.verdict, "unchecked");
    assert_true(stage->result.max_wait_ns >= 250 * LB_MS_NS); /* window, drain, part of warm-up */
    const json_t *second = json_array_get(stage->result.series, 0);
    assert_true(json_is_null(json_object_get(second, "acquire_p50_ns")));
    assert_true(json_is_null(json_object_get(second, "acquire_p99_ns")));
    assert_true(any_text_has(stage->result.warnings, "had to end 3 waits:"));
    assert_true(
        any_text_has(stage->result.warnings, "at least 100 % of the time that clients waited"));
    stage_free(stage);
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
    stage_free(stage);
}

/* 30 slots for a client that takes 20 ms for each: it starts about half of them within the window, and with a promise
 * all of them, because slots may then start within the promise's limit after the window. */
TEST(test_slots_of_a_promise_may_start_after_the_window) {
    const char *const *sets =
        SETS("load.clients=1", "load.arrival=constant:100/s", "load.hold=20ms", "run.warmup=0",
             "run.duration=300ms", "run.drain=20s");
    struct stage *stage = run_stage_of("mem-mutex", sets);
    assert_int_equal(stage->result.due, 30);
    assert_true(stage->result.missed >= 15);
    stage_free(stage);
    struct stage_wish wish = {.promise = {METRIC_ACQUIRE_DUE, 0.99, 20 * LB_S_NS}};
    stage = run_stage_as("mem-mutex", &wish, sets);
    assert_int_equal(stage->result.due, 30);
    assert_int_equal(stage->result.missed, 0);
    assert_int_equal(stage->hist[METRIC_ACQUIRE_DUE]->count, 30);
    stage_free(stage);
}

/* The times of the clients' states add up to clients x window, whatever the clients do. */
TEST(test_states_add_up_to_the_window) {
    static const struct {
        const char *lock, *load, *other;
        bool churn;
    } cases[] = {{"sim", "load.hold=1ms", "load.think=exponential:2ms", false},
                 {"sim", "load.arrival=poisson:300/s", "sim.service=1ms", false},
                 {"sim", "load.hold=300ms", "run.warmup=100ms", false}, /* outlasts the window */
                 {"sim", "load.hold=1ms", "sim.service=100us", true},
                 {"mem-mutex", "load.hold=1ms", "acquire.mode=wait", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage *stage =
            run_stage_as(cases[i].lock, &(struct stage_wish){.churn = cases[i].churn},
                         SETS("load.clients=3", cases[i].load, cases[i].other));
        const struct run_stage *result = &stage->result;
        double sum = result->state_connecting_ns + result->state_thinking_ns +
                     result->state_waiting_ns + result->state_holding_ns +
                     result->state_releasing_ns + result->state_idle_ns;
        assert_true(sum == 3.0 * (double)stage->window_ns);
        assert_true(result->state_waiting_ns > 0 || result->state_idle_ns > 0);
        assert_true((result->state_thinking_ns > 0) == (i == 0));
        stage_free(stage);
    }
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
            run_stage_as(stages[i].lock, &(struct stage_wish){.readers = 50}, sets);
        if (stage->status != STAGE_COMPLETE) fail_msg("%s: %s", stages[i].lock, stage->err.text);
        stage_free(stage);
    }
}

/* The window lies in one client's hold and in the other one's wait: no attempt begins in it, and the
 * wait is the longest of all. */
TEST(test_a_wait_that_spans_the_window_counts) {
    struct stage *stage = run_stage_of(
        "sim", SETS("load.clients=2", "load.hold=400ms", "sim.service=0", "run.warmup=100ms"));
    assert_true(stage->result.max_wait_ns >= 150 * LB_MS_NS);
    if (stage->result.grants == 0) assert_string_equal(stage->result.verdict, "unchecked");
    assert_true(stage->result.starved == 0);
    stage_free(stage);
}

/* On a busy machine the client may begin to hold as late as in the window. */
static bool held_all_along(const struct stage *stage) {
    return stage->result.attempts == 0;
}

/* A client that only holds has waited for nothing. */
TEST(test_nobody_waited) {
    struct stage *stage = run_stage_as("sim", &(struct stage_wish){.until = held_all_along},
                                       SETS("load.clients=1", "load.hold=400ms"));
    assert_true(stage->result.attempts == 0);
    assert_true(isnan(stage->result.max_wait_ns));
    assert_string_equal(stage->result.verdict, "unchecked");
    stage_free(stage);
}

/* Some requests wait at the window's end by chance; a rate that is too high leaves many. */
TEST(test_requests_that_wait_when_the_window_ends) {
    struct stage *stage = run_stage_of("sim", SETS("load.clients=1", "sim.service=50us"));
    stage->result.due = 1000;
    stage->result.queued = 0;
    stage->result.missed = 1;
    assert_false(warns_of(stage, "does not carry this rate"));
    stage->result.missed = 60;
    assert_false(warns_of(stage, "does not carry this rate"));
    stage->result.missed = 70; /* more than two standard deviations of 1,000 arrivals */
    assert_true(warns_of(stage, "70 of 1000 arrivals could not be started"));
    stage_free(stage);
}

/* True if each thread's idle time was measured in the short time before the load. */
static bool idle_is_known(const struct stage *stage) {
    return stage->result.client_idle_ns_per_s > 0 &&
           !isnan(stage->result.client_cpu_net_ns_per_grant);
}

/* The processor time of an idle program is no cost of a grant. If grants are few, it is most of the
 * processor time. */
TEST(test_idle_time_is_measured_apart) {
    struct stage *stage = run_stage_as(
        "sim", &(struct stage_wish){.until = idle_is_known},
        SETS("load.clients=1", "load.hold=20ms", "sim.service=0", "run.duration=400ms"));
    const struct run_stage *result = &stage->result;
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_true(result->idle_s >= 0.05);
    assert_true(result->client_idle_ns_per_s > 0);
    assert_true(result->client_cpu_net_ns_per_grant >= 0);
    assert_true(result->client_cpu_net_ns_per_grant < result->client_cpu_ns_per_grant);
    double idle_ns = result->client_idle_ns_per_s * (double)stage->window_ns / 1e9;
    double net_ns = fmax(result->client_cpu_ns_per_grant * result->grants - idle_ns, 0);
    assert_true(fabs(net_ns - result->client_cpu_net_ns_per_grant * result->grants) < 1);
    assert_true(isnan(result->server_idle_ns_per_s)); /* it has no server */
    print_message("client CPU a grant: %.0f ns, net %.0f ns\n", result->client_cpu_ns_per_grant,
                  result->client_cpu_net_ns_per_grant);
    stage_free(stage);
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
        struct stage_wish wish = {.enough = at_once, .stands_still = true};
        struct stage *stage = run_stage_as(
            "sim", &wish,
            SETS("load.clients=3", waits[i], "run.duration=1h", "run.drain=20s", "sim.service=0"));
        assert_int_equal(stage->status, STAGE_COMPLETE);
        assert_true(stage->window_ns < 3600 * LB_S_NS);
        if (stage->drain_ns >= 20 * LB_S_NS) fail_msg("%s: it drained to its limit", waits[i]);
        assert_true(sum_outcomes(stage) == stage->result.attempts);
        assert_true(stage->result.starved == 0);
        stage_free(stage);
    }
}

/* The control, a lock that excludes nobody, is caught: by threads, by clients of one thread and by processes. */
TEST(test_the_control_is_caught) {
    static const char *const sets[][3] = {{"load.clients=2"},
                                          {"load.clients=2", "load.threads=1"},
                                          {"load.clients=4", "load.processes=2"}};
    for (int i = 0; i < 3; i++) {
        struct stage *stage = run_stage_as(
            "unsafe-none", &(struct stage_wish){.until = was_violated, .grows = true}, sets[i]);
        assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
        if (i == 1) assert_true(stage->exclusion.lost_updates > 0);
        stage_free(stage);
    }
}

TEST_MAIN(NULL, NULL)
