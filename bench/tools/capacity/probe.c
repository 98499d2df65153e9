/* probe: see probe.h. */
#include "bench/tools/capacity/probe.h"

#include <math.h>
#include <stdio.h>

#include "bench/option/text.h"
#include "bench/slo/slo.h"
#include "bench/stage/harvest.h"
#include "bench/workload/schedule.h"
#include "results/stats/quantile.h"

/* The most parts of a window: shorter parts depend too much on each other near the edge. */
#define BATCHES_MAX 16
/* A probe shows its share only with so many requests that this number may be over the limit. */
#define SAMPLES_TOLD 2.5
#define MEANS_MIN 30 /* samples of a mean */
/* A key that was held or handed over for this part of the time was the limit. */
#define KEY_BUSY_PART 0.8
/* The backlog grew if grants fall behind the arrivals by so many standard deviations. */
#define GREW_SIGMAS 3.0
/* The quantile is near the limit if this part of the allowed number is over the limit. */
#define NEAR_PART 0.5

const char *probe_limit_text(enum probe_limit limit) {
    static const char *const words[] = {
        NULL, "the generator's own timers were late (a busy machine)",
        "the host of this virtual machine took its processors' time (steal)",
        "the generator's threads had no time left",
        "arrivals waited for a free client: use more clients (--set load.clients=N)"};
    return words[limit];
}

/* The value at a rank of n requests. The histogram has the granted requests; the result is NAN if
 * the rank is beyond these. */
static double value_at(const struct hist *hist, uint64_t rank) {
    uint64_t count = (uint64_t)hist->count;
    return rank > count ? NAN : (double)hist_quantile(hist, (double)rank / (double)count);
}

/* Makes batches of the half seconds of the window, by adding neighbours. Returns how many. */
static int batches_of(const struct stage *stage, struct quantile_batch batches[BATCHES_MAX]) {
    int count = stage->batch_count < BATCHES_MAX ? stage->batch_count : BATCHES_MAX;
    for (int i = 0; i < count; i++) batches[i] = (struct quantile_batch){0};
    for (int i = 0; i < stage->batch_count; i++) {
        struct quantile_batch *batch = &batches[(int64_t)i * count / stage->batch_count];
        batch->count += stage->batches[i].counted;
        batch->below += stage->batches[i].within;
        batch->sum += stage->batches[i].sum;
        batch->squares += stage->batches[i].squares;
    }
    return count;
}

static struct search_waits waits_of(const struct quantile_batch *batches, int count) {
    double n = 0, sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        n += (double)batches[i].count;
        sum += batches[i].sum;
        squares += batches[i].squares;
    }
    if (!(sum > 0)) return (struct search_waits){0};
    return (struct search_waits){.worth = batches_worth(batches, count, PROBE_LEVEL),
                                 .mean_s = sum / n / 1e9,
                                 .square_s2 = squares / n / 1e18};
}

/* True if more than the allowed share is over the limit, even if chance is taken into account. */
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
    probe->waits = waits_of(batches, count);
    probe->quantile_ns = value_at(hist, (uint64_t)ceil(promise->quantile * n));
    bool judged = quantile_ranks_batches(batches, count, promise->quantile, PROBE_LEVEL, &low,
                                         &high, NULL) == 0;
    if (judged) {
        /* low and high are ranks among all requests. The histogram has only those that were granted; a
         * request that was not granted took longer than any of them. */
        double stretch = n / (double)(hist->count + hist->over > 0 ? hist->count + hist->over : 1);
        double low_ns = value_at(hist, (uint64_t)floor((double)low * stretch));
        double high_ns = value_at(hist, (uint64_t)ceil((double)high * stretch));
        /* A request beyond the last granted one took longer than the limit. */
        if (isnan(low_ns) || low_ns > limit_ns) probe->verdict = PROMISE_BROKEN;
        if (high_ns <= limit_ns) probe->verdict = PROMISE_KEPT;
        /* With few requests over the limit their spread shows nothing about that at the quantile. */
        if ((double)probe->over >= NEAR_PART * allowed * n) {
            probe->low_ns = low_ns;
            probe->high_ns = high_ns;
        }
    }
    probe->few = !judged;
    /* without known stalls nobody can tell whose fault it is */
    bool far_over = !judged && !isnan(stage->result.stood_still_ns) &&
                    promise_is_far_over(promise, (double)probe->over, n);
    if (stage->hopeless || probe->grew || far_over || is_surely_over(batches, count, allowed))
        probe->verdict = PROMISE_BROKEN;
}

/* Reads how many requests were granted before the window's end, and whether this fell behind the number that was due.
 * The last batch is left out, because it contains grants after the window's end. Of n grants that a serial lock made
 * in a time, only n - 1 certainly lie in that time as a whole. Requests that fell due a moment ago are left out: no
 * request was granted faster than the shortest wait, which long ways may make as long as the limit. */
static void read_backlog(const struct stage *stage, const struct stage_promise *promise,
                         struct probe *probe) {
    int count = stage->batch_count - 1;
    if (!(stage->offered_per_s > 0) || count < 1 || stage->window_ns <= 0) return;
    double granted = (double)stage->batches[count - 1].granted;
    double end_ns = (double)stage->batches[count - 1].end_ns;
    if (!(end_ns > 0)) return;
    double way_ns = (double)stage->hist[promise->metric]->min; /* INT64_MAX: none was granted */
    double due_until_ns = end_ns - fmin(way_ns, (double)promise->limit_ns);
    double due = (double)probe->samples * fmin(1, fmax(0, due_until_ns) / (double)stage->window_ns);
    probe->served_per_s = fmax(0, granted - 1) * 1e9 / end_ns;
    probe->grew = due - granted > GREW_SIGMAS * sqrt(due);
}

/* Whether stalls of lockbench may have caused the verdict, where the quantile is among requests that
 * were never granted. Open loop: true if the promise may have been kept without the requests that
 * fell due in a stall or waited behind those. A closed loop does not count them: there a stall may
 * be the reason if it lasted for the limit. */
static bool may_have_lost(const struct stage *stage, const struct stage_promise *promise,
                          const struct probe *probe) {
    double allowed = (1 - promise->quantile) * (double)probe->samples;
    if (!stage_stood_still(stage)) return false;
    if (isnan(stage->result.stalled)) return stage->hist[METRIC_HICCUP]->max >= promise->limit_ns;
    return (double)probe->over - stage->result.stalled <= allowed;
}

/* True if the engine's late timers may have caused the verdict, kept or broken alike: if late
 * probes were left out only with one of the two, the others would be a biased choice. A request
 * waits for its own late timer and, behind a lock, for the late timers of all requests before
 * it. */
static bool may_be_late(const struct stage *stage, const struct stage_promise *promise,
                        const struct probe *probe) {
    const struct hist *hiccup = stage->hist[METRIC_HICCUP];
    if (isnan(probe->quantile_ns)) return may_have_lost(stage, promise, probe);
    double before = probe->throughput_per_s * probe->quantile_ns / 1e9;
    /* A long stall of lockbench delays each request that falls due in it, by up to its length. */
    double one_ns = (double)(stage_stood_still(stage) ? hiccup->max : hist_quantile(hiccup, 0.99));
    double late_ns = one_ns + before * hist_mean(hiccup);
    return fabs(probe->quantile_ns - (double)promise->limit_ns) <= late_ns;
}

/* True if the one key that all clients wait for was held or handed over nearly all the time: then
 * more clients would only wait longer for it. */
static bool key_was_busy(const struct stage *stage, const struct probe *probe) {
    double cycle_ns = probe->hold_mean_ns + probe->handoff_mean_ns;
    bool one = keys_have_one_holder(stage->ask->of.lock->lock) &&
               keys_count(&stage->ask->of.plan->keys, stage->clients) == 1;
    /* the comparison is false if a mean is not known (NAN) */
    return one && probe->throughput_per_s * cycle_ns / 1e9 >= KEY_BUSY_PART;
}

/* True if the load generator was too slow for another reason than busy threads: these would be busy
 * again in a second try. */
static bool was_slow(const struct stage *stage) {
    return stage_is_limited(stage) && !stage_is_busy(stage);
}

/* The limit of the load generator that may have caused the verdict, if any. */
static enum probe_limit limit_of(const struct stage *stage, const struct probe *probe) {
    const struct stage_promise *promise = &stage->ask->promise;
    if (stage_lost_cpu(stage)) return PROBE_STOLEN;
    if (was_slow(stage) && may_be_late(stage, promise, probe)) return PROBE_LATE;
    bool over = (double)probe->over > (1 - promise->quantile) * (double)probe->samples;
    if (!over && !probe->grew) return PROBE_NOT_LIMITED;
    if (stage_is_limited(stage) && stage_is_busy(stage)) return PROBE_BUSY;
    /* Requests were late although the acquires that started were not: the requests waited for a
     * free client of lockbench, not for the lock. */
    const struct hist *acquire = stage->hist[METRIC_ACQUIRE];
    if (promise->metric == METRIC_ACQUIRE_DUE && acquire->count > 0 &&
        !key_was_busy(stage, probe) &&
        hist_quantile(acquire, promise->quantile) <= promise->limit_ns &&
        hist_quantile(stage->hist[METRIC_LAG], promise->quantile) > promise->limit_ns / 2) {
        return PROBE_POOL;
    }
    return PROBE_NOT_LIMITED;
}

static double mean_of_hist(const struct hist *hist, int64_t least) {
    return hist->count < least ? NAN : hist_mean(hist);
}

struct probe probe_read(const struct stage *stage, double load) {
    const struct hist *hist = stage->hist[stage->ask->promise.metric];
    struct probe probe = {
        .load = load, .verdict = PROMISE_UNSURE, .quantile_ns = NAN, .low_ns = NAN, .high_ns = NAN};
    snprintf(probe.stage, sizeof probe.stage, "%s", stage->ask->id);
    probe.hold_mean_ns = mean_of_hist(stage->hist[METRIC_HOLD], 1);
    probe.handoff_mean_ns = mean_of_hist(stage->hist[METRIC_HANDOFF], MEANS_MIN);
    probe.samples = promise_due(stage);
    if (stage->result.missed > 0) probe.missed = (uint64_t)stage->result.missed;
    if (stage->window_ns > 0) probe.throughput_per_s = stage->result.throughput_per_s;
    if (stage->status != STAGE_COMPLETE || probe.samples == 0) return probe;
    uint64_t within = promise_within(hist, stage->ask->promise.limit_ns);
    probe.over = within < probe.samples ? probe.samples - within : 0;
    probe.measured = true;
    probe.span_s = (double)(stage->warmup_ns + stage->window_ns) / 1e9;
    read_backlog(stage, &stage->ask->promise, &probe);
    read_quantile(stage, &stage->ask->promise, &probe);
    /* A broken promise becomes unsure, since the lock might have kept it. A promise that was kept
     * in spite of the limit was kept. */
    probe.limit = limit_of(stage, &probe);
    if (probe.limit && probe.verdict == PROMISE_BROKEN) probe.verdict = PROMISE_UNSURE;
    return probe;
}

const char *probe_unsure_text(const struct probe *probe) {
    if (probe->verdict != PROMISE_UNSURE) return NULL;
    if (probe->limit) return probe_limit_text(probe->limit);
    if (!probe->measured) return "not measured to the end";
    return probe->few ? "too few requests for an interval of the quantile"
                      : "the quantile's interval lies on both sides of the limit";
}

/* True if a window brought so few samples that they say nothing, and had so few over the limit that
 * more samples might have kept the promise. */
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
                                  .waits = probe->waits,
                                  .limited = probe->limit != PROBE_NOT_LIMITED};
}
