/* stage_json: a stage as run.json has it; results/README.md documents each path. It computes
 * quantiles and quotients, and nothing else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/faults/faults.h"
#include "bench/run/stage.h"
#include "bench/run/stage_history.h"
#include "bench/run/stage_store.h"
#include "bench/run/steady.h"
#include "bench/run/steal.h"
#include "bench/workload/keys.h"
#include "results/format/hdr.h"
#include "results/stats/queue.h"

#define BUSY_SHARE 0.95
#define LATE_NS LB_MS_NS /* at this quantile and later: it shows in the figures */
#define LATE_QUANTILE 0.99
#define HANDOFFS_MIN 30 /* fewer say little of their mean */

/* value / count, or null when either is not known. */
static json_t *per(double value, uint64_t count) {
    return value < 0 || count == 0 ? json_null() : json_real(value / (double)count);
}

static json_t *latency_json(const struct hist *h, struct lb_err *err) {
    if (h->count + h->over == 0) return json_null();
    char *hdr = hdr_encode(h, err);
    if (!hdr) return NULL;
    json_t *json = json_pack(
        "{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "count", (json_int_t)h->count, "min",
        (json_int_t)h->min, "mean", hist_mean(h), "p50", (json_int_t)hist_quantile(h, 0.5), "p90",
        (json_int_t)hist_quantile(h, 0.9), "p99", (json_int_t)hist_quantile(h, 0.99), "p999",
        (json_int_t)hist_quantile(h, 0.999), "max", (json_int_t)h->max, "over", (json_int_t)h->over,
        "hdr", hdr);
    free(hdr);
    return json;
}

static json_t *latencies_json(const struct stage *stage, struct lb_err *err) {
    json_t *all = json_object();
    for (int metric = 0; metric < METRICS && all; metric++) {
        if (metric == METRIC_HICCUP) continue; /* the executor's own: it stands there */
        json_t *one = latency_json(stage->hist[metric], err);
        if (!one || json_object_set_new(all, metric_name(metric), one) != 0) {
            json_decref(all);
            all = NULL;
        }
    }
    return all;
}

static json_t *outcomes_json(const struct stage *stage) {
    json_t *outcomes = json_object();
    for (int i = 0; i < LB_OUTCOMES; i++) {
        json_object_set_new(outcomes, lb_outcome_name((enum lb_outcome)i),
                            json_integer((json_int_t)stage->outcomes[i]));
    }
    return outcomes;
}

static json_t *claims_json(const struct lb_lock *lock) {
    static const struct {
        unsigned bit;
        const char *name;
    } claims[] = {{LB_CLAIM_EXCLUDES, "excludes"},
                  {LB_CLAIM_SAFE_PAUSE, "safe-pause"},
                  {LB_CLAIM_SAFE_FAILOVER, "safe-failover"},
                  {LB_CLAIM_CRASH_RELEASE, "crash-release"}};
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        if (lock->claims & claims[i].bit) json_array_append_new(array, json_string(claims[i].name));
    }
    return array;
}

static json_t *holding_json(const struct holding *holding) {
    return json_pack("{s:I, s:I, s:o, s:I}", "client", (json_int_t)holding->client, "acquired_ns",
                     (json_int_t)holding->acquired_ns, "lease_end_ns",
                     holding->lease_end_ns == LB_NEVER
                         ? json_null()
                         : json_integer((json_int_t)holding->lease_end_ns),
                     "token", (json_int_t)holding->token);
}

static json_t *exclusion_json(const struct stage *stage, const struct lb_lock *lock) {
    static const char *const verdicts[] = {"unchecked", "clean", "expired", "stuck", "violated"};
    const struct exclusion *x = &stage->exclusion;
    const char *verdict = (lock->caps & LB_CAP_BASELINE) ? "baseline" : verdicts[x->verdict];
    json_t *first = json_null();
    if (stage->has_first) {
        first = json_pack("{s:I, s:o, s:o}", "key", (json_int_t)stage->first_key, "holder",
                          holding_json(&stage->first_holder), "intruder",
                          holding_json(&stage->first_intruder));
    }
    bool sure = x->verdict == VERDICT_CLEAN && !(lock->caps & LB_CAP_BASELINE);
    json_t *counts = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "grants", (json_int_t)x->grants,
        "counter", (json_int_t)x->counter, "lost_updates", (json_int_t)x->lost_updates,
        "double_holders", (json_int_t)x->double_holders, "expired_holders",
        (json_int_t)x->expired_holders, "token_errors", (json_int_t)x->token_errors, "stuck",
        (json_int_t)x->stuck, "detected", (json_int_t)x->detected, "early", (json_int_t)x->early,
        "oversold", (json_int_t)x->oversold);
    json_t *json = json_pack(
        "{s:s, s:o, s:o, s:o}", "verdict", verdict, "detect_ns_max",
        stage->detect_max_ns ? json_integer((json_int_t)stage->detect_max_ns) : json_null(),
        "bound95", sure ? json_real(3.0 / (double)x->grants) : json_null(), "first", first);
    if (json && counts) json_object_update(json, counts);
    json_decref(counts);
    return json;
}

/* null where nobody could be asked: no server, or a stage after which something may be left with
 * reason. */
static json_t *residue_json(const struct stage *stage) {
    if (!stage->residue_known) return json_null();
    uint64_t count = stage->residue.count;
    return json_pack("{s:I, s:o}", "count", (json_int_t)count, "example",
                     count > 0 ? json_string(stage->residue.example) : json_null());
}

/* NAN is not known. */
static json_t *figure(double value, bool known) {
    return known && !isnan(value) ? json_real(value) : json_null();
}

static json_t *fairness_json(const struct stage *stage, const struct lb_lock *lock) {
    json_t *each = json_array();
    for (int i = 0; i < stage->clients && stage->grants_per_client; i++) {
        json_array_append_new(each, json_integer((json_int_t)stage->grants_per_client[i]));
    }
    bool any = stage->grants > 0;
    bool ordered = (lock->caps & LB_CAP_FAIR) && lock->primitive != LB_SEMAPHORE;
    bool turns = stage->turns.window > 0 && !(lock->caps & LB_CAP_BASELINE);
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "inversions",
                     ordered ? json_integer((json_int_t)stage->inversions) : json_null(), "jain",
                     any ? json_real(stage->jain) : json_null(), "min_share",
                     any ? json_real(stage->min_share) : json_null(), "max_wait_ns",
                     (json_int_t)stage->max_wait_ns, "longest_run", (json_int_t)stage->longest_run,
                     "lwss", figure(stage->turns.lwss, turns), "lwss_window",
                     turns ? json_integer((json_int_t)stage->turns.window) : json_null(), "mttr",
                     figure(stage->turns.mttr, turns), "grants_per_client", each);
}

static json_t *series_json(const struct stage *stage) {
    json_t *series = json_array();
    for (int i = 0; i < stage->second_count; i++) {
        const struct stage_second *second = &stage->seconds[i];
        json_array_append_new(series,
                              json_pack("{s:f, s:I, s:I, s:I}", "t_s", second->t_s, "ok",
                                        (json_int_t)second->ok, "acquire_p50_ns",
                                        (json_int_t)second->acquire_p50_ns, "acquire_p99_ns",
                                        (json_int_t)second->acquire_p99_ns));
    }
    return series;
}

/* Processors that were taken away, at a moment; -1 = not known. */
static double stolen_share(const struct stage *stage) {
    int64_t took_ns = stage->window_ns + stage->drain_ns;
    return stage->stolen_ns < 0 || took_ns <= 0 ? -1 : (double)stage->stolen_ns / (double)took_ns;
}

static json_t *executor_json(const struct stage *stage, const struct lb_lock *lock,
                             struct lb_err *err) {
    json_t *hiccup = latency_json(stage->hist[METRIC_HICCUP], err);
    if (!hiccup) return NULL;
    /* A driver that blocks its thread by design has a loop to itself: there is nothing to keep from
     * it. */
    bool blocks = lock->caps & LB_CAP_BLOCKS_THREAD;
    double share = stolen_share(stage);
    return json_pack("{s:o, s:I, s:o, s:o, s:i, s:i, s:b}", "hiccup_ns", hiccup, "stack_bytes_max",
                     (json_int_t)stage->stack_bytes_max, "blocked_ns_max",
                     blocks ? json_null() : json_integer((json_int_t)stage->blocked_max_ns),
                     "stolen_share", share < 0 ? json_null() : json_real(share), "fibers",
                     stage->clients, "loops", stage->threads, "pinned", 0);
}

static json_t *arrivals_json(const struct stage *stage, const struct plan *plan) {
    if (plan->arrival.kind == ARRIVAL_CLOSED) return json_null();
    return json_pack("{s:I, s:I, s:I, s:I}", "due", (json_int_t)stage->due, "started",
                     (json_int_t)stage->started, "missed", (json_int_t)stage->missed, "queued",
                     (json_int_t)stage->queued);
}

/* The engine's own timers were late. A driver that blocks its thread by design makes them so. */
static bool is_late(const struct stage *stage, const struct lb_lock *lock) {
    return hist_quantile(stage->hist[METRIC_HICCUP], LATE_QUANTILE) > LATE_NS &&
           !(lock->caps & LB_CAP_BLOCKS_THREAD);
}

static bool starts_were_late(const struct stage *stage) {
    return hist_quantile(stage->hist[METRIC_LAG], LATE_QUANTILE) > LATE_NS;
}

/* Requests that fell due while all clients were busy waited for those: for the lock, or for too
 * small a pool. */
static bool pool_was_busy(const struct stage *stage) {
    return (double)stage->queued >= (1 - LATE_QUANTILE) * (double)stage->due;
}

/* Requests started late although a client was free for them. No closed loop: it has no slots. */
static bool is_tardy(const struct stage *stage, const struct lb_lock *lock) {
    return starts_were_late(stage) && !pool_was_busy(stage) && !(lock->caps & LB_CAP_BLOCKS_THREAD);
}

/* Of the window, for which the threads ran; -1 = not known. */
static double busy_share(const struct stage *stage) {
    double have_ns = (double)stage->window_ns * stage->threads;
    return stage->client_cpu_ns < 0 || have_ns <= 0 ? -1 : stage->client_cpu_ns / have_ns;
}

bool stage_is_busy(const struct stage *stage) {
    return busy_share(stage) > BUSY_SHARE;
}

bool stage_is_robbed(const struct stage *stage) {
    return steal_shows(stage->stolen_ns, stage->window_ns + stage->drain_ns);
}

/* A lock in our own memory is itself what the threads run. */
static bool is_busy(const struct stage *stage, const struct lb_lock *lock) {
    return lock->backend->topologies && stage_is_busy(stage);
}

const char *stage_limited_by(const struct stage *stage, const struct stage_ask *ask) {
    const struct lb_lock *lock = ask->lock->lock;
    bool ours = is_late(stage, lock) || is_tardy(stage, lock) || is_busy(stage, lock) ||
                stage_is_robbed(stage);
    return ours ? "generator" : NULL;
}

/* Grants a second that the one key of a mutex can do, by what was measured; infinite when that is
 * no limit. */
static double one_key_capacity(const struct stage *stage, const struct stage_ask *ask) {
    const struct hist *handoff = stage->hist[METRIC_HANDOFF];
    bool one =
        ask->lock->lock->primitive == LB_MUTEX && keys_count(&ask->plan->keys, stage->clients) == 1;
    if (!one || handoff->count < HANDOFFS_MIN || ask->plan->mode == MODE_TRY) return INFINITY;
    double capacity = queue_capacity(hist_mean(stage->hist[METRIC_HOLD]), hist_mean(handoff));
    return capacity > 0 ? capacity * 1e9 : INFINITY;
}

static json_t *sweep_json(const struct sweep_at *at) {
    if (!at->by) return json_null();
    return json_pack("{s:s, s:s, s:s, s:i}", "by", at->by, "order", at->order, "leg", at->leg,
                     "step", at->step);
}

static json_t *steady_json(const struct stage_steady *steady) {
    if (!steady->asked) return json_null();
    return json_pack("{s:b, s:b, s:o, s:o}", "asked", 1, "reached", (int)steady->reached, "after_s",
                     steady->reached ? json_real(steady->after_s) : json_null(), "slope",
                     isnan(steady->slope) ? json_null() : json_real(steady->slope));
}

/* Which limit of the load generator the figures show in part: number *index of these, or NULL with
 * *index less by their count. There is one exactly when stage_limited_by says so. */
static const char *limit_warning(const struct stage *stage, const struct stage_ask *ask, int *index,
                                 char *text, size_t size) {
    const struct lb_lock *lock = ask->lock->lock;
    if (is_late(stage, lock) && (*index)-- == 0) {
        snprintf(
            text, size,
            "generator-limited: the engine's own timers were late by %.1f ms at p99: fewer clients, more "
            "threads or an idler machine would tell more",
            (double)hist_quantile(stage->hist[METRIC_HICCUP], LATE_QUANTILE) / 1e6);
        return text;
    }
    if (is_busy(stage, lock) && (*index)-- == 0) {
        snprintf(
            text, size,
            "generator-limited: its %d threads were busy for %.0f %% of the window: more of them "
            "(load.threads) "
            "or another machine would tell more",
            stage->threads, 100 * busy_share(stage));
        return text;
    }
    if (stage_is_robbed(stage) && (*index)-- == 0) {
        snprintf(
            text, size,
            "generator-limited: the host of this virtual machine took %.2g s of processor time in %.2g s "
            "(steal): clients and servers stood still meanwhile",
            (double)stage->stolen_ns / 1e9, (double)(stage->window_ns + stage->drain_ns) / 1e9);
        return text;
    }
    if (is_tardy(stage, lock) && (*index)-- == 0) {
        snprintf(
            text, size,
            "generator-limited: starts were late by %.1f ms at p99 although clients were free: an idler "
            "machine would tell more",
            (double)hist_quantile(stage->hist[METRIC_LAG], LATE_QUANTILE) / 1e6);
        return text;
    }
    return NULL;
}

const char *stage_warning(const struct stage *stage, const struct stage_ask *ask, int index,
                          char *text, size_t size) {
    const struct lb_lock *lock = ask->lock->lock;
    const char *limit;
    if (stage->blocked_max_ns > 10 * LB_MS_NS && !(lock->caps & LB_CAP_BLOCKS_THREAD) &&
        index-- == 0) {
        snprintf(
            text, size,
            "a fiber kept its loop for %.1f ms (the driver blocking, or the machine busy): latencies of "
            "that moment are ours, not the server's",
            (double)stage->blocked_max_ns / 1e6);
        return text;
    }
    if (stage->residue_known && stage->residue.count > 0 && index-- == 0) {
        snprintf(text, size, "left on the server after everybody had gone: %llu, such as %s",
                 (unsigned long long)stage->residue.count, stage->residue.example);
        return text;
    }
    if (stage->tidy_err.code && index-- == 0) {
        snprintf(text, size, "could not ask the server what was left on it: %s",
                 stage->tidy_err.text);
        return text;
    }
    if (index >= 0 && store_warning(stage, text, size) && index-- == 0) return text;
    if (index >= 0 && history_warning(stage, text, size) && index-- == 0) return text;
    if ((limit = limit_warning(stage, ask, &index, text, size))) return limit;
    if (stage->steady.asked && !stage->steady.reached && isnan(stage->steady.slope) &&
        index-- == 0) {
        snprintf(
            text, size,
            "never steady: it could not be told from its last %d s (it ended before, or a second of them "
            "had no grant)",
            steady_seconds(ask->plan->duration_ns));
        return text;
    }
    if (stage->steady.asked && !stage->steady.reached && !isnan(stage->steady.slope) &&
        index-- == 0) {
        snprintf(
            text, size,
            "never steady: over its last %d s it changed by %.2g %% a second, and run.steady wants less than "
            "%.2g %%",
            steady_seconds(ask->plan->duration_ns), 100 * stage->steady.slope,
            ask->plan->steady_percent);
        return text;
    }
    if (stage->hopeless && index-- == 0) {
        snprintf(text, size,
                 "ended after %.1f s: by then the promise was broken for all of the window",
                 (double)stage->window_ns / 1e9);
        return text;
    }
    double most_per_s = one_key_capacity(stage, ask);
    if (stage->offered_per_s > most_per_s && index-- == 0) {
        snprintf(
            text, size,
            "%.6g/s is more than 1/(hold + handoff) of one key, %.6g/s: where each grant is a handoff "
            "the queue grows for ever, and the waits are as long as the window",
            stage->offered_per_s, most_per_s);
        return text;
    }
    if (ask->plan->arrival.kind != ARRIVAL_CLOSED && index >= 0) {
        if (stage->missed > 0 && index-- == 0) {
            snprintf(
                text, size,
                "%llu of %llu slots could not be started before the window's end: the lock does not "
                "carry this rate with %d clients",
                (unsigned long long)stage->missed, (unsigned long long)stage->due, stage->clients);
            return text;
        }
        double lag_ms = (double)hist_quantile(stage->hist[METRIC_LAG], LATE_QUANTILE) / 1e6;
        if (starts_were_late(stage) && pool_was_busy(stage) && index-- == 0) {
            snprintf(
                text, size,
                "starts were late by %.1f ms at p99: %llu of %llu slots fell due while all %sclients "
                "were busy",
                lag_ms, (unsigned long long)stage->queued, (unsigned long long)stage->due,
                stage->threads > 1 ? "their thread's " : "");
            return text;
        }
    }
    return NULL;
}

static json_t *warnings_json(const struct stage *stage, const struct stage_ask *ask) {
    json_t *array = json_array();
    char text[256];
    for (int i = 0; stage_warning(stage, ask, i, text, sizeof text); i++) {
        json_array_append_new(array, json_string(text));
    }
    return array;
}

/* Of these warnings, those that say why the load generator was the limit. */
static json_t *limits_json(const struct stage *stage, const struct stage_ask *ask) {
    json_t *array = json_array();
    char text[256];
    for (int i = 0;; i++) {
        int index = i;
        if (!limit_warning(stage, ask, &index, text, sizeof text)) return array;
        json_array_append_new(array, json_string(text));
    }
}

static int at_least_one(int64_t number) {
    return number > 1 ? (int)number : 1;
}

/* What an attempt asks for, beside a key. */
static json_t *asked_json(const struct stage_ask *ask) {
    const struct plan *plan = ask->plan;
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:s}", "readers", ask->readers, "permits",
                     at_least_one(plan->permits), "bound", at_least_one(plan->bound), "depth",
                     at_least_one(plan->depth), "keys_at_once", at_least_one(plan->keys_at_once),
                     "clients_per_session", at_least_one(plan->clients_per_session), "session",
                     plan->churn ? "each" : "keep");
}

json_t *stage_json(const struct stage *stage, const struct stage_ask *ask, const char *topology,
                   const char *durability, const char *durability_class, struct lb_err *err) {
    static const char *const statuses[] = {"complete", "partial", "failed"};
    const struct plan *plan = ask->plan;
    const struct lb_lock *lock = ask->lock->lock;
    struct arrival asked = plan->arrival;
    if (stage->offered_per_s > 0) asked.rate_per_s = stage->offered_per_s;
    char arrival[64], hold[64], think[64], keys[64], distribution[64];
    uint32_t key_count = keys_count(&plan->keys, stage->clients);
    keyspace_text(&plan->keys, keys, sizeof keys);
    const char *space = strchr(keys, ' ');
    snprintf(distribution, sizeof distribution, "%s",
             plan->keys.pick == KEYS_OWN ? "own"
             : space                     ? space + 1
                                         : "uniform");
    json_t *latencies = latencies_json(stage, err);
    json_t *executor = executor_json(stage, lock, err);
    json_t *json = NULL;
    if (!latencies || !executor) goto out;
    json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:o, s:s}", "id", ask->id, "lock",
                     lock->name, "backend", lock->backend->name, "primitive",
                     lb_primitive_name(lock->primitive), "topology", topology, "durability",
                     durability, "control", (lock->caps & LB_CAP_CONTROL) != 0, "baseline",
                     (lock->caps & LB_CAP_BASELINE) != 0, "claims", claims_json(lock), "waits",
                     lock->waits);
    json_t *shape = json_pack(
        "{s:i, s:i, s:i, s:I, s:s, s:s, s:s, s:s, s:s, s:I, s:i}", "clients", stage->clients,
        "processes", stage->processes, "threads", stage->threads, "keys", (json_int_t)key_count,
        "key_distribution", distribution, "arrival", arrival_text(&asked, arrival, sizeof arrival),
        "hold", dist_text(&plan->hold, hold, sizeof hold), "think",
        dist_text(&plan->think, think, sizeof think), "mode", mode_text(plan->mode), "lease_ns",
        (json_int_t)plan->lease_ns, "repeat", ask->repeat);
    json_t *course =
        json_pack("{s:s, s:o, s:f, s:f, s:f, s:o}", "status", statuses[stage->status], "error",
                  stage->err.code ? json_string(stage->err.text) : json_null(), "duration_s",
                  (double)stage->window_ns / 1e9, "warmup_s", (double)stage->warmup_ns / 1e9,
                  "drain_s", (double)stage->drain_ns / 1e9, "connect_ns",
                  stage->connected
                      ? json_pack("{s:I, s:f, s:I}", "count", (json_int_t)stage->connected, "mean",
                                  stage->connect_mean_ns, "max", (json_int_t)stage->connect_max_ns)
                      : json_null());
    json_t *figures =
        json_pack("{s:I, s:o, s:o, s:I, s:o}", "attempts", (json_int_t)stage->attempts, "outcomes",
                  outcomes_json(stage), "arrivals", arrivals_json(stage, plan), "grants",
                  (json_int_t)stage->grants, "throughput_per_s",
                  stage->window_ns > 0
                      ? json_real((double)stage->outcomes[LB_OK] * 1e9 / (double)stage->window_ns)
                      : json_null());
    bool remote = lock->backend->schemes && lock->backend->topologies;
    json_t *cost =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "commands_per_grant",
                  per(remote ? (double)stage->commands : -1, stage->grants), "wakeups_per_grant",
                  per(remote ? (double)stage->wakeups : -1, stage->grants), "bytes_per_grant",
                  per(stage->bytes, stage->grants), "client_cpu_ns_per_grant",
                  per(stage->client_cpu_ns, stage->grants), "server_cpu_ns_per_grant",
                  per(stage->server_cpu_ns, stage->grants));
    json_t *parts[] = {shape, asked_json(ask), course, figures};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (json && parts[i]) json_object_update(json, parts[i]);
        json_decref(parts[i]);
    }
    if (!json) goto out;
    bool optimistic = lock->primitive == LB_OPTIMISTIC, latch = lock->primitive == LB_LATCH;
    json_object_set_new(json, "retries",
                        optimistic ? json_integer((json_int_t)stage->retries) : json_null());
    json_object_set_new(json, "rounds",
                        latch ? json_integer((json_int_t)stage->rounds) : json_null());
    json_object_set_new(json, "guarantee", json_string(lb_guarantee_name(lock->about.guarantee)));
    json_object_set_new(json, "shared_grants", json_integer((json_int_t)stage->shared_grants));
    json_object_set_new(json, "offered_per_s",
                        stage->offered_per_s > 0 ? json_real(stage->offered_per_s) : json_null());
    json_object_set_new(json, "sweep", sweep_json(&ask->sweep));
    json_object_set_new(json, "steady", steady_json(&stage->steady));
    const char *limit = stage_limited_by(stage, ask);
    json_object_set_new(json, "limited_by", limit ? json_string(limit) : json_null());
    json_object_set_new(json, "limited_why", limits_json(stage, ask));
    json_object_set_new(json, "store", store_json(stage));
    json_object_set_new(json, "faults", fault_log_json(&stage->faults, stage->window_begin_ns));
    json_object_set_new(json, "history", history_json(stage));
    json_object_set_new(json, "recovery", recovery_json(stage));
    json_object_set_new(json, "residue", residue_json(stage));
    /* A lock may live elsewhere than its server's tables: pg-advisory is in memory, whatever fsync
     * says. */
    json_object_set_new(json, "durability_class",
                        durability_class ? json_string(durability_class) : json_null());
    json_object_set_new(json, "durability_note",
                        lock->durability_note ? json_string(lock->durability_note) : json_null());
    json_object_set(json, "latency_ns", latencies);
    json_object_set_new(json, "fairness", fairness_json(stage, lock));
    json_object_set_new(json, "cost", cost);
    json_object_set_new(json, "exclusion", exclusion_json(stage, lock));
    json_object_set(json, "executor", executor);
    json_object_set_new(json, "series", series_json(stage));
    json_object_set_new(json, "warnings", warnings_json(stage, ask));
out:
    json_decref(latencies);
    json_decref(executor);
    if (!json) err_set(err, LB_EXIT_MACHINE, "out of memory for a stage's result");
    return json;
}
