/* stage_describe: what a stage's result has beside its sums: the lock, the load, the window, the
 * latencies, and the lists (series, faults, the first overlap). See stage.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/evidence/stage_history.h"
#include "bench/faults/faults.h"
#include "bench/stage/stage.h"
#include "bench/workload/schedule.h"
#include "bench/workload/stages.h"
#include "results/format/bound.h"
#include "results/format/hdr.h"
#include "results/format/write.h"
#include "results/stats/quantile.h"

static bool is_beyond(const struct lb_known_cause *cause, double figure) {
    if (isnan(figure)) return false;
    return (cause->above > 0 && figure > cause->above) ||
           (cause->below > 0 && figure < cause->below);
}

json_t *stage_causes(const struct run_stage *result, const struct lb_lock *lock) {
    json_t *texts = json_array();
    const struct lb_known_cause *cause = lock->algorithm->causes;
    /* else clients never met, or a fault may have made any figure what it is */
    bool tells = result->tested_grants > 0 && json_array_size(result->faults) == 0;
    for (; texts && tells && cause && cause->figure; cause++) {
        const struct result_field *field = run_stage_fields();
        while (field->path && strcmp(field->path, cause->figure) != 0) field++;
        if (!field->path || !is_beyond(cause, result_field_figure(field, result))) continue;
        json_array_append_new(texts,
                              json_sprintf("%s: known cause: %s%s%s%s", field->title, cause->cause,
                                           cause->option ? "; the option " : "",
                                           cause->option ? cause->option : "",
                                           cause->option ? " changes it" : ""));
    }
    return texts;
}

#define TEXT_MAX 64

static const char *keep_or_null(struct run_stage *result, const char *text) {
    return text ? run_stage_keep_text(result, "%s", text) : NULL;
}

static json_t *claims_json(const struct lb_lock *lock) {
    json_t *array = json_array();
    for (unsigned claim = 1; claim < LB_CLAIMS_END; claim <<= 1) {
        if (lock->claims & claim) json_array_append_new(array, json_string(lb_claim_name(claim)));
    }
    return array;
}

static void describe_lock(struct run_stage *result, const struct plan_stage *of) {
    const struct lb_lock *lock = of->lock->lock;
    result->lock = lock->name;
    result->backend = lock->backend->name;
    result->primitive = lb_primitive_name(lock->primitive);
    if (of->distance.wired) result->rtt_ns = (double)of->distance.rtt_ns;
    /* A lock may live elsewhere than its server's tables: pg-advisory is in memory, whatever fsync
     * says. */
    result->durability_note = lock->durability_note;
    result->guarantee = lb_guarantee_name(lock->about.guarantee);
    result->crash = lb_crash_name(lock->about.crash);
    result->waits = lock->waits;
    result->control = (lock->caps & LB_CAP_CONTROL) != 0;
    result->baseline = (lock->caps & LB_CAP_BASELINE) != 0;
    result->atomic = (lock->caps & LB_CAP_ATOMIC) != 0;
    result->claims = run_stage_keep(result, claims_json(lock));
}

static void describe_place(struct run_stage *result, const struct place *place,
                           const struct lb_lock *lock) {
    result->topology = keep_or_null(result, place->topology);
    result->durability = keep_or_null(result, place->durability);
    result->encryption = *place->encryption ? keep_or_null(result, place->encryption) : NULL;
    result->durability_class = place_durability_class(place, lock);
    result->guarantee = place_guarantee(place, lock);
}

static void describe_keys(struct run_stage *result, const struct plan *plan, int clients) {
    char keys[TEXT_MAX] = "";
    plan_key_text(plan, "load", "keys", keys, sizeof keys);
    const char *space = strchr(keys, ' ');
    bool own = plan->keys.pick == KEYS_OWN;
    result->keys =
        run_stage_keep_text(result, "%lu", (unsigned long)keys_count(&plan->keys, clients));
    result->key_distribution = own     ? "own"
                               : space ? run_stage_keep_text(result, "%s", space + 1)
                                       : "uniform";
}

static double at_least_one(int64_t number) {
    return number > 1 ? (double)number : 1;
}

/* The members of an attempt's request besides its key. */
static void describe_request(struct run_stage *result, const struct plan_stage *of) {
    const struct plan *plan = of->plan;
    const struct lb_lock *lock = of->lock->lock;
    char text[TEXT_MAX];
    result->mode = keep_or_null(result, plan_key_text(plan, "acquire", "mode", text, sizeof text));
    result->lease_ns = (double)of->lease_ns;
    result->lease_varies = leases_differ(plan, lock);
    result->readers = of->readers;
    result->permits = at_least_one(plan->permits);
    if (lock->primitive == LB_SEMAPHORE) result->bound = at_least_one(plan->bound);
    result->depth = at_least_one(plan->depth);
    result->clients_per_session = at_least_one(plan->clients_per_session);
    result->session = plan->churn ? "each" : "keep";
}

/* The load as it was planned. */
static void describe_load(struct run_stage *result, const struct plan_stage *of) {
    const struct plan *plan = of->plan;
    const struct arrival arrival = stage_arrival(of);
    char text[TEXT_MAX];
    if (arrival.rate_per_s > 0) result->offered_per_s = arrival.rate_per_s;
    result->clients = of->clients;
    result->repeat = of->repeat;
    describe_keys(result, plan, of->clients);
    result->arrival = keep_or_null(result, arrival_text(&arrival, text, sizeof text));
    result->hold = keep_or_null(result, plan_key_text(plan, "load", "hold", text, sizeof text));
    result->think = keep_or_null(result, plan_key_text(plan, "load", "think", text, sizeof text));
    if (plan->tick_ns > 0) result->tick_ns = (double)plan->tick_ns;
    if (plan->at_least_ns > 0) result->at_least_ns = (double)plan->at_least_ns;
    describe_request(result, of);
}

const char *stage_exposed_by(const struct run_stage *result, const struct plan_stage *of) {
    const struct lb_about *about = &of->lock->lock->about;
    size_t parts = json_array_size(result->hosts); /* the clients are shared out evenly */
    if (about->exposed_by && strcmp(about->exposed_by, of->plan->name) != 0)
        return about->exposed_by;
    if (about->exposed_on_one_host && parts > 0 && (size_t)of->clients <= parts)
        return "a load with two clients on one host";
    return NULL;
}

static void describe_faults(struct run_stage *result, const struct plan_stage *of) {
    char faults[160];
    /* A control whose mistake this workload can't show may come out clean. */
    result->exposed_by = stage_exposed_by(result, of);
    result->fault = run_stage_keep_text(result, "%s", faults_text(of->plan, faults, sizeof faults));
}

void stage_describe_planned(struct run_stage *result, const struct plan_stage *of) {
    *result = (struct run_stage){0};
    result_field_clear_all(run_stage_fields(), result);
    describe_lock(result, of);
    describe_load(result, of);
    describe_faults(result, of);
}

static void describe_course(struct stage *stage) {
    static const char *const statuses[] = {"complete", "partial", "failed"};
    struct run_stage *result = &stage->result;
    int64_t took_ns = stage->window_ns + stage->drain_ns;
    result->status = statuses[stage->status];
    if (stage->err.code) result->error = run_stage_keep_text(result, "%s", stage->err.text);
    result->duration_s = (double)stage->window_ns / 1e9;
    result->warmup_s = (double)stage->warmup_ns / 1e9;
    result->drain_s = (double)stage->drain_ns / 1e9;
    if (stage->stolen_ns >= 0 && took_ns > 0)
        result->stolen_share = (double)stage->stolen_ns / (double)took_ns;
}

static int fill_latency(struct run_stage *result, struct run_latency *latency, const struct hist *h,
                        struct lb_err *err) {
    if (h->count + h->over == 0) return 0;
    char *hdr = hdr_encode(h, err);
    if (!hdr) return -1;
    latency->hdr = run_stage_keep_text(result, "%s", hdr);
    free(hdr);
    run_latency_of(latency, h);
    return latency->hdr ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

/* null where it is not known, or so few grants do not support the quantile. */
static json_t *second_quantile(const struct stage_second *second, double quantile, int64_t ns) {
    bool is_known =
        ns >= 0 && !second->draining && quantile_supported((double)second->recorded, quantile);
    return is_known ? json_integer(ns) : json_null();
}

static json_t *series_json(const struct stage *stage) {
    json_t *series = json_array();
    for (int i = 0; i < stage->second_count; i++) {
        const struct stage_second *second = &stage->seconds[i];
        json_t *p50 = second_quantile(second, 0.5, second->acquire_p50_ns);
        json_t *p99 = second_quantile(second, 0.99, second->acquire_p99_ns);
        json_array_append_new(series,
                              json_pack("{s:f, s:I, s:o, s:o, s:b}", "t_s", second->t_s, "ok",
                                        (json_int_t)second->ok, "acquire_p50_ns", p50,
                                        "acquire_p99_ns", p99, "draining", (int)second->draining));
    }
    return series;
}

/* The members that are no sums: lock, servers, load, warnings and latencies. 0, or -1 with err when out of memory. */
static int describe(struct stage *stage, struct lb_err *err) {
    struct run_stage *result = &stage->result;
    const struct plan_stage *of = &stage->ask->of;
    result->id = keep_or_null(result, stage->ask->id);
    describe_lock(result, of);
    describe_place(result, stage->ask->place, of->lock->lock);
    describe_load(result, of);
    describe_faults(result, of);
    describe_course(stage);
    for (int metric = 0; metric < METRICS; metric++) {
        if (fill_latency(result, &result->latency[metric], stage->hist[metric], err) != 0)
            return -1;
    }
    result->inside_mean_ns = result->latency[METRIC_HOLD].mean;
    if (bound_hardly_tested(result->inside_mean_ns, result->latency[METRIC_PING].p50))
        result->bound95 = NAN;
    run_fill_response(result, stage->hist[METRIC_ACQUIRE_DUE]);
    result->faults = run_stage_keep(result, fault_log_json(&stage->faults, stage->window_begin_ns));
    result->series = run_stage_keep(result, series_json(stage));
    result->warnings = run_stage_keep(result, stage_warnings(stage));
    result->causes = run_stage_keep(result, stage_causes(result, of->lock->lock));
    if (stage_is_limited(stage)) result->limited_by = "generator";
    return result->warnings ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

void stage_conclude(struct stage *stage) {
    struct lb_err err = {0};
    if (!stage->hung) stage_tidy(stage);
    stage_history_end(stage->history, stage->shared, &stage->faults, stage->hung);
    stage_sum(stage, stage->shared);
    if (describe(stage, &err) != 0) {
        stage->status = STAGE_FAILED;
        stage->err = err;
    }
    if (stage->hung) return; /* its threads still use the memory */
    shared_free(stage->shared);
    stage->shared = NULL;
}
