/* probe: see probe.h. */
#include "bench/capacity/probe.h"

#include <math.h>
#include <stdio.h>

#include "bench/run/promise.h"
#include "results/stats/quantile.h"
#include "results/stats/student.h"

#define BATCHES_MAX 600
#define BUSY_PART 0.95 /* of the window, for which the threads ran */
#define MEANS_MIN 30   /* samples that a mean takes */

const char *probe_limit_text(enum probe_limit limit) {
    static const char *const words[] = {
        NULL, "the generator's own timers were late (a busy machine)",
        "the generator's threads had no time left",
        "arrivals waited for a free client: more of them (--set load.clients=N) would tell"};
    return words[limit];
}

/* The value at a rank of n, of which the histogram has those that were granted; NAN beyond these. */
static double value_at(const struct hist *hist, uint64_t rank) {
    uint64_t count = (uint64_t)hist->count;
    return rank > count ? NAN : (double)hist_quantile(hist, (double)rank / (double)count);
}

static int batches_of(const struct stage *stage, struct quantile_batch *batches) {
    int count = stage->batch_count < BATCHES_MAX ? stage->batch_count : BATCHES_MAX;
    for (int i = 0; i < count; i++) {
        batches[i] =
            (struct quantile_batch){.count = stage->batches[i].counted, .below = stage->batches[i].within};
    }
    return count;
}

/* The share over the limit, less what its spread from second to second may have added. */
static double share_at_least(const struct quantile_batch *batches, int count) {
    double sum = 0, squares = 0;
    int filled = 0;
    for (int i = 0; i < count; i++) {
        if (batches[i].count == 0) continue;
        double share = 1 - (double)batches[i].below / (double)batches[i].count;
        sum += share;
        squares += share * share;
        filled++;
    }
    if (filled < 2) return 0;
    double mean = sum / filled, variance = (squares - sum * mean) / (filled - 1);
    if (variance < 0) variance = 0; /* rounding */
    return mean - student_quantile(PROBE_LEVEL, filled - 1) * sqrt(variance / filled);
}

static void read_quantile(const struct stage *stage, const struct stage_promise *promise,
                          struct probe *probe) {
    struct quantile_batch batches[BATCHES_MAX];
    const struct hist *hist = stage->hist[promise->metric];
    int count = batches_of(stage, batches);
    uint64_t low, high;
    double n = (double)probe->samples, limit_ns = (double)promise->limit_ns;
    probe->quantile_ns = value_at(hist, (uint64_t)ceil(promise->quantile * n));
    if (quantile_ranks_batches(batches, count, promise->quantile, PROBE_LEVEL, &low, &high, NULL) == 0) {
        /* Its ranks are among what was granted: what was not lies above all of it. */
        double stretch = n / (double)(hist->count + hist->over > 0 ? hist->count + hist->over : 1);
        probe->low_ns = value_at(hist, (uint64_t)floor((double)low * stretch));
        probe->high_ns = value_at(hist, (uint64_t)ceil((double)high * stretch));
        /* Beyond the last one that was granted is beyond the limit, however far. */
        if (isnan(probe->low_ns) || probe->low_ns > limit_ns) probe->verdict = CAPACITY_BROKEN;
        if (probe->high_ns <= limit_ns) probe->verdict = CAPACITY_KEPT;
    }
    double allowed = 1 - promise->quantile;
    if (stage->hopeless || share_at_least(batches, count) > allowed) probe->verdict = CAPACITY_BROKEN;
}

static bool is_busy(const struct stage *stage) {
    return stage->client_cpu_ns > BUSY_PART * (double)stage->window_ns * stage->threads;
}

/* What of ours may have broken the promise. */
static enum probe_limit limit_of(const struct stage *stage, const struct stage_ask *ask) {
    const struct stage_promise *promise = &ask->promise;
    if (stage_limited_by(stage, ask)) return is_busy(stage) ? PROBE_BUSY : PROBE_LATE;
    /* Late for those who came, but not for those who had started: the queue was before our own clients. */
    const struct hist *acquire = stage->hist[METRIC_ACQUIRE];
    if (promise->metric == METRIC_ACQUIRE_DUE && acquire->count > 0 &&
        hist_quantile(acquire, promise->quantile) <= promise->limit_ns &&
        hist_quantile(stage->hist[METRIC_LAG], promise->quantile) > promise->limit_ns / 2) {
        return PROBE_POOL;
    }
    return PROBE_NOT_LIMITED;
}

static double mean_of(const struct hist *hist, int64_t least) {
    return hist->count < least ? NAN : hist_mean(hist);
}

struct probe probe_read(const struct stage *stage, const struct stage_ask *ask, double load) {
    const struct hist *hist = stage->hist[ask->promise.metric];
    struct probe probe = {
        .load = load, .verdict = CAPACITY_UNSURE, .quantile_ns = NAN, .low_ns = NAN, .high_ns = NAN};
    snprintf(probe.stage, sizeof probe.stage, "%s", ask->id);
    probe.wait_mean_ns = mean_of(hist, 1);
    probe.hold_mean_ns = mean_of(stage->hist[METRIC_HOLD], 1);
    probe.handoff_mean_ns = mean_of(stage->hist[METRIC_HANDOFF], MEANS_MIN);
    probe.samples = promise_due(stage, ask);
    probe.missed = stage->missed;
    if (stage->window_ns > 0)
        probe.throughput_per_s = (double)stage->outcomes[LB_OK] * 1e9 / (double)stage->window_ns;
    if (stage->status != STAGE_COMPLETE || probe.samples == 0) return probe;
    uint64_t within = promise_within(hist, ask->promise.limit_ns);
    probe.over = within < probe.samples ? probe.samples - within : 0;
    probe.measured = true;
    read_quantile(stage, &ask->promise, &probe);
    /* Whether the lock would have kept it is not known. What was kept in spite of us was kept. */
    bool over = (double)probe.over > (1 - ask->promise.quantile) * (double)probe.samples;
    if (over) probe.limit = limit_of(stage, ask);
    if (probe.limit) probe.verdict = CAPACITY_UNSURE;
    return probe;
}
