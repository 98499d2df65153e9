/* thresholds: see thresholds.h. */
#include "bench/run/thresholds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/option/text.h"
#include "bench/workload/stages.h"
#include "results/format/metric.h"
#include "results/format/write.h"

/* One lock under one load. */
struct threshold_row {
    const struct plan_lock *lock;
    char topology[192]; /* "" = embedded */
    int clients, readers;
    int64_t lease_ns; /* where the lock's stages differ in it; else 0 */
    double rate_per_s;
    struct slo_evidence evidence[THRESHOLDS_MAX];
};

int thresholds_init(struct thresholds *thresholds, const struct plan *plan, struct lb_err *err) {
    *thresholds = (struct thresholds){.count = 0};
    int count = thresholds_read(plan->promises, thresholds->threshold, err);
    if (count < 0) return -1;
    thresholds->count = count;
    return 0;
}

void thresholds_done(struct thresholds *thresholds) {
    for (int i = 0; i < thresholds->row_count; i++) {
        for (int t = 0; t < thresholds->count; t++)
            slo_evidence_done(&thresholds->rows[i].evidence[t]);
    }
    free(thresholds->rows);
    thresholds->rows = NULL;
    thresholds->row_count = 0;
}

static struct threshold_row *threshold_row(struct thresholds *thresholds,
                                           const struct stage_ask *ask) {
    const struct plan_stage *of = &ask->of;
    char topology[sizeof thresholds->rows->topology];
    char time[40], rtt[48] = "";
    if (of->distance.wired)
        snprintf(rtt, sizeof rtt, "+rtt-%s", duration_text(of->distance.rtt_ns, time, sizeof time));
    /* of->topology would be the servers that the plan starts, although they may be at a URL */
    const char *name = ask->place->topology;
    snprintf(topology, sizeof topology, "%s%s", strcmp(name, "embedded") == 0 ? "" : name, rtt);
    bool leased = leases_differ(of->plan, of->lock->lock);
    int64_t lease_ns = leased ? of->lease_ns : 0;
    for (int i = 0; i < thresholds->row_count; i++) {
        struct threshold_row *row = &thresholds->rows[i];
        if (row->lock == of->lock && strcmp(row->topology, topology) == 0 &&
            row->clients == of->clients && row->readers == of->readers &&
            row->rate_per_s == of->rate_per_s && row->lease_ns == lease_ns)
            return row;
    }
    struct threshold_row *grown =
        realloc(thresholds->rows, (size_t)(thresholds->row_count + 1) * sizeof *grown);
    if (!grown) return NULL;
    thresholds->rows = grown;
    struct threshold_row *row = &grown[thresholds->row_count++];
    *row = (struct threshold_row){.lock = of->lock,
                                  .clients = of->clients,
                                  .readers = of->readers,
                                  .lease_ns = lease_ns,
                                  .rate_per_s = of->rate_per_s};
    strcpy(row->topology, topology);
    return row;
}

/* ---- the seconds of a stage ---- */

/* The counts of one interval of the log that the thresholds need. */
struct interval {
    struct quantile_batch of[THRESHOLDS_MAX]; /* of a quantile's metric */
    struct quantile_batch granted, failed;    /* the waits that ended so */
};

struct intervals {
    const struct thresholds *thresholds;
    struct interval *item;
    int count;
    bool failed;
};

static struct interval *interval_of(struct intervals *intervals, int index) {
    if (index < intervals->count) return &intervals->item[index];
    struct interval *grown =
        realloc(intervals->item, (size_t)(index + 1) * sizeof *intervals->item);
    intervals->failed |= grown == NULL;
    if (!grown) return NULL;
    intervals->item = grown;
    while (intervals->count <= index) grown[intervals->count++] = (struct interval){0};
    return &grown[index];
}

static void take_interval(void *arg, enum metric metric, int index, const struct hist *hist) {
    struct intervals *intervals = arg;
    struct interval *interval = interval_of(intervals, index);
    if (!interval) return;
    if (metric == METRIC_ACQUIRE) interval->granted = slo_batch(hist, 0);
    if (metric == METRIC_WAIT_FAILED) interval->failed = slo_batch(hist, 0);
    for (int t = 0; t < intervals->thresholds->count; t++) {
        const struct threshold *threshold = &intervals->thresholds->threshold[t];
        if (threshold_metric(threshold) != metric) continue;
        interval->of[t] = slo_batch(hist, (int64_t)threshold->limit);
    }
}

static bool counts_failed(enum metric metric) {
    return metric == METRIC_ACQUIRE || metric == METRIC_ACQUIRE_DUE;
}

/* A second's attempts, as the threshold counts them; missed: arrivals of it that never started. */
static struct quantile_batch batch_of(const struct interval *interval,
                                      const struct threshold *threshold, int t, uint64_t missed) {
    struct quantile_batch batch = interval->granted, failed = interval->failed;
    failed.count += missed;
    if (threshold_metric(threshold) < METRICS) {
        batch = interval->of[t];
        if (!counts_failed(threshold_metric(threshold))) return batch;
        /* They waited for longer than the limit, whatever they waited for. */
        failed.sum = (double)failed.count * threshold->limit;
        failed.squares = failed.sum * threshold->limit;
    } else {
        batch.below = failed.count;
    }
    batch.count += failed.count;
    batch.sum += failed.sum;
    batch.squares += failed.squares;
    return batch;
}

/* A figure's seconds, where the log has what it is made of. */
static void add_seconds(struct slo_evidence *evidence, const struct threshold *threshold, int t,
                        const struct intervals *intervals, const struct stage *stage) {
    bool share = strcmp(threshold->figure->path, "not_granted") == 0;
    if (threshold_metric(threshold) == METRICS && !share) return;
    for (int i = 0; i < intervals->count; i++) {
        /* Arrivals that never started count in the last second, because they were missed at the window's end. */
        bool lacks = i + 1 == intervals->count && stage->result.missed > 0;
        uint64_t missed = lacks ? (uint64_t)stage->result.missed : 0;
        struct quantile_batch batch = batch_of(&intervals->item[i], threshold, t, missed);
        if (batch.count > 0) slo_add_batch(evidence, &batch);
    }
}

/* The grants of each second of the window, by their own time. */
static void add_rates(struct slo_evidence *evidence, const struct stage *stage) {
    double window_s = (double)stage->window_ns / 1e9;
    for (int i = 0; i < stage->second_count && !stage->seconds[i].draining; i++) {
        const struct stage_second *second = &stage->seconds[i];
        double end_s = i + 1 < stage->second_count ? second[1].t_s : window_s;
        double length_s = end_s - second->t_s;
        if (length_s >= 0.5) slo_add_second(evidence, (double)second->ok / length_s);
    }
}

/* ---- the figure of a stage ---- */

/* An attempt that was not granted lies above every granted one. */
static void add_quantile(struct slo_evidence *evidence, const struct threshold *threshold,
                         const struct stage *stage) {
    enum metric metric = threshold_metric(threshold);
    const struct hist *hist = stage->hist[metric];
    /* due in the window, or in a closed loop begun in it */
    bool closed = stage->ask->of.plan->arrival.kind == ARRIVAL_CLOSED;
    double asked = !counts_failed(metric) ? 0 : closed ? stage->result.attempts : stage->result.due;
    double figure = response_supported_quantile(hist, asked, threshold->quantile);
    bool any = !isnan(response_quantile(hist, asked, threshold->quantile));
    evidence->thin += any && isnan(figure);
    slo_add_figure(evidence, figure);
}

static void add_stage_figure(struct slo_evidence *evidence, const struct threshold *threshold,
                             const struct stage *stage) {
    if (stage->status != STAGE_COMPLETE) {
        slo_add_figure(evidence, NAN);
    } else if (isnan(threshold->quantile)) {
        slo_add_figure(evidence, result_field_figure(threshold->figure, &stage->result));
    } else {
        add_quantile(evidence, threshold, stage);
    }
}

void thresholds_take(struct thresholds *thresholds, const struct stage *stage) {
    const struct plan_lock *lock = stage->ask->of.lock;
    bool odd = lock->lock->caps & (LB_CAP_CONTROL | LB_CAP_BASELINE); /* and so makes no promise */
    if (thresholds->count == 0 || (odd && !lock->chosen)) return;
    struct threshold_row *row = threshold_row(thresholds, stage->ask);
    struct intervals intervals = {.thresholds = thresholds};
    struct lb_err unread = {0}; /* without a log the whole window is one batch */
    thresholds->failed |= row == NULL;
    if (!row) return;
    bool complete = stage->status == STAGE_COMPLETE;
    if (complete && stage->ask->hlog_path)
        slo_read_log(stage->ask->hlog_path, take_interval, &intervals, &unread);
    bool whole = complete && (unread.code || intervals.count == 0);
    if (whole) intervals.count = 0;
    for (int metric = 0; whole && metric < METRICS; metric++)
        if (stage->hist[metric])
            take_interval(&intervals, (enum metric)metric, 0, stage->hist[metric]);
    for (int t = 0; t < thresholds->count; t++) {
        const struct threshold *threshold = &thresholds->threshold[t];
        add_stage_figure(&row->evidence[t], threshold, stage);
        row->evidence[t].window_s += (double)stage->window_ns / 1e9;
        row->evidence[t].whole |= whole;
        row->evidence[t].limited += stage->result.limited_by != NULL;
        const struct stage_promise *watched = &stage->ask->promise; /* slo.stop */
        row->evidence[t].ended += stage->enough && threshold_metric(threshold) == watched->metric &&
                                  threshold->quantile == watched->quantile &&
                                  (int64_t)threshold->limit == watched->limit_ns;
        bool rate = strcmp(threshold->figure->path, "throughput_per_s") == 0;
        if (rate && complete) {
            add_rates(&row->evidence[t], stage);
        } else if (!intervals.failed) {
            add_seconds(&row->evidence[t], threshold, t, &intervals, stage);
        }
    }
    free(intervals.item);
}

bool thresholds_are_hopeless(void *arg, const struct stage *stage) {
    (void)arg;
    const struct stage_promise *promise = &stage->ask->promise;
    const struct shared *shared = stage->shared;
    int64_t elapsed_ns = stage->harvested_ns - atomic_load(&shared->window_begin_ns), granted = 0;
    if (elapsed_ns <= 0) return false;
    struct quantile_batch all = slo_batch(stage->hist[promise->metric], promise->limit_ns);
    for (int i = 0; i < shared->threads; i++)
        granted += atomic_load_explicit(&shared->worker[i].granted, memory_order_relaxed);
    return slo_is_hopeless(promise,
                           &(struct slo_so_far){.window_ns = (double)stage->ask->of.window_ns,
                                                .elapsed_ns = (double)elapsed_ns,
                                                .offered_per_s = shared->arrival.rate_per_s,
                                                .counted = (double)all.count,
                                                .within = (double)all.below,
                                                .granted = (double)granted});
}

/* ---- the answers ---- */

static json_t *threshold_answer_json(const struct threshold_row *row,
                                     const struct threshold *threshold,
                                     const struct slo_evidence *evidence) {
    struct slo_answer answer = slo_judge(threshold, evidence);
    /* A share that was promised in per cent is shown in per cent. */
    bool percent = strchr(threshold->text, '%') != NULL,
         time = !isnan(threshold->quantile) || result_field_is_time(threshold->figure);
    double scale = percent ? 100 : 1;
    bool never = isinf(answer.figure);
    struct run_slo slo = {.slo = threshold->text,
                          .lock = row->lock->lock->name,
                          .topology = row->topology[0] ? row->topology : NULL,
                          .verdict = promise_verdict_name(answer.verdict),
                          .basis = answer.basis,
                          .unit = percent ? "%"
                                  : time  ? "ns"
                                          : threshold->figure->unit,
                          .clients = row->clients,
                          .readers = row->readers,
                          .lease_ns = row->lease_ns > 0 ? (double)row->lease_ns : NAN,
                          .rate_per_s = row->rate_per_s > 0 ? row->rate_per_s : NAN,
                          .repeats = evidence->repeats,
                          .figure = never ? NAN : answer.figure * scale,
                          .never = never,
                          .low = isfinite(answer.low) ? answer.low * scale : NAN,
                          .high = isfinite(answer.high) ? answer.high * scale : NAN,
                          .limit = threshold->limit * scale};
    return result_fields_json(run_slo_fields(), &slo);
}

json_t *thresholds_json(const struct thresholds *thresholds) {
    json_t *array = json_array();
    int rc = thresholds->failed ? -1 : 0;
    for (int i = 0; i < thresholds->row_count && rc == 0; i++) {
        const struct threshold_row *row = &thresholds->rows[i];
        for (int t = 0; t < thresholds->count && rc == 0; t++)
            rc = json_array_append_new(
                array, threshold_answer_json(row, &thresholds->threshold[t], &row->evidence[t]));
    }
    if (rc == 0) return array;
    json_decref(array);
    return NULL;
}

int thresholds_exit(const struct thresholds *thresholds, char *why, size_t size) {
    int broken = 0, unsure = 0;
    const char *first = "", *lock = "";
    struct slo_answer named = {.basis = ""};
    why[0] = '\0';
    if (thresholds->count > 0 && thresholds->row_count == 0) {
        snprintf(
            why, size,
            "no promise was judged: no lock of this run makes any (a control or the baseline does only where --lock "
            "has its name)");
        return LB_EXIT_INCONCLUSIVE;
    }
    for (int i = 0; i < thresholds->row_count; i++) {
        for (int t = 0; t < thresholds->count; t++) {
            const struct threshold_row *row = &thresholds->rows[i];
            struct slo_answer answer = slo_judge(&thresholds->threshold[t], &row->evidence[t]);
            enum promise_verdict verdict = answer.verdict;
            bool names = (verdict == PROMISE_BROKEN && broken == 0) ||
                         (verdict == PROMISE_UNSURE && broken + unsure == 0);
            if (names) {
                first = thresholds->threshold[t].text;
                lock = row->lock->lock->name;
                named = answer;
            }
            broken += verdict == PROMISE_BROKEN;
            unsure += verdict == PROMISE_UNSURE;
        }
    }
    if (broken > 0) {
        snprintf(why, size, "%d promise%s broken, the first by %s: %s", broken,
                 broken == 1 ? " is" : "s are", lock, first);
        return LB_EXIT_REGRESSION;
    }
    if (unsure == 0) return LB_EXIT_OK;
    snprintf(why, size, "of %d promise%s it is not known whether %s kept, first of %s: %s: %s%s%s",
             unsure, unsure == 1 ? "" : "s", unsure == 1 ? "it is" : "they are", lock, first,
             named.basis, named.remedy[0] ? "; " : "", named.remedy);
    return LB_EXIT_INCONCLUSIVE;
}
