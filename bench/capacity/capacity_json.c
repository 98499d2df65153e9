/* capacity_json: writes capacity.json, as results/README.md documents it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/capacity/capacity_run_inside.h"
#include "bench/capacity/slo.h"
#include "bench/workload/keys.h"
#include "results/format/write.h"
#include "results/stats/queue.h"

#define NEAR 0.35 /* of the answer, in the logarithm: probes that say what happens at the edge */

static json_t *figure(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text) {
    return text && *text ? json_string(text) : json_null();
}

static json_t *probe_json(const struct probe *probe) {
    bool limited = probe->limit != PROBE_NOT_LIMITED;
    return json_pack(
        "{s:s, s:f, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "stage", probe->stage, "value",
        probe->load, "verdict", capacity_verdict_name(probe->verdict), "quantile_ns",
        figure(probe->quantile_ns), "low_ns", figure(probe->low_ns), "high_ns",
        figure(probe->high_ns), "samples", (json_int_t)probe->samples, "missed",
        (json_int_t)probe->missed, "over_share",
        probe->measured ? json_real((double)probe->over / (double)probe->samples) : json_null(),
        "limited_by",
        limited ? json_string(capacity_limit_name(CAPACITY_LIMIT_GENERATOR)) : json_null());
}

static bool is_near(const struct probe *probe, double load) {
    return fabs(log(probe->load / load)) <= NEAR;
}

/* Whether the model may be made of clean probes alone: where there are such around the answer. */
static bool any_clean_near(const struct lock_search *lock_search, double load) {
    for (int i = 0; i < lock_search->probe_count; i++) {
        const struct probe *probe = &lock_search->probes[i];
        if (!probe->limit && is_near(probe, load) && isfinite(probe->handoff_mean_ns)) return true;
    }
    return false;
}

/* The mean of a probe's figure over those around a load, of the clean ones if there are; NAN for
 * none. */
static double mean_near(const struct lock_search *lock_search, double load, size_t offset) {
    bool clean = any_clean_near(lock_search, load);
    double sum = 0;
    int count = 0;
    for (int i = 0; i < lock_search->probe_count; i++) {
        const struct probe *probe = &lock_search->probes[i];
        double value;
        memcpy(&value, (const char *)probe + offset, sizeof value);
        if (!isfinite(value) || !is_near(probe, load) || (clean && probe->limit)) continue;
        sum += value;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

/* What theory says of one hot key, beside what was measured where the promise was kept under the
 * greatest load; null where the theory does not fit. */
static json_t *model_json(const struct capacity_run *capacity_run,
                          const struct lock_search *lock_search, double load) {
    const struct plan *plan = capacity_run->ask.plan;
    bool one_key = keys_count(&plan->keys, plan->clients[0]) == 1;
    bool clean = load > 0 && any_clean_near(lock_search, load);
    const struct probe *at = NULL;
    if (capacity_run->ask.by_clients || !one_key ||
        lock_search->lock->lock->primitive != LB_MUTEX || !(load > 0))
        return json_null();
    double hold_ns = mean_near(lock_search, load, offsetof(struct probe, hold_mean_ns));
    double handoff_ns = mean_near(lock_search, load, offsetof(struct probe, handoff_mean_ns));
    double capacity_per_s = 1e9 * queue_capacity(hold_ns, handoff_ns);
    if (!isfinite(capacity_per_s)) return json_null();
    for (int i = 0; i < lock_search->probe_count; i++) {
        const struct probe *probe = &lock_search->probes[i];
        bool good =
            probe->load <= load && probe->quantile_ns <= (double)capacity_run->ask.slo.limit_ns;
        if (good && !(clean && probe->limit) && (!at || probe->load > at->load)) at = probe;
    }
    double predicted_ns = at ? 1e9 * queue_md1_wait(at->load, (hold_ns + handoff_ns) / 1e9) : NAN;
    return json_pack("{s:f, s:f, s:f, s:o, s:o, s:o}", "handoff_ns", handoff_ns, "hold_ns", hold_ns,
                     "capacity_per_s", capacity_per_s, "wait_predicted_ns", figure(predicted_ns),
                     "wait_measured_ns", at ? figure(at->wait_mean_ns) : json_null(), "at_per_s",
                     at ? json_real(at->load) : json_null());
}

/* Which limit of the load generator spoilt the probes; of several the most frequent one. NULL for
 * none. */
static const char *limit_words(const struct lock_search *lock_search) {
    int counts[PROBE_POOL + 1] = {0};
    enum probe_limit most = PROBE_NOT_LIMITED;
    for (int i = 0; i < lock_search->probe_count; i++) counts[lock_search->probes[i].limit]++;
    for (int i = PROBE_LATE; i <= PROBE_POOL; i++) {
        if (counts[i] > (most ? counts[most] : 0)) most = (enum probe_limit)i;
    }
    return probe_limit_text(most);
}

static json_t *why_json(const struct lock_search *lock_search, const struct search_answer *answer) {
    const char *ours = limit_words(lock_search);
    if (lock_search->probe_count == 0) return json_string("no probe could be measured");
    if (!answer->why) return json_null();
    if (answer->limit == SEARCH_BY_RANGE || !ours) return json_string(answer->why);
    return json_sprintf("%s: %s", answer->why, ours);
}

static json_t *answer_json(const struct search_answer *answer) {
    if (answer->limit == SEARCH_NO_ANSWER) return json_null();
    return json_pack("{s:f, s:f, s:o, s:f}", "value", answer->load, "low", answer->low, "high",
                     figure(answer->high), "level", SEARCH_LEVEL);
}

static json_t *limit_json(const struct search_answer *answer) {
    static const enum capacity_limit limits[] = {[SEARCH_NO_ANSWER] = CAPACITY_LIMIT_NONE,
                                                 [SEARCH_BY_PROMISE] = CAPACITY_LIMIT_SLO,
                                                 [SEARCH_BY_GENERATOR] = CAPACITY_LIMIT_GENERATOR,
                                                 [SEARCH_BY_RANGE] = CAPACITY_LIMIT_RANGE};
    return text_or_null(capacity_limit_name(limits[answer->limit]));
}

static json_t *slo_json(const struct stage_promise *slo) {
    char text[80];
    return json_pack("{s:s, s:s, s:f, s:I}", "text", slo_text(slo, text, sizeof text), "metric",
                     metric_name(slo->metric), "quantile", slo->quantile, "limit_ns",
                     (json_int_t)slo->limit_ns);
}

static json_t *lock_json(const struct capacity_run *capacity_run,
                         const struct lock_search *lock_search) {
    const struct lb_lock *lock = lock_search->lock->lock;
    const struct plan *plan = capacity_run->ask.plan;
    char hold[64], think[64], keys[64];
    bool own = plan->keys.pick == KEYS_OWN;
    struct search_answer answer = search_answer(&lock_search->search);
    keyspace_text(&plan->keys, keys, sizeof keys);
    char *blank = strchr(keys, ' ');
    if (blank) *blank = '\0'; /* the number alone; the distribution has a member of its own */
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:{s:i, s:i}}", "lock", lock->name, "backend",
        lock->backend->name, "primitive", lb_primitive_name(lock->primitive), "topology",
        text_or_null(lock_search->topology), "durability", text_or_null(lock_search->durability),
        "guarantee", lb_guarantee_name(lock->about.guarantee), "server",
        text_or_null(lock_search->server), "executor", "threads", lock_search->threads, "processes",
        lock_search->processes);
    json_object_set_new(json, "durability_class", text_or_null(lock_search->durability_class));
    json_t *shape = json_pack(
        "{s:o, s:s, s:s, s:s, s:s, s:s, s:i, s:b}", "slo", slo_json(&capacity_run->ask.slo), "by",
        capacity_run->ask.by_clients ? "clients" : "rate", "hold",
        dist_text(&plan->hold, hold, sizeof hold), "think",
        dist_text(&plan->think, think, sizeof think), "keys", keys, "key_distribution",
        own                            ? "own"
        : plan->keys.pick == KEYS_ZIPF ? "zipf"
                                       : "uniform",
        "clients", plan->clients[0], "violated", (int)lock_search->violated);
    json_t *probes = json_array();
    for (int i = 0; i < lock_search->probe_count; i++)
        json_array_append_new(probes, probe_json(&lock_search->probes[i]));
    json_t *found =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "answer", answer_json(&answer), "limited_by",
                  limit_json(&answer), "why", why_json(lock_search, &answer), "probes", probes,
                  "model", model_json(capacity_run, lock_search, answer.load));
    if (json && shape) json_object_update(json, shape);
    if (json && found) json_object_update(json, found);
    json_decref(shape);
    json_decref(found);
    return json;
}

json_t *capacity_run_json(const struct capacity_run *capacity_run, const char *partial,
                          bool ended) {
    json_t *locks = json_array();
    for (int i = 0; i < capacity_run->count; i++) {
        if (capacity_run->locks[i].began_ns == 0) continue; /* it was not reached */
        json_array_append_new(locks, lock_json(capacity_run, &capacity_run->locks[i]));
    }
    return json_pack("{s:s, s:{s:s, s:s}, s:s, s:s, s:o, s:b, s:o, s:O, s:o}", "schema",
                     CAPACITY_SCHEMA, "tool", "name", "lockbench", "version",
                     capacity_run->ask.version, "command", capacity_run->ask.command, "started_at",
                     capacity_run->started_at, "ended_at", ended ? result_now_json() : json_null(),
                     "partial", (int)(partial != NULL), "partial_reason", text_or_null(partial),
                     "environment", capacity_run->environment, "locks", locks);
}
