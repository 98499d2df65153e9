/* The verdict of a stage of a search for capacity on a promise */
#include <math.h>

#include "bench/run/thresholds.h"
#include "bench/tests/unit.h"
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
                               .duration_ns = 5 * LB_S_NS,
                               .keys = {.pick = KEYS_UNIFORM, .count = 1}};
    told->lock.lock = registry_lock("sim");
    told->ask = (struct stage_ask){.plan = &told->plan,
                                   .lock = &told->lock,
                                   .promise = {METRIC_ACQUIRE_DUE, 0.99, limit_ns},
                                   .id = "000-sim"};
    told->stage = (struct stage){.status = STAGE_COMPLETE,
                                 .offered_per_s = rate_per_s,
                                 .window_ns = 5 * LB_S_NS,
                                 .threads = 1,
                                 .client_cpu_ns = -1,
                                 .stolen_ns = -1};
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

TEST(a_promise_is_kept_broken_or_unsure) {
    static const struct {
        int within;
        enum promise_verdict verdict;
    } cases[] = {
        {200, PROMISE_KEPT}, {198, PROMISE_UNSURE}, {150, PROMISE_BROKEN}, {0, PROMISE_BROKEN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told *told = told_new(400, 10 * LB_MS_NS);
        tell(told, 200, cases[i].within);
        struct probe probe = probe_read(&told->stage, &told->ask, 400);
        assert_int_equal(probe.verdict, cases[i].verdict);
        assert_int_equal(probe.samples, 2000);
        assert_int_equal(probe.over, 10 * (200 - cases[i].within));
        assert_true(probe.measured);
        told_free(told);
    }
}

TEST(what_never_started_is_over_the_limit) {
    struct told *told = told_new(400, 10 * LB_MS_NS);
    tell(told, 200, 200);
    told->stage.result.due += 300;
    told->stage.result.missed = 300;
    struct probe probe = probe_read(&told->stage, &told->ask, 460);
    assert_int_equal(probe.over, 300);
    assert_int_equal(probe.missed, 300);
    assert_true(isnan(probe.quantile_ns)); /* the 99th of a hundred was not granted */
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    told_free(told);
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
    struct probe probe = probe_read(&told->stage, &told->ask, 400);
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
    told->plan.duration_ns = told->stage.window_ns = 10 * LB_S_NS;
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
        assert_false(
            promise_is_hopeless(&told->stage, &told->ask, told->stage.batch_count * LB_S_NS / 2));
    struct probe probe = probe_read(&told->stage, &told->ask, 750);
    assert_false(probe.grew);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    assert_true(fabs(probe.served_per_s - 7124 / 9.5) < 0.01);
    /* Every second one is granted: the others wait, whatever the holds last. */
    for (int b = 0; b < 20; b++) told->stage.batches[b].granted /= 2;
    assert_true(probe_read(&told->stage, &told->ask, 750).grew);
    told->stage.batch_count = 2;
    assert_true(promise_is_hopeless(&told->stage, &told->ask, LB_S_NS));
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
    struct probe probe = probe_read(&told->stage, &told->ask, 2000);
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

/* The engine's timers were late by so much; limit_ns: of the promise. */
static struct probe probe_when_late(int within, int64_t limit_ns, int64_t late_ns) {
    struct told *told = told_new(400, limit_ns);
    tell(told, 200, within);
    told->stage.result.stood_still_ns = 100 * (double)late_ns;
    for (int i = 0; i < 100; i++) hist_record(told->stage.hist[METRIC_HICCUP], late_ns);
    struct probe probe = probe_read(&told->stage, &told->ask, 400);
    told_free(told);
    return probe;
}

/* Waits are 5 ms, and 100 ms of those over the limit. */
TEST(lateness_is_told_where_it_may_have_decided) {
    struct probe probe = probe_when_late(100, 95 * LB_MS_NS, 10 * LB_MS_NS); /* broken by 5 ms */
    assert_int_equal(probe.limit, PROBE_LATE);
    assert_int_equal(probe.verdict, PROMISE_UNSURE);
    /* Broken by ten times the lateness: the lock has broken the promise. */
    probe = probe_when_late(100, 50 * LB_MS_NS, 5 * LB_MS_NS);
    assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    /* Kept by less than the lateness: the lateness may have decided this, too, but the promise is
     * kept. */
    probe = probe_when_late(200, 10 * LB_MS_NS, 8 * LB_MS_NS);
    assert_int_equal(probe.limit, PROBE_LATE);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    probe = probe_when_late(200, 50 * LB_MS_NS, 8 * LB_MS_NS);
    assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    /* The usual lateness of timers. */
    probe = probe_when_late(100, 95 * LB_MS_NS, LB_MS_NS / 10);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
}

/* A stage with stolen time is marked whether the promise was kept or broken: if only the broken
 * ones were left out, the lucky ones would remain. */
TEST(a_machine_with_steal_is_told_to_either_side) {
    for (int within = 100; within <= 200; within += 100) {
        struct told *told = told_new(400, 50 * LB_MS_NS);
        tell(told, 200, within);
        told->stage.stolen_ns = 150 * LB_MS_NS; /* of 5 s */
        struct probe probe = probe_read(&told->stage, &told->ask, 400);
        assert_int_equal(probe.limit, PROBE_STOLEN);
        assert_int_equal(probe.verdict, within == 200 ? PROMISE_KEPT : PROMISE_UNSURE);
        told->stage.stolen_ns = 90 * LB_MS_NS;
        probe = probe_read(&told->stage, &told->ask, 400);
        assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
        told_free(told);
    }
}

/* A waiter waits for the late timers of all clients before it: 300 grants/s for a tenth of a
 * second, each late by 2 ms. */
TEST(lateness_adds_up_in_a_queue) {
    for (int busy = 0; busy <= 1; busy++) {
        struct told *told = told_new(400, 50 * LB_MS_NS);
        tell(told, 200, 100);
        told->stage.result.throughput_per_s = busy ? 300 : 3;
        told->stage.result.stood_still_ns = 200 * LB_MS_NS;
        for (int i = 0; i < 100; i++) hist_record(told->stage.hist[METRIC_HICCUP], 2 * LB_MS_NS);
        struct probe probe = probe_read(&told->stage, &told->ask, 400);
        assert_int_equal(probe.limit, busy ? PROBE_LATE : PROBE_NOT_LIMITED);
        told_free(told);
    }
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
    probe = probe_read(&told->stage, &told->ask, 400);
    assert_int_equal(probe.limit, PROBE_POOL);
    assert_int_equal(probe.verdict, PROMISE_UNSURE);
    /* But if the one key was busy all the time (380/s for 2.5 ms each), more clients would not
     * help. */
    told->stage.result.throughput_per_s = 380;
    for (int i = 0; i < 100; i++) {
        hist_record(told->stage.hist[METRIC_HOLD], LB_MS_NS);
        hist_record(told->stage.hist[METRIC_HANDOFF], 3 * LB_MS_NS / 2);
    }
    probe = probe_read(&told->stage, &told->ask, 400);
    assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    told->plan.keys.count = 2;
    assert_int_equal(probe_read(&told->stage, &told->ask, 400).limit, PROBE_POOL);
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
    struct probe probe = probe_read(&told->stage, &told->ask, 346);
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
        struct probe probe = probe_read(&told->stage, &told->ask, told->stage.offered_per_s);
        assert_int_equal(probe.verdict, PROMISE_UNSURE);
        const char *why = probe_unsure_text(&probe);
        if (!why || !strstr(why, cases[i].why)) fail_msg("%s: %s", cases[i].why, why ? why : "");
        told_free(told);
    }
    struct told *told = told_new(400, 10 * LB_MS_NS);
    tell(told, 200, 200);
    struct probe probe = probe_read(&told->stage, &told->ask, 400);
    assert_null(probe_unsure_text(&probe));
    told->stage.status = STAGE_PARTIAL;
    probe = probe_read(&told->stage, &told->ask, 400);
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
    assert_false(promise_is_hopeless(&told->stage, &told->ask, LB_S_NS));
    told->stage.batches[0].within = 370;
    assert_false(promise_is_hopeless(&told->stage, &told->ask, LB_S_NS));
    told->stage.batches[0].within = 320;
    assert_true(promise_is_hopeless(&told->stage, &told->ask, LB_S_NS));
    /* Nothing was granted: all requests wait. */
    told->stage.batches[0] = (struct stage_batch){0};
    assert_true(promise_is_hopeless(&told->stage, &told->ask, LB_S_NS));
    told->ask.promise.limit_ns = 0;
    assert_false(promise_is_hopeless(&told->stage, &told->ask, LB_S_NS));
    told_free(told);
}

TEST_MAIN(NULL, NULL)
