/* Promises of a run (--slo): how people write them, when they are kept, broken or neither, and the
 * exit code. */

#define _GNU_SOURCE
#include <math.h>

#include "bench/base/rng.h"
#include "bench/option/text.h"
#include "bench/run/thresholds.h"
#include "bench/slo/slo.h"
#include "bench/tests/cli_help.h"
#include "results/format/hlog.h"

static struct threshold read_one(const char *text) {
    struct threshold threshold;
    struct lb_err err = {0};
    if (thresholds_read(text, &threshold, &err) != 1) fail_msg("'%s': %s", text, err.text);
    return threshold;
}

TEST(any_figure_is_promised_by_its_path_its_end_or_its_name) {
    static const struct {
        const char *text, *path;
        double quantile, limit;
    } good[] = {{"acquire_due.p99<=20ms", "latency_ns.acquire_due", 0.99, 20e6},
                {"latency_ns.release.p99.9 <= 1s", "latency_ns.release", 0.999, 1e9},
                {"handoff.p999<=1ms", "latency_ns.handoff", 0.999, 1e6},
                {"acquire.max<=5s", "latency_ns.acquire.max", NAN, 5e9},
                {"failed<=0.1%", "not_granted", NAN, 0.001},
                {"not_granted <= 0.001", "not_granted", NAN, 0.001},
                {"throughput>=500", "throughput_per_s", NAN, 500},
                {"fairness.jain>=0.9", "fairness.jain", NAN, 0.9},
                {"jain>=90%", "fairness.jain", NAN, 0.9},
                {"max_wait_ns<=2s", "fairness.max_wait_ns", NAN, 2e9},
                {"hiccup_ns.p99<=1ms", "executor.hiccup_ns", 0.99, 1e6},
                {"acquire_p99<=1ms", "latency_ns.acquire", 0.99, 1e6},
                {"acquire_due_p50<=1ms", "latency_ns.acquire_due", 0.5, 1e6},
                {"response_ns.p999<=1ms", "latency_ns.acquire_due", 0.999, 1e6},
                {"exclusion.double_holders<=0", "exclusion.double_holders", NAN, 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct threshold threshold = read_one(good[i].text);
        assert_string_equal(threshold.figure->path, good[i].path);
        assert_true(fabs(threshold.limit - good[i].limit) <= 1e-12 * good[i].limit);
        assert_true(isnan(good[i].quantile) ? isnan(threshold.quantile)
                                            : fabs(threshold.quantile - good[i].quantile) < 1e-9);
        assert_int_equal(threshold.at_least, strstr(good[i].text, ">=") != NULL);
    }
}

TEST(every_figure_of_a_stage_can_be_promised_by_its_path) {
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        char text[120];
        if (!result_field_is_figure(field)) continue;
        snprintf(text, sizeof text, "%s<=1%s", field->path, result_field_is_time(field) ? "s" : "");
        struct threshold threshold = read_one(text);
        if (isnan(threshold.quantile)) assert_ptr_equal(threshold.figure, field);
    }
}

/* ---- the verdict ---- */

static void add_thin(struct slo_evidence *evidence) {
    evidence->thin++;
    slo_add_figure(evidence, NAN);
}

/* Seconds of n requests each, of which this share is over the limit. */
static struct slo_answer judge_seconds_of(const char *text, int seconds, int n, double over,
                                          uint64_t seed) {
    struct threshold threshold = read_one(text);
    struct slo_evidence evidence = {0};
    struct lb_rng rng;
    rng_seed(&rng, seed, 1);
    slo_add_figure(&evidence, 1e6);
    for (int i = 0; i < seconds; i++) {
        uint64_t within = 0;
        for (int k = 0; k < n; k++) within += rng_unit(&rng) >= over;
        struct quantile_batch batch = {.count = (uint64_t)n, .below = within};
        slo_add_batch(&evidence, &batch);
    }
    struct slo_answer answer = slo_judge(&threshold, &evidence);
    slo_evidence_done(&evidence);
    return answer;
}

TEST(a_quantile_is_kept_broken_or_not_known) {
    assert_int_equal(judge_seconds_of("acquire.p99<=20ms", 10, 1000, 0.001, 1).verdict,
                     PROMISE_KEPT);
    struct slo_answer broken = judge_seconds_of("acquire.p99<=20ms", 10, 1000, 0.05, 1);
    double least, most;
    assert_int_equal(broken.verdict, PROMISE_BROKEN);
    assert_int_equal(sscanf(broken.basis, "%lf..%lf %% are over the limit;", &least, &most), 2);
    assert_true(least > 3 && least < 5 && most > 5 && most < 7);
    assert_int_equal(judge_seconds_of("acquire.p99<=20ms", 10, 1000, 0.01, 1).verdict,
                     PROMISE_UNSURE);
    /* 200 requests do not support p99, though none of them was over the limit. */
    struct slo_answer few = judge_seconds_of("acquire.p99<=20ms", 10, 20, 0, 1);
    assert_int_equal(few.verdict, PROMISE_UNSURE);
    assert_non_null(strstr(few.basis, "too few samples"));
    assert_has(few.remedy, "run.duration");
    few = judge_seconds_of("acquire.p99<=20ms", 3, 100000, 0, 1);
    assert_int_equal(few.verdict, PROMISE_UNSURE);
    assert_non_null(strstr(few.basis, "too few samples"));
    assert_has(few.remedy, "run.duration");
}

/* ---- a queue ---- */

/* Requests at random to a server that takes SERVICE_NS for each, always or in the mean (exponential). */
struct queue {
    double busy, p99; /* p99 of wait and service, in service times; 0: exponential */
};

#define SERVICE_NS 5e6
#define WARMUP_S 2

/* A run of a computed queue (Lindley's recursion), as thresholds.c would take it. */
static void take_queue(struct slo_evidence *evidence, const struct queue *queue, double limit_ns,
                       int window_s, struct hist *hist, struct lb_rng *rng) {
    struct quantile_batch second = {0};
    double due_ns = -WARMUP_S * 1e9, free_ns = due_ns, end_ns = 1e9;
    hist_reset(hist);
    for (;;) {
        due_ns -= SERVICE_NS / queue->busy * log(1 - rng_unit(rng));
        for (; due_ns >= end_ns && end_ns <= window_s * 1e9; end_ns += 1e9) {
            slo_add_batch(evidence, &second);
            second = (struct quantile_batch){0};
        }
        if (due_ns >= window_s * 1e9) break;
        double service_ns = SERVICE_NS * (queue->p99 > 0 ? 1 : -log(1 - rng_unit(rng)));
        free_ns = fmax(free_ns, due_ns) + service_ns;
        double wait_ns = free_ns - due_ns;
        if (due_ns < 0) continue;
        hist_record(hist, (int64_t)wait_ns);
        second.count++;
        second.below += wait_ns <= limit_ns;
        second.sum += wait_ns;
        second.squares += wait_ns * wait_ns;
    }
    slo_add_figure(evidence, (double)hist_quantile(hist, 0.99));
    evidence->window_s += window_s;
}

/* The part of so many runs whose promise, with a limit of this part of the true p99, gets the verdict. */
static double part_of_runs(enum promise_verdict verdict, const struct queue *queue, double part,
                           int window_s, int repeats, int runs) {
    double p99 = queue->p99 > 0 ? queue->p99 : log(100) / (1 - queue->busy);
    struct threshold threshold = read_one("acquire_due.p99<=1s");
    struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    int count = 0;
    threshold.limit = part * p99 * SERVICE_NS;
    for (int run = 0; run < runs; run++) {
        struct slo_evidence evidence = {0};
        struct lb_rng rng;
        rng_seed(&rng, (uint64_t)run, 3);
        for (int i = 0; i < repeats; i++)
            take_queue(&evidence, queue, threshold.limit, window_s, hist, &rng);
        struct slo_answer answer = slo_judge(&threshold, &evidence);
        count += answer.verdict == verdict;
        if ((answer.remedy[0] != '\0') != (answer.verdict == PROMISE_UNSURE))
            fail_msg("%s: '%s'", promise_verdict_name(answer.verdict), answer.remedy);
        slo_evidence_done(&evidence);
    }
    hist_free(hist);
    return (double)count / runs;
}

/* A window of few relaxation times is often quiet. p99 of M/D/1 by Crommelin's formula. */
TEST(a_limit_below_the_truth_is_seldom_kept) {
    static const struct queue queues[] = {
        {0.5, 4.33626}, {0.7, 7.4855}, {0.8, 11.35589}, {0.9, 22.89824}, {0.95, 45.93777},
        {0.5, 0},       {0.7, 0},      {0.8, 0},        {0.9, 0},        {0.95, 0}};
    static const double limits[] = {0.95, 0.85, 0.7};
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        for (int k = 0; k < 12; k++) {
            int window_s = k / 6 ? 60 : 10, repeats = k / 3 % 2 ? 6 : 1;
            if (window_s * repeats > 60) continue;
            double kept =
                part_of_runs(PROMISE_KEPT, &queues[i], limits[k % 3], window_s, repeats, 30);
            if (kept > 0.05)
                fail_msg("queue %zu, %d x %d s, %g of p99: %.1f %% kept", i, repeats, window_s,
                         limits[k % 3], 100 * kept);
        }
    }
}

TEST(a_limit_far_from_the_truth_is_judged_by_a_minute) {
    const struct queue half = {0.5, 4.33626}, half_random = {0.5, 0}, busy = {0.9, 22.89824};
    assert_true(part_of_runs(PROMISE_KEPT, &half, 2, 60, 1, 40) > 0.9);
    assert_true(part_of_runs(PROMISE_KEPT, &half_random, 2, 60, 1, 40) > 0.75);
    assert_true(part_of_runs(PROMISE_BROKEN, &half, 0.5, 10, 1, 40) > 0.9);
    assert_true(part_of_runs(PROMISE_BROKEN, &busy, 0.5, 60, 1, 40) > 0.9);
}

/* Where nothing is over the limit, p99 takes about 370 relaxation times, of 0.9 s here. */
TEST(an_unsure_promise_says_how_long_a_window_would_do) {
    struct threshold threshold = read_one("acquire_due.p99<=300ms");
    const struct queue busy = {0.9, 22.89824};
    struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    for (uint64_t seed = 1; seed <= 9; seed++) {
        struct slo_evidence evidence = {0};
        struct lb_rng rng;
        struct lb_err err = {0};
        char length[40];
        int64_t length_ns = 0;
        rng_seed(&rng, seed, 3);
        take_queue(&evidence, &busy, threshold.limit, 10, hist, &rng);
        struct slo_answer answer = slo_judge(&threshold, &evidence);
        slo_evidence_done(&evidence);
        if (sscanf(answer.remedy, "a window of about %*s would do (--set run.duration=%39[^)]",
                   length) != 1 ||
            text_duration(length, 1, INT64_MAX / 4, &length_ns, &err) ||
            length_ns < 150 * LB_S_NS || length_ns > 1000 * LB_S_NS)
            fail_msg("'%s'", answer.remedy);
    }
    hist_free(hist);
}

/* Ten seconds of 98 and 102 grants in turn. */
TEST(a_rate_is_judged_by_its_seconds) {
    static const struct {
        const char *promise, *basis;
        enum promise_verdict verdict;
    } cases[] = {{"throughput>=95", "10 seconds", PROMISE_KEPT},
                 {"throughput>=105", "10 seconds", PROMISE_BROKEN},
                 {"throughput>=100", "too few samples: 10 seconds", PROMISE_UNSURE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct threshold threshold = read_one(cases[i].promise);
        struct slo_evidence evidence = {0};
        slo_add_figure(&evidence, 100);
        for (int second = 0; second < 10; second++)
            slo_add_second(&evidence, second % 2 ? 98 : 102);
        struct slo_answer answer = slo_judge(&threshold, &evidence);
        assert_int_equal(answer.verdict, cases[i].verdict);
        assert_string_equal(answer.basis, cases[i].basis);
        assert_true(answer.low > 95 && answer.low < 100);
        assert_true(answer.high > 100 && answer.high < 105);
        assert_int_equal(answer.remedy[0] != '\0', answer.verdict == PROMISE_UNSURE);
        slo_evidence_done(&evidence);
    }
}

/* The least of six p99 that are maxima of 50 values is no lower end of the p99. */
TEST(a_quantile_that_so_few_requests_cannot_show_is_no_figure) {
    struct threshold threshold = read_one("acquire.p99<=20ms");
    struct slo_evidence evidence = {0};
    for (int i = 0; i < SLO_REPEATS_MIN; i++) add_thin(&evidence);
    struct slo_answer answer = slo_judge(&threshold, &evidence);
    assert_int_equal(answer.verdict, PROMISE_UNSURE);
    assert_true(isnan(answer.figure));
    assert_has(answer.basis, "too few samples: fewer than 5 requests");
    struct quantile_batch within = {.count = 1000, .below = 1000};
    for (int i = 0; i < 10; i++) slo_add_batch(&evidence, &within);
    answer = slo_judge(&threshold, &evidence); /* their seconds together show that it is kept */
    assert_int_equal(answer.verdict, PROMISE_KEPT);
    assert_true(isnan(answer.figure));
    assert_has(answer.basis, "too few to show the quantile itself");
    slo_add_figure(&evidence, NAN); /* a stage that failed */
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_UNSURE);
    slo_evidence_done(&evidence);
}

TEST(without_seconds_the_repeats_decide) {
    struct threshold threshold = read_one("jain>=0.9");
    struct slo_evidence evidence = {0};
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_UNSURE);
    slo_add_figure(&evidence, 0.95);
    struct slo_answer one = slo_judge(&threshold, &evidence);
    assert_int_equal(one.verdict, PROMISE_KEPT);
    assert_non_null(strstr(one.basis, "of one run: only repeats"));
    assert_true(isnan(one.low) && isnan(one.high));
    slo_add_figure(&evidence, 0.85);
    struct slo_answer two = slo_judge(&threshold, &evidence);
    assert_int_equal(two.verdict, PROMISE_UNSURE);
    assert_non_null(strstr(two.basis, "disagree"));
    assert_true(fabs(two.figure - 0.9) < 1e-9); /* between the two in the middle */
    slo_add_figure(&evidence, NAN);
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_UNSURE);
    slo_evidence_done(&evidence);
}

/* Several hosts keep no seconds: a run is one batch, and six show how much runs differ. */
TEST(a_window_without_seconds_is_not_kept_alone) {
    struct threshold threshold = read_one("acquire.p99<=20ms");
    struct slo_evidence evidence = {.whole = true};
    for (int i = 0; i < SLO_REPEATS_MIN; i++) {
        struct quantile_batch batch = {10000, 10000, 1e4 * (1e6 + 1e3 * i), 1e4 * 2e12};
        slo_add_batch(&evidence, &batch);
        slo_add_figure(&evidence, 5e6);
        enum promise_verdict wanted = i + 1 < SLO_REPEATS_MIN ? PROMISE_UNSURE : PROMISE_KEPT;
        if (i + 1 < QUANTILE_BATCHES_MIN || i + 1 == SLO_REPEATS_MIN)
            assert_int_equal(slo_judge(&threshold, &evidence).verdict, wanted);
    }
    assert_has(slo_judge(&threshold, &evidence).basis, "all of 6 repeats");
    threshold.limit = 1e6;
    for (int i = 0; i < SLO_REPEATS_MIN; i++) evidence.batches[i].below = 5000;
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_BROKEN);
    slo_evidence_done(&evidence);
}

TEST(what_was_never_granted_is_over_every_limit) {
    struct threshold threshold = read_one("acquire_due.p99<=1h");
    struct slo_evidence evidence = {0};
    slo_add_figure(&evidence, INFINITY);
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_BROKEN);
    evidence.limited = 1; /* ... but the lock might have granted the requests */
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_UNSURE);
    slo_evidence_done(&evidence);
}

TEST(a_busy_machine_excuses_no_count) {
    struct threshold threshold = read_one("exclusion.double_holders<=0");
    struct slo_evidence evidence = {.limited = 1};
    slo_add_figure(&evidence, 1);
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_BROKEN);
    slo_evidence_done(&evidence);
}

/* A stage that ended because of its promise may be too short to show the quantile. */
TEST(a_promise_that_ended_its_stages_is_broken) {
    struct threshold threshold = read_one("acquire_due.p99<=5ms");
    struct slo_evidence evidence = {.ended = 1};
    add_thin(&evidence);
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_BROKEN);
    add_thin(&evidence); /* one that went on to its window's end */
    assert_int_equal(slo_judge(&threshold, &evidence).verdict, PROMISE_UNSURE);
    slo_evidence_done(&evidence);
}

/* The line that a run ends with names the reason of the first unsure promise. A longer run is advised only where
 * there were too few samples. A control that a group of locks brought in makes no promise, and a run of such controls
 * alone keeps none. */
TEST(an_unsure_promise_says_why) {
    const struct {
        const char *promise, *lock, *limited_by, *says;
    } cases[] = {
        {"throughput_per_s>=1000", "redis-setnx", "generator",
         "first of redis-setnx: throughput_per_s>=1000: broken, but the load generator was the limit in 1 of 1 "
         "stages; run it again on a less busy machine, or under less load"},
        {"jain>=0.9,throughput_per_s>=1000", "redis-setnx", "generator", "jain>=0.9: not measured"},
        {"throughput>=1000000", "unsafe-none", NULL, "no promise was judged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        char why[1200];
        struct plan plan = {.promises = cases[i].promise, .arrival = {.kind = ARRIVAL_CLOSED}};
        struct plan_lock lock = {.lock = registry_lock(cases[i].lock)};
        struct place place = {.topology = "redis"};
        struct stage_ask ask = {.of = {.plan = &plan, .lock = &lock, .clients = 8},
                                .place = &place};
        struct stage stage = {.ask = &ask, .status = STAGE_COMPLETE, .window_ns = 6 * LB_S_NS};
        struct thresholds thresholds;
        result_field_clear_all(run_stage_fields(), &stage.result);
        stage.result.throughput_per_s = 200;
        stage.result.limited_by = cases[i].limited_by;
        if (thresholds_init(&thresholds, &plan, &err)) fail_msg("%s", err.text);
        thresholds_take(&thresholds, &stage);
        assert_int_equal(thresholds_exit(&thresholds, why, sizeof why), LB_EXIT_INCONCLUSIVE);
        assert_has(why, cases[i].says);
        assert_lacks(why, "run.duration");
        thresholds_done(&thresholds);
    }
}

TEST_MAIN(NULL, NULL)
