/* test_capacity: what a search for capacity is asked for, and the verdict of a stage of it on a promise. */
#include <math.h>

#include "bench/stage/harvest.h"
#include "bench/tests/plan_help.h"
#include "bench/tools/capacity/probe.h"
#include "drivers/registry.h"

struct told {
    struct plan plan;
    struct plan_lock lock;
    struct stage_ask ask;
    struct stage stage;
};

/* A complete open-loop stage without values. */
static struct told *told_new(double rate_per_s, int64_t limit_ns) {
    struct told *told = calloc(1, sizeof *told);
    told->plan = (struct plan){.arrival = {ARRIVAL_POISSON, rate_per_s},
                               .keys = {.pick = KEYS_UNIFORM, .count = 1}};
    told->lock.lock = registry_lock("sim");
    told->ask = (struct stage_ask){
        .of = {.plan = &told->plan, .lock = &told->lock, .window_ns = 5 * LB_S_NS},
        .promise = {METRIC_ACQUIRE_DUE, 0.99, limit_ns},
        .id = "000-sim"};
    told->stage = (struct stage){.status = STAGE_COMPLETE,
                                 .offered_per_s = rate_per_s,
                                 .window_ns = 5 * LB_S_NS,
                                 .threads = 1,
                                 .client_cpu_ns = -1,
                                 .stolen_ns = -1};
    told->stage.ask = &told->ask;
    for (int i = 0; i < METRICS; i++) told->stage.hist[i] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    return told;
}

static void told_free(struct told *told) {
    for (int i = 0; i < METRICS; i++) hist_free(told->stage.hist[i]);
    free(told->stage.batches);
    free(told);
}

/* Ten batches with `counted` grants each: `within` of them within 10 ms, the others after 100
 * ms. */
static void tell(struct told *told, int counted, int within) {
    told->stage.batches = calloc(10, sizeof *told->stage.batches);
    told->stage.batch_count = 10;
    for (int b = 0; b < 10; b++) {
        told->stage.batches[b] = (struct stage_batch){.counted = (uint64_t)counted,
                                                      .within = (uint64_t)within,
                                                      .granted = (int64_t)(b + 1) * counted,
                                                      .end_ns = (int64_t)(b + 1) * LB_S_NS / 2};
        for (int i = 0; i < counted; i++) {
            int64_t wait_ns = i < within ? 5 * LB_MS_NS : 100 * LB_MS_NS;
            hist_record(told->stage.hist[METRIC_ACQUIRE_DUE], wait_ns);
            hist_record(told->stage.hist[METRIC_ACQUIRE], wait_ns);
        }
    }
    told->stage.result.due = told->stage.result.started = 10.0 * (double)counted;
}

/* 2000 requests, of which 10 times `within` wait for 5 ms and the others for 100 ms. */
TEST(each_probe_has_its_verdict_and_its_limit) {
    static const struct {
        int within, limit_ms;
        double late_ms, stolen_ms; /* the engine's timers were late by so much; stolen of 5 s */
        double throughput_per_s;
        int missed;
        enum promise_verdict verdict;
        enum probe_limit limit;
    } cases[] = {
        {200, 10, 0, -1, 0, 0, PROMISE_KEPT, PROBE_NOT_LIMITED},
        {198, 10, 0, -1, 0, 0, PROMISE_UNSURE, PROBE_NOT_LIMITED},
        {150, 10, 0, -1, 0, 0, PROMISE_BROKEN, PROBE_NOT_LIMITED},
        {0, 10, 0, -1, 0, 0, PROMISE_BROKEN, PROBE_NOT_LIMITED},
        {200, 10, 0, -1, 0, 300, PROMISE_BROKEN,
         PROBE_NOT_LIMITED}, /* what never started is over */
        /* Lateness is told where it may have decided: broken by 5 ms, and by ten times the lateness; kept by less than
         * the lateness, and by more; and the usual lateness of timers. */
        {100, 95, 10, -1, 0, 0, PROMISE_UNSURE, PROBE_LATE},
        {100, 50, 5, -1, 0, 0, PROMISE_BROKEN, PROBE_NOT_LIMITED},
        {200, 10, 8, -1, 0, 0, PROMISE_KEPT, PROBE_LATE},
        {200, 50, 8, -1, 0, 0, PROMISE_KEPT, PROBE_NOT_LIMITED},
        {100, 95, 0.1, -1, 0, 0, PROMISE_BROKEN, PROBE_NOT_LIMITED},
        /* It adds up in a queue: a waiter waits for the late timers of all clients before it. */
        {100, 50, 2, -1, 300, 0, PROMISE_UNSURE, PROBE_LATE},
        {100, 50, 2, -1, 3, 0, PROMISE_BROKEN, PROBE_NOT_LIMITED},
        /* Stolen time marks both sides: if only the broken ones were left out, the lucky ones would remain. */
        {100, 50, 0, 150, 0, 0, PROMISE_UNSURE, PROBE_STOLEN},
        {200, 50, 0, 150, 0, 0, PROMISE_KEPT, PROBE_STOLEN},
        {100, 50, 0, 90, 0, 0, PROMISE_BROKEN, PROBE_NOT_LIMITED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told *told = told_new(400, cases[i].limit_ms * LB_MS_NS);
        int64_t late_ns = (int64_t)(cases[i].late_ms * 1e6);
        print_message("case %zu\n", i);
        tell(told, 200, cases[i].within);
        told->stage.result.due += cases[i].missed;
        told->stage.result.missed = cases[i].missed;
        told->stage.result.throughput_per_s = cases[i].throughput_per_s;
        told->stage.stolen_ns = cases[i].stolen_ms < 0 ? -1 : (int64_t)(cases[i].stolen_ms * 1e6);
        if (late_ns) told->stage.result.stood_still_ns = 100 * (double)late_ns;
        for (int k = 0; late_ns && k < 100; k++)
            hist_record(told->stage.hist[METRIC_HICCUP], late_ns);
        struct probe probe = probe_read(&told->stage, 400);
        assert_int_equal(probe.verdict, cases[i].verdict);
        assert_int_equal(probe.limit, cases[i].limit);
        assert_int_equal(probe.samples, 2000 + cases[i].missed);
        assert_int_equal(probe.over, 10 * (200 - cases[i].within) + cases[i].missed);
        assert_int_equal(isnan(probe.quantile_ns), cases[i].missed > 0);
        assert_true(probe.measured);
        told_free(told);
    }
}

/* 2000 slots in 5 s: each half second but the last grants each_half of them, and the last one the others, all within
 * the limit. */
static struct probe probe_of_backlog(int each_half) {
    struct told *told = told_new(400, 10 * LB_S_NS);
    tell(told, 200, 200);
    for (int b = 0; b < 9; b++) {
        told->stage.batches[b].counted = told->stage.batches[b].within = (uint64_t)each_half;
        told->stage.batches[b].granted = (int64_t)(b + 1) * each_half;
    }
    struct probe probe = probe_read(&told->stage, 400);
    told_free(told);
    return probe;
}

TEST(a_growing_backlog_breaks_the_promise) {
    struct probe probe = probe_of_backlog(200);
    assert_false(probe.grew);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    assert_true(fabs(probe.served_per_s - 1799 / 4.5) < 0.01);
    /* 1800 were due: 108 fewer are within three standard deviations, 144 fewer are not. */
    assert_false(probe_of_backlog(188).grew);
    probe = probe_of_backlog(184);
    assert_true(probe.grew);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    assert_true(fabs(probe.served_per_s - 1655 / 4.5) < 0.01);
    assert_true(probe_result(&probe, 0.01).grew);
}

/* 7500 slots in 10 s, each granted at once and held for a second: its values are known a second later. */
TEST(grants_that_are_still_held_are_no_backlog) {
    struct told *told = told_new(750, 10 * LB_MS_NS);
    told->ask.of.window_ns = told->stage.window_ns = 10 * LB_S_NS;
    told->stage.batches = calloc(20, sizeof *told->stage.batches);
    for (int b = 0; b < 20; b++) {
        uint64_t values = b < 2 ? 0 : b < 19 ? 375 : 3 * 375;
        told->stage.batches[b] = (struct stage_batch){.counted = values,
                                                      .within = values,
                                                      .granted = (int64_t)(b + 1) * 375,
                                                      .end_ns = (int64_t)(b + 1) * LB_S_NS / 2};
    }
    for (int i = 0; i < 7500; i++) {
        hist_record(told->stage.hist[METRIC_ACQUIRE_DUE], LB_MS_NS);
        hist_record(told->stage.hist[METRIC_HOLD], LB_S_NS);
    }
    told->stage.result.due = told->stage.result.started = 7500;
    for (told->stage.batch_count = 1; told->stage.batch_count < 20; told->stage.batch_count++)
        assert_false(promise_is_hopeless(&told->stage, told->stage.batch_count * LB_S_NS / 2));
    struct probe probe = probe_read(&told->stage, 750);
    assert_false(probe.grew);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    assert_true(fabs(probe.served_per_s - 7124 / 9.5) < 0.01);
    /* Every second one is granted: the others wait, whatever the holds last. */
    for (int b = 0; b < 20; b++) told->stage.batches[b].granted /= 2;
    assert_true(probe_read(&told->stage, 750).grew);
    told->stage.batch_count = 2;
    assert_true(promise_is_hopeless(&told->stage, LB_S_NS));
    told_free(told);
}

/* 2000/s for 5 s, each granted wait_ns after it was due, as by servers that are far away; the limit is 200 ms. */
static struct probe probe_of_far(int64_t wait_ns, double served_part) {
    struct told *told = told_new(2000, 200 * LB_MS_NS);
    tell(told, 1000, 0);
    hist_reset(told->stage.hist[METRIC_ACQUIRE_DUE]);
    for (int i = 0; i < 10000; i++) hist_record(told->stage.hist[METRIC_ACQUIRE_DUE], wait_ns);
    for (int b = 0; b < 10; b++) {
        struct stage_batch *batch = &told->stage.batches[b];
        batch->within = wait_ns <= 200 * LB_MS_NS ? batch->counted : 0;
        batch->granted =
            (int64_t)(served_part * 2000 * (double)(batch->end_ns - wait_ns) / (double)LB_S_NS);
    }
    struct probe probe = probe_read(&told->stage, 2000);
    told_free(told);
    return probe;
}

TEST(what_is_on_its_way_for_as_long_as_every_request_is_no_backlog) {
    struct probe probe = probe_of_far(180 * LB_MS_NS, 1);
    assert_false(probe.grew);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    assert_true(probe_of_far(180 * LB_MS_NS, 0.95).grew);
    /* A wait beyond the limit is no excuse. */
    assert_true(probe_of_far(2 * LB_S_NS, 1).grew);
}

TEST(our_own_fault_is_never_the_locks) {
    struct probe probe;
    /* Attempts were served soon after their start; they had waited for a free client of the load
     * generator. */
    struct told *told = told_new(400, 10 * LB_MS_NS);
    tell(told, 200, 100);
    hist_reset(told->stage.hist[METRIC_ACQUIRE]);
    for (int i = 0; i < 2000; i++) {
        hist_record(told->stage.hist[METRIC_ACQUIRE], LB_MS_NS);
        hist_record(told->stage.hist[METRIC_LAG], i < 1000 ? 1000 : 90 * LB_MS_NS);
    }
    probe = probe_read(&told->stage, 400);
    assert_int_equal(probe.limit, PROBE_POOL);
    assert_int_equal(probe.verdict, PROMISE_UNSURE);
    /* But if the one key was busy all the time (380/s for 2.5 ms each), more clients would not
     * help. */
    told->stage.result.throughput_per_s = 380;
    for (int i = 0; i < 100; i++) {
        hist_record(told->stage.hist[METRIC_HOLD], LB_MS_NS);
        hist_record(told->stage.hist[METRIC_HANDOFF], 3 * LB_MS_NS / 2);
    }
    probe = probe_read(&told->stage, 400);
    assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    told->plan.keys.count = 2;
    assert_int_equal(probe_read(&told->stage, 400).limit, PROBE_POOL);
    told_free(told);
}

/* 1730 slots of which none was granted, in a window of one part: nobody looked at it before its end. */
static struct probe probe_of_nothing(double stalled) {
    struct told *told = told_new(346, 200 * LB_MS_NS);
    told->stage.batches = calloc(1, sizeof *told->stage.batches);
    told->stage.batches[0].end_ns = told->stage.window_ns;
    told->stage.batch_count = 1;
    told->stage.result.due = told->stage.result.missed = 1730;
    told->stage.result.stalled = stalled;
    told->stage.result.stood_still_ns = isnan(stalled) ? NAN : stalled > 0 ? 5e9 : 0;
    if (stalled > 0) hist_record(told->stage.hist[METRIC_HICCUP], 5 * LB_S_NS);
    struct probe probe = probe_read(&told->stage, 346);
    told_free(told);
    return probe;
}

/* What fell due while lockbench stood still is not the lock's doing, and the reason is told. */
TEST(what_was_never_granted_is_the_locks_or_ours) {
    struct probe probe = probe_of_nothing(1730);
    assert_true(isnan(probe.quantile_ns));
    assert_int_equal(probe.limit, PROBE_LATE);
    assert_int_equal(probe.verdict, PROMISE_UNSURE);
    assert_true(probe_result(&probe, 0.01).limited);
    assert_non_null(probe_unsure_text(&probe));
    /* The requests that lockbench did not delay break the promise without the others. */
    probe = probe_of_nothing(700);
    assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    probe = probe_of_nothing(0);
    assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    assert_null(probe_unsure_text(&probe));
    /* a lock that blocks its thread: whether lockbench stood still is not known */
    probe = probe_of_nothing(NAN);
    assert_int_equal(probe.verdict, PROMISE_UNSURE);
    assert_non_null(strstr(probe_unsure_text(&probe), "too few requests"));
}

/* The verdict "unsure" is printed with its reason. */
TEST(a_probe_that_is_unsure_says_why) {
    static const struct {
        int parts, counted, within; /* half seconds with so many grants each */
        const char *why;
    } cases[] = {
        {4, 500, 500, "too few requests"},
        {10, 20, 20, "too few requests"},
        {10, 200, 198, "on both sides of the limit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told *told = told_new(cases[i].parts * cases[i].counted / 5.0, 10 * LB_MS_NS);
        tell(told, cases[i].counted, cases[i].within);
        told->stage.batch_count = cases[i].parts;
        told->stage.result.due = cases[i].parts * cases[i].counted;
        struct probe probe = probe_read(&told->stage, told->stage.offered_per_s);
        assert_int_equal(probe.verdict, PROMISE_UNSURE);
        const char *why = probe_unsure_text(&probe);
        if (!why || !strstr(why, cases[i].why)) fail_msg("%s: %s", cases[i].why, why ? why : "");
        told_free(told);
    }
    struct told *told = told_new(400, 10 * LB_MS_NS);
    tell(told, 200, 200);
    struct probe probe = probe_read(&told->stage, 400);
    assert_null(probe_unsure_text(&probe));
    told->stage.status = STAGE_PARTIAL;
    probe = probe_read(&told->stage, 400);
    assert_non_null(strstr(probe_unsure_text(&probe), "not measured"));
    told_free(told);
}

TEST(hopeless_is_what_no_rest_of_the_window_mends) {
    /* 400/s for 5 s: 2000 operations, 20 of which may be over. */
    struct told *told = told_new(400, 10 * LB_MS_NS);
    struct stage_batch one = {.counted = 400, .within = 400, .granted = 400, .end_ns = LB_S_NS / 2};
    told->stage.batches = calloc(1, sizeof *told->stage.batches);
    told->stage.batch_count = 1;
    told->stage.batches[0] = one;
    assert_false(promise_is_hopeless(&told->stage, LB_S_NS));
    told->stage.batches[0].within = 370;
    assert_false(promise_is_hopeless(&told->stage, LB_S_NS));
    told->stage.batches[0].within = 320;
    assert_true(promise_is_hopeless(&told->stage, LB_S_NS));
    /* Nothing was granted: all requests wait. */
    told->stage.batches[0] = (struct stage_batch){0};
    assert_true(promise_is_hopeless(&told->stage, LB_S_NS));
    told->ask.promise.limit_ns = 0;
    assert_false(promise_is_hopeless(&told->stage, LB_S_NS));
    told_free(told);
}

/* ---- what is asked for ---- */

TEST(promises_are_read_and_written) {
    static const struct {
        const char *text, *back;
        enum metric metric;
        double quantile;
        int64_t limit_ns;
    } good[] = {
        {"acquire_due.p99<=20ms", "acquire_due.p99<=20ms", METRIC_ACQUIRE_DUE, 0.99, 20 * LB_MS_NS},
        {" acquire . p99.9 <= 1s ", "acquire.p99.9<=1s", METRIC_ACQUIRE, 0.999, LB_S_NS},
        {"acquire.p50<=100us", "acquire.p50<=100us", METRIC_ACQUIRE, 0.5, 100 * LB_US_NS}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct stage_promise slo;
        struct lb_err err = {0};
        char text[80];
        if (slo_parse(good[i].text, &slo, &err)) fail_msg("%s", err.text);
        assert_int_equal(slo.metric, good[i].metric);
        assert_true(fabs(slo.quantile - good[i].quantile) < 1e-9);
        assert_int_equal(slo.limit_ns, good[i].limit_ns);
        assert_string_equal(slo_text(&slo, text, sizeof text), good[i].back);
    }
}

static bool warned(const struct plan *plan, const char *words) {
    size_t i;
    json_t *warning;
    json_array_foreach(plan->warnings, i, warning) {
        if (strstr(json_string_value(warning), words)) return true;
    }
    return false;
}

/* A key with several holders at a time carries a higher rate, and the baseline, which holds nothing, carries any. */
TEST(rates_are_flagged_by_how_many_may_hold_a_key) {
    static const struct {
        const char *lock, *sets[SETS_MAX + 1], *words; /* NULL: no warning */
    } cases[] = {
        {"mem-mutex", {NULL}, "2 times the time that the keys have (1 at a time may hold one)"},
        {"sim",
         {"load.rates=50,150", "load.keys=1"},
         "at 150 requests a second load.hold takes 1.5"},
        {"sim", {"load.rates=50,90", "load.keys=1"}, NULL},
        {"mem-mutex", {"acquire.mode=timed", "acquire.timeout=5ms"}, NULL},
        {"mem-semaphore", {"acquire.bound=4"}, NULL},
        {"mem-semaphore", {"acquire.bound=2"}, "(2 at a time may hold one)"},
        {"mem-rwlock", {"acquire.readers=60,100"}, NULL},
        {"mem-rwlock", {"acquire.readers=0,100"}, "(1 at a time may hold one)"},
        {"null", {NULL}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sets[SETS_MAX + 1] = {"load.arrival=poisson:200/s", "load.hold=10ms",
                                          "load.clients=8"};
        for (int s = 0; cases[i].sets[s]; s++) sets[3 + s] = cases[i].sets[s];
        struct plan *plan = taken(NULL, cases[i].lock, sets);
        const char *words = cases[i].words ? cases[i].words : "load.hold takes";
        if (warned(plan, words) != (cases[i].words != NULL))
            fail_msg("case %zu, %s: %s", i, cases[i].lock, words);
    }
}

TEST_MAIN(find_folder, remove_path)
