/* test_capacity: what a search for capacity is asked for, and the verdict of a stage of it on a promise. */
#include <math.h>

#include "bench/tests/plan_help.h"
#include "bench/tools/capacity/probe.h"
#include "drivers/registry.h"

/* What a run's files say. */
struct told {
    struct probe_ask ask;
    struct run_stage stage;
    struct probe_log log;
    struct quantile_batch batches[20];
};

/* A complete open-loop stage without values, 5 s long. */
static struct told *told_new(double rate_per_s, int64_t limit_ns) {
    struct told *told = calloc(1, sizeof *told);
    told->ask = (struct probe_ask){.window_s = 5, .one_key = true};
    told->log.promise = (struct stage_promise){METRIC_ACQUIRE_DUE, 0.99, limit_ns};
    told->log.batches = told->batches;
    told->stage = (struct run_stage){.id = "000-sim",
                                     .status = "complete",
                                     .offered_per_s = rate_per_s,
                                     .duration_s = 5,
                                     .threads = 1,
                                     .client_cpu_ns_per_grant = NAN,
                                     .stolen_share = NAN};
    for (int i = 0; i < METRICS; i++) told->log.hist[i] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    return told;
}

static void told_free(struct told *told) {
    for (int i = 0; i < METRICS; i++) hist_free(told->log.hist[i]);
    json_decref((json_t *)(uintptr_t)told->stage.series);
    free(told);
}

static struct probe read_told(const struct told *told) {
    return probe_read(&told->ask, &told->stage, &told->log);
}

/* Ten parts with `counted` grants each: `within` of them within 10 ms, the others after 100
 * ms. */
static void tell(struct told *told, int counted, int within) {
    told->log.count = 10;
    for (int b = 0; b < 10; b++) {
        told->batches[b] =
            (struct quantile_batch){.count = (uint64_t)counted, .below = (uint64_t)within};
        for (int i = 0; i < counted; i++) {
            int64_t wait_ns = i < within ? 5 * LB_MS_NS : 100 * LB_MS_NS;
            hist_record(told->log.hist[METRIC_ACQUIRE_DUE], wait_ns);
            hist_record(told->log.hist[METRIC_ACQUIRE], wait_ns);
        }
    }
    told->stage.due = told->stage.started = told->stage.grants = 10.0 * (double)counted;
}

/* So many of the grants came after the window's end. */
static void tell_late(struct told *told, int grants) {
    json_decref((json_t *)(uintptr_t)told->stage.series);
    told->stage.series =
        json_pack("[{s:i, s:b}, {s:i, s:b}]", "ok", 1, "draining", 0, "ok", grants, "draining", 1);
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
        told->stage.due += cases[i].missed;
        told->stage.missed = cases[i].missed;
        told->stage.throughput_per_s = cases[i].throughput_per_s;
        if (cases[i].stolen_ms >= 0) told->stage.stolen_share = cases[i].stolen_ms / 5000;
        if (cases[i].late_ms > 1) told->stage.limited_by = "generator";
        if (late_ns) told->stage.stood_still_ns = 100 * (double)late_ns;
        for (int k = 0; late_ns && k < 100; k++)
            hist_record(told->log.hist[METRIC_HICCUP], late_ns);
        struct probe probe = read_told(told);
        assert_int_equal(probe.verdict, cases[i].verdict);
        assert_int_equal(probe.limit, cases[i].limit);
        assert_int_equal(probe.seen.samples, 2000 + cases[i].missed);
        assert_int_equal(probe.seen.over, 10 * (200 - cases[i].within) + cases[i].missed);
        assert_int_equal(isnan(probe.quantile_ns), cases[i].missed > 0);
        assert_true(probe.measured);
        told_free(told);
    }
}

/* 2000 slots in 5 s, all granted within the limit, some of them after the window's end. */
static struct probe probe_of_backlog(int late) {
    struct told *told = told_new(400, 10 * LB_S_NS);
    tell(told, 200, 200);
    tell_late(told, late);
    struct probe probe = read_told(told);
    told_free(told);
    return probe;
}

TEST(a_growing_backlog_breaks_the_promise) {
    struct probe probe = probe_of_backlog(0);
    assert_false(probe.seen.grew);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    assert_true(fabs(probe.seen.served_per_s - 1999 / 5.0) < 0.01);
    /* Three standard deviations are 134; two slots fell due within the shortest wait of 5 ms. */
    assert_false(probe_of_backlog(135).seen.grew);
    probe = probe_of_backlog(137);
    assert_true(probe.seen.grew);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    assert_true(fabs(probe.seen.served_per_s - 1862 / 5.0) < 0.01);
}

/* 2000/s for 5 s, each granted wait_ns after it was due, as by servers that are far away; the limit is 200 ms. */
static struct probe probe_of_far(int64_t wait_ns, double served_part) {
    struct told *told = told_new(2000, 200 * LB_MS_NS);
    double granted = served_part * 2000 * (5 - (double)wait_ns / 1e9);
    tell(told, 1000, wait_ns <= 200 * LB_MS_NS ? 1000 : 0);
    hist_reset(told->log.hist[METRIC_ACQUIRE_DUE]);
    for (int i = 0; i < 10000; i++) hist_record(told->log.hist[METRIC_ACQUIRE_DUE], wait_ns);
    tell_late(told, 10000 - (int)granted);
    struct probe probe = read_told(told);
    told_free(told);
    return probe;
}

TEST(what_is_on_its_way_for_as_long_as_every_request_is_no_backlog) {
    struct probe probe = probe_of_far(180 * LB_MS_NS, 1);
    assert_false(probe.seen.grew);
    assert_int_equal(probe.verdict, PROMISE_KEPT);
    assert_true(probe_of_far(180 * LB_MS_NS, 0.95).seen.grew);
    /* A wait beyond the limit is no excuse. */
    assert_true(probe_of_far(2 * LB_S_NS, 1).seen.grew);
}

TEST(our_own_fault_is_never_the_locks) {
    struct probe probe;
    /* Attempts were served soon after their start; they had waited for a free client of the load
     * generator. */
    struct told *told = told_new(400, 10 * LB_MS_NS);
    tell(told, 200, 100);
    hist_reset(told->log.hist[METRIC_ACQUIRE]);
    for (int i = 0; i < 2000; i++) {
        hist_record(told->log.hist[METRIC_ACQUIRE], LB_MS_NS);
        hist_record(told->log.hist[METRIC_LAG], i < 1000 ? 1000 : 90 * LB_MS_NS);
    }
    probe = read_told(told);
    assert_int_equal(probe.limit, PROBE_POOL);
    assert_int_equal(probe.verdict, PROMISE_UNSURE);
    /* But if the one key was busy all the time (380/s for 2.5 ms each), more clients would not
     * help. */
    told->stage.throughput_per_s = 380;
    for (int i = 0; i < 100; i++) {
        hist_record(told->log.hist[METRIC_HOLD], LB_MS_NS);
        hist_record(told->log.hist[METRIC_HANDOFF], 3 * LB_MS_NS / 2);
    }
    probe = read_told(told);
    assert_int_equal(probe.limit, PROBE_NOT_LIMITED);
    assert_int_equal(probe.verdict, PROMISE_BROKEN);
    told->ask.one_key = false;
    assert_int_equal(read_told(told).limit, PROBE_POOL);
    told_free(told);
}

/* 1730 slots of which none was granted, in a window of one part: nobody looked at it before its end. */
static struct probe probe_of_nothing(double stalled) {
    struct told *told = told_new(346, 200 * LB_MS_NS);
    told->log.count = 1;
    told->stage.due = told->stage.missed = 1730;
    told->stage.stalled = stalled;
    told->stage.stood_still_ns = isnan(stalled) ? NAN : stalled > 0 ? 5e9 : 0;
    if (stalled > 0) told->stage.limited_by = "generator";
    if (stalled > 0) hist_record(told->log.hist[METRIC_HICCUP], 5 * LB_S_NS);
    struct probe probe = read_told(told);
    told_free(told);
    return probe;
}

/* What fell due while lockbench stood still is not the lock's doing, and the reason is told. */
TEST(what_was_never_granted_is_the_locks_or_ours) {
    struct probe probe = probe_of_nothing(1730);
    assert_true(isnan(probe.quantile_ns));
    assert_int_equal(probe.limit, PROBE_LATE);
    assert_int_equal(probe.verdict, PROMISE_UNSURE);
    assert_true(probe.seen.limited);
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
        told->log.count = cases[i].parts;
        told->stage.due = told->stage.grants = cases[i].parts * cases[i].counted;
        struct probe probe = read_told(told);
        assert_int_equal(probe.verdict, PROMISE_UNSURE);
        const char *why = probe_unsure_text(&probe);
        if (!why || !strstr(why, cases[i].why)) fail_msg("%s: %s", cases[i].why, why ? why : "");
        told_free(told);
    }
    struct told *told = told_new(400, 10 * LB_MS_NS);
    tell(told, 200, 200);
    struct probe probe = read_told(told);
    assert_null(probe_unsure_text(&probe));
    told->stage.status = "partial";
    probe = read_told(told);
    assert_non_null(strstr(probe_unsure_text(&probe), "not measured"));
    told_free(told);
}

TEST(a_window_that_was_ended_broke_the_promise) {
    struct told *told = told_new(400, 10 * LB_MS_NS);
    tell(told, 200, 200);
    assert_int_equal(read_told(told).verdict, PROMISE_KEPT);
    told->ask.window_s = 10;
    assert_int_equal(read_told(told).verdict, PROMISE_BROKEN);
    told_free(told);
}

TEST(hopeless_is_what_no_rest_of_the_window_mends) {
    /* 400/s for 5 s: 2000 operations, 20 of which may be over. */
    static const struct stage_promise promise = {METRIC_ACQUIRE_DUE, 0.99, 10 * LB_MS_NS};
    struct slo_so_far so_far = {.window_ns = 5e9,
                                .elapsed_ns = 1e9,
                                .offered_per_s = 400,
                                .counted = 400,
                                .within = 400,
                                .granted = 400};
    assert_false(slo_is_hopeless(&promise, &so_far));
    so_far.within = 370;
    assert_false(slo_is_hopeless(&promise, &so_far));
    so_far.within = 320;
    assert_true(slo_is_hopeless(&promise, &so_far));
    /* Those that are still held have no value yet. */
    so_far.counted = so_far.within = 0;
    assert_false(slo_is_hopeless(&promise, &so_far));
    /* Nothing was granted: all requests wait. */
    so_far.granted = 0;
    assert_true(slo_is_hopeless(&promise, &so_far));
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
