/* probe: see probe.h. */
#include "bench/tools/capacity/probe.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/stage/machine.h"

/* The most parts of a window: shorter parts depend too much on each other near the edge. */
#define BATCHES_MAX 16
/* A probe shows its share only with so many requests that this number may be over the limit. */
#define SAMPLES_TOLD 2.5
#define MEANS_MIN 30 /* samples of a mean */
/* A key that was held or handed over for this part of the time was the limit. */
#define KEY_BUSY_PART 0.8
/* The load generator's threads had no time left if they ran for this part of it. */
#define BUSY_PART 0.95
/* A window that is shorter by more than this part was ended. */
#define SHORT_PART 0.99
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

/* ---- the log ---- */

static void take_line(void *arg, enum metric metric, int interval, const struct hist *hist) {
    struct probe_log *log = arg;
    log->failed |= hist_add(log->hist[metric], hist) != 0;
    if (metric != log->promise.metric) return;
    struct quantile_batch *grown =
        realloc(log->batches, (size_t)(interval + 1) * sizeof *log->batches);
    log->failed |= grown == NULL;
    if (!grown) return;
    log->batches = grown;
    log->batches[interval] = slo_batch(hist, log->promise.limit_ns);
    log->count = interval + 1;
}

int probe_log_read(struct probe_log *log, const struct stage_promise *promise, const char *path,
                   struct lb_err *err) {
    *log = (struct probe_log){.promise = *promise};
    for (int i = 0; i < METRICS; i++) {
        log->hist[i] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
        log->failed |= !log->hist[i];
    }
    if (!log->failed && slo_read_log(path, take_line, log, err) != 0) return -1;
    return log->failed ? err_set(err, LB_EXIT_MACHINE, "out of memory for %s", path) : 0;
}

void probe_log_done(struct probe_log *log) {
    for (int i = 0; i < METRICS; i++) hist_free(log->hist[i]);
    free(log->batches);
}

/* Makes batches of the intervals, by adding neighbours. Returns how many. */
static int batches_of(const struct probe_log *log, struct quantile_batch batches[BATCHES_MAX]) {
    int count = log->count < BATCHES_MAX ? log->count : BATCHES_MAX;
    for (int i = 0; i < count; i++) batches[i] = (struct quantile_batch){0};
    for (int i = 0; i < log->count; i++) {
        struct quantile_batch *batch = &batches[(int64_t)i * count / log->count];
        batch->count += log->batches[i].count;
        batch->below += log->batches[i].below;
        batch->sum += log->batches[i].sum;
        batch->squares += log->batches[i].squares;
    }
    return count;
}

/* ---- the figures ---- */

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

static void read_quantile(const struct probe_ask *ask, const struct run_stage *stage,
                          const struct probe_log *log, struct probe *probe) {
    struct quantile_batch batches[BATCHES_MAX];
    const struct stage_promise *promise = &log->promise;
    const struct hist *hist = log->hist[promise->metric];
    int count = batches_of(log, batches);
    uint64_t low, high;
    double n = (double)probe->seen.samples, limit_ns = (double)promise->limit_ns;
    double allowed = 1 - promise->quantile;
    probe->seen.waits = waits_of(batches, count);
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
        if ((double)probe->seen.over >= NEAR_PART * allowed * n) {
            probe->low_ns = low_ns;
            probe->high_ns = high_ns;
        }
    }
    probe->few = !judged;
    /* without known stalls nobody can tell whose fault it is */
    bool far_over = !judged && !isnan(stage->stood_still_ns) &&
                    slo_is_far_over(promise, (double)probe->seen.over, n);
    bool hopeless = stage->duration_s < SHORT_PART * ask->window_s;
    /* even if chance is taken into account */
    struct share within;
    bool surely_over =
        share_of_batches(batches, count, PROBE_LEVEL, &within) == 0 && 1 - within.high > allowed;
    if (hopeless || probe->seen.grew || far_over || surely_over) probe->verdict = PROMISE_BROKEN;
}

/* The grants after the window's end, to requests of the window. */
static double late_grants(const struct run_stage *stage) {
    const json_t *last = json_array_get(stage->series, json_array_size(stage->series) - 1);
    if (!json_is_true(json_object_get(last, "draining"))) return 0;
    return json_number_value(json_object_get(last, "ok"));
}

/* Reads how many requests were granted before the window's end, and whether this fell behind the number that was due.
 * Of n grants that a serial lock made in a time, only n - 1 certainly lie in that time as a whole. Requests that fell due
 * a moment ago are left out: no request was granted faster than the shortest wait, which long ways may make as long as the
 * limit. */
static void read_backlog(const struct run_stage *stage, const struct probe_log *log,
                         struct probe *probe) {
    if (!(stage->offered_per_s > 0) || !(stage->duration_s > 0)) return;
    if (log->count < 2) return; /* nobody looked at the window before its end */
    double granted = fmax(0, stage->grants - late_grants(stage));
    double way_ns = (double)log->hist[log->promise.metric]->min; /* INT64_MAX: none was granted */
    double way_s = fmin(way_ns, (double)log->promise.limit_ns) / 1e9;
    double due = (double)probe->seen.samples * fmax(0, 1 - way_s / stage->duration_s);
    probe->seen.served_per_s = fmax(0, granted - 1) / stage->duration_s;
    probe->seen.grew = due - granted > GREW_SIGMAS * sqrt(due);
}

/* Whether stalls of lockbench may have caused the verdict, where the quantile is among requests that
 * were never granted. Open loop: true if the promise may have been kept without the requests that
 * fell due in a stall or waited behind those. A closed loop does not count them: there a stall may
 * be the reason if it lasted for the limit. */
static bool may_have_lost(const struct run_stage *stage, const struct probe_log *log,
                          const struct probe *probe) {
    double allowed = (1 - log->promise.quantile) * (double)probe->seen.samples;
    if (!run_stood_still(stage)) return false;
    if (isnan(stage->stalled)) return log->hist[METRIC_HICCUP]->max >= log->promise.limit_ns;
    return (double)probe->seen.over - stage->stalled <= allowed;
}

/* True if the engine's late timers may have caused the verdict, kept or broken alike: if late
 * probes were left out only with one of the two, the others would be a biased choice. A request
 * waits for its own late timer and, behind a lock, for the late timers of all requests before
 * it. */
static bool may_be_late(const struct run_stage *stage, const struct probe_log *log,
                        const struct probe *probe) {
    const struct hist *hiccup = log->hist[METRIC_HICCUP];
    if (isnan(probe->quantile_ns)) return may_have_lost(stage, log, probe);
    double before = probe->seen.throughput_per_s * probe->quantile_ns / 1e9;
    /* A long stall of lockbench delays each request that falls due in it, by up to its length. */
    double one_ns = (double)(run_stood_still(stage) ? hiccup->max : hist_quantile(hiccup, 0.99));
    double late_ns = one_ns + before * hist_mean(hiccup);
    return fabs(probe->quantile_ns - (double)log->promise.limit_ns) <= late_ns;
}

/* True if the one key that all clients wait for was held or handed over nearly all the time: then
 * more clients would only wait longer for it. */
static bool key_was_busy(const struct probe_ask *ask, const struct probe_log *log,
                         const struct probe *probe) {
    const struct hist *handoff = log->hist[METRIC_HANDOFF];
    double cycle_ns = hist_mean(log->hist[METRIC_HOLD]) + hist_mean(handoff);
    return ask->one_key && handoff->count >= MEANS_MIN &&
           probe->seen.throughput_per_s * cycle_ns / 1e9 >= KEY_BUSY_PART;
}

static bool threads_were_busy(const struct run_stage *stage) {
    return stage->client_cpu_ns_per_grant * stage->grants / 1e9 >
           BUSY_PART * stage->duration_s * stage->threads;
}

static bool was_stolen(const struct run_stage *stage) {
    double took_s = stage->duration_s + stage->drain_s, stolen_s = stage->stolen_share * took_s;
    return stolen_s > 0 && steal_shows((int64_t)(1e9 * stolen_s), (int64_t)(1e9 * took_s));
}

/* The limit of the load generator that may have caused the verdict, if any. Busy threads would be busy again in a second
 * try. */
static enum probe_limit limit_of(const struct probe_ask *ask, const struct run_stage *stage,
                                 const struct probe_log *log, const struct probe *probe) {
    const struct stage_promise *promise = &log->promise;
    bool limited = stage->limited_by != NULL, busy = limited && threads_were_busy(stage);
    if (was_stolen(stage)) return PROBE_STOLEN;
    if (limited && !busy && may_be_late(stage, log, probe)) return PROBE_LATE;
    bool over = (double)probe->seen.over > (1 - promise->quantile) * (double)probe->seen.samples;
    if (!over && !probe->seen.grew) return PROBE_NOT_LIMITED;
    if (busy) return PROBE_BUSY;
    /* Requests were late although the acquires that started were not: the requests waited for a
     * free client of lockbench, not for the lock. */
    const struct hist *acquire = log->hist[METRIC_ACQUIRE];
    if (promise->metric == METRIC_ACQUIRE_DUE && acquire->count > 0 &&
        !key_was_busy(ask, log, probe) &&
        hist_quantile(acquire, promise->quantile) <= promise->limit_ns &&
        hist_quantile(log->hist[METRIC_LAG], promise->quantile) > promise->limit_ns / 2) {
        return PROBE_POOL;
    }
    return PROBE_NOT_LIMITED;
}

struct probe probe_read(const struct probe_ask *ask, const struct run_stage *stage,
                        const struct probe_log *log) {
    struct probe probe = {.verdict = PROMISE_UNSURE,
                          .seen.thin = true,
                          .quantile_ns = NAN,
                          .low_ns = NAN,
                          .high_ns = NAN};
    double samples = isnan(stage->due) ? stage->attempts : stage->due;
    if (samples > 0) probe.seen.samples = (uint64_t)samples;
    if (stage->throughput_per_s > 0) probe.seen.throughput_per_s = stage->throughput_per_s;
    if (!log || strcmp(stage->status, "complete") != 0 || probe.seen.samples == 0) return probe;
    uint64_t within = slo_batch(log->hist[log->promise.metric], log->promise.limit_ns).below;
    probe.seen.over = within < probe.seen.samples ? probe.seen.samples - within : 0;
    probe.measured = true;
    probe.seen.span_s = stage->warmup_s + stage->duration_s;
    read_backlog(stage, log, &probe);
    read_quantile(ask, stage, log, &probe);
    /* A broken promise becomes unsure, since the lock might have kept it. A promise that was kept
     * in spite of the limit was kept. */
    probe.limit = limit_of(ask, stage, log, &probe);
    if (probe.limit && probe.verdict == PROMISE_BROKEN) probe.verdict = PROMISE_UNSURE;
    probe.seen.kept = probe.verdict == PROMISE_KEPT;
    probe.seen.limited = probe.limit != PROBE_NOT_LIMITED;
    /* So few samples say nothing, and more of them might have kept the promise. */
    double told = SAMPLES_TOLD / (1 - log->promise.quantile);
    probe.seen.thin = (double)probe.seen.samples < told && (double)probe.seen.over <= SAMPLES_TOLD;
    return probe;
}

const char *probe_unsure_text(const struct probe *probe) {
    if (probe->verdict != PROMISE_UNSURE) return NULL;
    if (probe->limit) return probe_limit_text(probe->limit);
    if (!probe->measured) return "not measured to the end";
    return probe->few ? "too few requests for an interval of the quantile"
                      : "the quantile's interval lies on both sides of the limit";
}
