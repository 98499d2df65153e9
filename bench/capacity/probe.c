/* probe: see probe.h. */
#include "bench/capacity/probe.h"

#include <math.h>
#include <stdio.h>

#include "bench/run/promise.h"
#include "bench/workload/keys.h"
#include "results/stats/quantile.h"
#include "results/stats/share.h"

#define BATCHES_MAX 16 /* of a window: shorter ones depend too much on each other near the edge */
#define SAMPLES_TOLD                                                                               \
    2.5              /* over the limit are allowed: with fewer a probe says nothing of its share */
#define MEANS_MIN 30 /* samples that a mean takes */
#define KEY_BUSY_PART                                                                              \
    0.8 /* of the time: a key that was held or handed over for so long was the limit */
#define GREW_SIGMAS 3.0 /* of the number of arrivals, by which grants must fall behind them */
#define NEAR_PART 0.5 /* of what is allowed: so many over the limit that the quantile is near it */

const char *probe_limit_text(enum probe_limit limit) {
    static const char *const words[] = {
        NULL, "the generator's own timers were late (a busy machine)",
        "the host of this virtual machine took its processors' time (steal)",
        "the generator's threads had no time left",
        "arrivals waited for a free client: more of them (--set load.clients=N) would tell"};
    return words[limit];
}

/* The value at a rank of n, of which the histogram has those that were granted; NAN beyond
 * these. */
static double value_at(const struct hist *hist, uint64_t rank) {
    uint64_t count = (uint64_t)hist->count;
    return rank > count ? NAN : (double)hist_quantile(hist, (double)rank / (double)count);
}

/* All half seconds, neighbours put together. Returns how many batches. */
static int batches_of(const struct stage *stage, struct quantile_batch batches[BATCHES_MAX]) {
    int count = stage->batch_count < BATCHES_MAX ? stage->batch_count : BATCHES_MAX;
    for (int i = 0; i < count; i++) batches[i] = (struct quantile_batch){0};
    for (int i = 0; i < stage->batch_count; i++) {
        struct quantile_batch *batch = &batches[(int64_t)i * count / stage->batch_count];
        batch->count += stage->batches[i].counted;
        batch->below += stage->batches[i].within;
    }
    return count;
}

/* Whether more than the allowed share is over the limit, whatever part of that is chance. */
static bool is_surely_over(const struct quantile_batch *batches, int count, double allowed) {
    struct share within;
    return share_of_batches(batches, count, PROBE_LEVEL, &within) == 0 && 1 - within.high > allowed;
}

static void read_quantile(const struct stage *stage, const struct stage_promise *promise,
                          struct probe *probe) {
    struct quantile_batch batches[BATCHES_MAX];
    const struct hist *hist = stage->hist[promise->metric];
    int count = batches_of(stage, batches);
    uint64_t low, high;
    double n = (double)probe->samples, limit_ns = (double)promise->limit_ns;
    double allowed = 1 - promise->quantile;
    probe->quantile_ns = value_at(hist, (uint64_t)ceil(promise->quantile * n));
    if (quantile_ranks_batches(batches, count, promise->quantile, PROBE_LEVEL, &low, &high, NULL) ==
        0) {
        /* low and high are ranks among all requests. The histogram has only those that were granted; a
         * request that was not granted took longer than any of them. */
        double stretch = n / (double)(hist->count + hist->over > 0 ? hist->count + hist->over : 1);
        double low_ns = value_at(hist, (uint64_t)floor((double)low * stretch));
        double high_ns = value_at(hist, (uint64_t)ceil((double)high * stretch));
        /* Beyond the last one that was granted is beyond the limit, however far. */
        if (isnan(low_ns) || low_ns > limit_ns) probe->verdict = PROMISE_BROKEN;
        if (high_ns <= limit_ns) probe->verdict = PROMISE_KEPT;
        if ((double)probe->over >= NEAR_PART * allowed * n) {
            probe->low_ns = low_ns;
            probe->high_ns = high_ns;
        }
    }
    if (stage->hopeless || probe->grew || is_surely_over(batches, count, allowed))
        probe->verdict = PROMISE_BROKEN;
}

/* What was granted before the window's end, and whether that fell behind what was due. The last batch
 * is left out, since it has what was granted after the end. A serial lock that did n grants in a time
 * had room for n - 1 of them. */
static void read_backlog(const struct stage *stage, struct probe *probe) {
    double granted = 0;
    int count = stage->batch_count - 1;
    if (!(stage->offered_per_s > 0) || count < 1 || stage->window_ns <= 0) return;
    for (int i = 0; i < count; i++) granted += (double)stage->batches[i].counted;
    double end_ns = (double)stage->batches[count - 1].end_ns;
    if (!(end_ns > 0)) return;
    double due = (double)probe->samples * fmin(1, end_ns / (double)stage->window_ns);
    probe->served_per_s = fmax(0, granted - 1) * 1e9 / end_ns;
    probe->grew = due - granted > GREW_SIGMAS * sqrt(due);
}

/* Whether the engine's late timers may have decided it, to whichever side: that must not depend on
 * the outcome, or who leaves late probes out keeps the lucky ones. A request waits for a late timer
 * of its own, and behind a lock for those of everybody who is before it. */
static bool may_be_late(const struct stage *stage, const struct stage_promise *promise,
                        const struct probe *probe) {
    const struct hist *hiccup = stage->hist[METRIC_HICCUP];
    double before = probe->throughput_per_s * probe->quantile_ns / 1e9;
    /* A long stall of lockbench delays each request that falls due in it, by up to its length. */
    double one_ns = (double)(stage_stood_still(stage) ? hiccup->max : hist_quantile(hiccup, 0.99));
    double late_ns = one_ns + before * hist_mean(hiccup);
    return fabs(probe->quantile_ns - (double)promise->limit_ns) <= late_ns;
}

/* Whether the one key that all wait for was held or handed over nearly all the time: then more
 * clients would but wait longer for it. */
static bool key_was_busy(const struct stage *stage, const struct stage_ask *ask,
                         const struct probe *probe) {
    double cycle_ns = probe->hold_mean_ns + probe->handoff_mean_ns;
    bool one =
        ask->lock->lock->primitive == LB_MUTEX && keys_count(&ask->plan->keys, stage->clients) == 1;
    /* false when it is not known */
    return one && probe->throughput_per_s * cycle_ns / 1e9 >= KEY_BUSY_PART;
}

/* Threads without time left are no accident: they would have none again. */
static bool was_slow(const struct stage *stage, const struct stage_ask *ask) {
    return stage_is_limited(stage, ask) && !stage_is_busy(stage);
}

bool probe_is_spoilt(const struct stage *stage, const struct stage_ask *ask) {
    return stage_lost_cpu(stage) || was_slow(stage, ask);
}

/* Which limit of the load generator may have caused the verdict, if any. */
static enum probe_limit limit_of(const struct stage *stage, const struct stage_ask *ask,
                                 const struct probe *probe) {
    const struct stage_promise *promise = &ask->promise;
    if (stage_lost_cpu(stage)) return PROBE_STOLEN;
    if (was_slow(stage, ask) && may_be_late(stage, promise, probe)) return PROBE_LATE;
    bool over = (double)probe->over > (1 - promise->quantile) * (double)probe->samples;
    if (!over && !probe->grew) return PROBE_NOT_LIMITED;
    if (stage_is_limited(stage, ask) && stage_is_busy(stage)) return PROBE_BUSY;
    /* Requests were late although started ones were not: the queue was for our own clients, not for
     * the lock. */
    const struct hist *acquire = stage->hist[METRIC_ACQUIRE];
    if (promise->metric == METRIC_ACQUIRE_DUE && acquire->count > 0 &&
        !key_was_busy(stage, ask, probe) &&
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
        .load = load, .verdict = PROMISE_UNSURE, .quantile_ns = NAN, .low_ns = NAN, .high_ns = NAN};
    snprintf(probe.stage, sizeof probe.stage, "%s", ask->id);
    probe.wait_mean_ns = mean_of(hist, 1);
    probe.hold_mean_ns = mean_of(stage->hist[METRIC_HOLD], 1);
    probe.handoff_mean_ns = mean_of(stage->hist[METRIC_HANDOFF], MEANS_MIN);
    probe.samples = promise_due(stage, ask);
    if (stage->result.missed > 0) probe.missed = (uint64_t)stage->result.missed;
    if (stage->window_ns > 0)
        probe.throughput_per_s = stage->result.ok * 1e9 / (double)stage->window_ns;
    if (stage->status != STAGE_COMPLETE || probe.samples == 0) return probe;
    uint64_t within = promise_within(hist, ask->promise.limit_ns);
    probe.over = within < probe.samples ? probe.samples - within : 0;
    probe.measured = true;
    probe.span_s = (double)(stage->warmup_ns + stage->window_ns) / 1e9;
    read_backlog(stage, &probe);
    read_quantile(stage, &ask->promise, &probe);
    /* Whether the lock would have kept it is not known. What was kept in spite of us was kept. */
    probe.limit = limit_of(stage, ask, &probe);
    if (probe.limit && probe.verdict == PROMISE_BROKEN) probe.verdict = PROMISE_UNSURE;
    return probe;
}

/* Whether a window brought so few samples that they say nothing, and had so few over the limit that
 * more of them might have kept the promise. */
static bool is_thin(const struct probe *probe, double allowed) {
    return (double)probe->samples < SAMPLES_TOLD / allowed && (double)probe->over <= SAMPLES_TOLD;
}

struct search_result probe_result(const struct probe *probe, double allowed) {
    bool told = probe->measured && !is_thin(probe, allowed);
    return (struct search_result){.load = probe->load,
                                  .over = probe->over,
                                  .samples = told ? probe->samples : 0,
                                  .kept = probe->verdict == PROMISE_KEPT,
                                  .grew = probe->grew,
                                  .served_per_s = probe->served_per_s,
                                  .span_s = probe->span_s,
                                  .limited = probe->limit != PROBE_NOT_LIMITED};
}
