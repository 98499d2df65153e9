/* capacity_json: writes capacity.json, as results/FIELDS.md documents it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/capacity/capacity_run_inside.h"
#include "bench/capacity/probe.h"
#include "bench/workload/schedule.h"
#include "results/format/write.h"

/* Probes this near to the answer, in the logarithm of the load, show what happens at the edge. */
#define NEAR 0.35

/* Memory for the texts that struct capacity_lock only borrows. */
struct texts {
    char slo[80], hold[64], think[64], keys[64], why[400];
};

static double finite_or_nan(double value) {
    return isfinite(value) ? value : NAN;
}

static struct capacity_probe probe_figures(const struct probe *probe) {
    bool limited = probe->limit != PROBE_NOT_LIMITED;
    return (struct capacity_probe){
        .stage = probe->stage,
        .verdict_word = promise_verdict_name(probe->verdict),
        .limited_by = limited ? capacity_limit_name(CAPACITY_LIMIT_GENERATOR) : NULL,
        .value = probe->load,
        .quantile_ns = finite_or_nan(probe->quantile_ns),
        .low_ns = finite_or_nan(probe->low_ns),
        .high_ns = finite_or_nan(probe->high_ns),
        .grew = probe->grew,
        .samples = (double)probe->samples,
        .missed = (double)probe->missed,
        .over_share = probe->measured ? (double)probe->over / (double)probe->samples : NAN};
}

static bool is_near(const struct probe *probe, double load) {
    return fabs(log(probe->load / load)) <= NEAR;
}

/* True if there are clean probes around the answer, so that the bound is made of these
 * alone. */
static bool any_clean_near(const struct lock_search *lock_search, double load) {
    for (int i = 0; i < lock_search->probe_count; i++) {
        const struct probe *probe = &lock_search->probes[i];
        if (!probe->limit && is_near(probe, load) && isfinite(probe->handoff_mean_ns)) return true;
    }
    return false;
}

/* The mean of a probe's figure over the probes around a load, over the clean ones if there are any.
 * NAN if there is no probe. */
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

/* Fills in how often one hot key can be granted. Fills nothing if several clients may hold. */
static void fill_bound(const struct capacity_run *capacity_run,
                       const struct lock_search *lock_search, double load,
                       struct capacity_lock *ret) {
    const struct plan *plan = capacity_run->ask.plan;
    bool one_key = keys_count(&plan->keys, plan->clients[0]) == 1;
    if (capacity_run->ask.by_clients || !one_key ||
        !keys_have_one_holder(lock_search->lock->lock) || !(load > 0))
        return;
    double hold_ns = mean_near(lock_search, load, offsetof(struct probe, hold_mean_ns));
    double handoff_ns = mean_near(lock_search, load, offsetof(struct probe, handoff_mean_ns));
    if (!(hold_ns + handoff_ns > 0)) return; /* also if one is NAN */
    ret->hold_ns = hold_ns;
    ret->handoff_ns = handoff_ns;
    ret->bound_per_s = 1e9 / (hold_ns + handoff_ns);
}

/* The limit of the load generator that spoilt most of the spoilt probes, in words. NULL if none
 * did. */
static const char *limit_words(const struct lock_search *lock_search) {
    int counts[PROBE_POOL + 1] = {0};
    enum probe_limit most = PROBE_NOT_LIMITED;
    for (int i = 0; i < lock_search->probe_count; i++) counts[lock_search->probes[i].limit]++;
    for (int i = PROBE_LATE; i <= PROBE_POOL; i++) {
        if (counts[i] > (most ? counts[most] : 0)) most = (enum probe_limit)i;
    }
    return probe_limit_text(most);
}

static const char *why_text(const struct lock_search *lock_search,
                            const struct search_answer *answer, struct texts *texts) {
    const char *ours = limit_words(lock_search);
    if (lock_search->probe_count == 0) return "no probe could be measured";
    if (!answer->why || answer->limit == SEARCH_BY_RANGE || !ours) return answer->why;
    snprintf(texts->why, sizeof texts->why, "%s: %s", answer->why, ours);
    return texts->why;
}

static void fill_answer(const struct search_answer *answer, struct capacity_lock *ret) {
    static const enum capacity_limit limits[] = {[SEARCH_NO_ANSWER] = CAPACITY_LIMIT_NONE,
                                                 [SEARCH_BY_PROMISE] = CAPACITY_LIMIT_SLO,
                                                 [SEARCH_BY_GENERATOR] = CAPACITY_LIMIT_GENERATOR,
                                                 [SEARCH_BY_RANGE] = CAPACITY_LIMIT_RANGE};
    ret->limited_by_word = capacity_limit_name(limits[answer->limit]);
    if (answer->limit == SEARCH_NO_ANSWER) return;
    ret->value = answer->load;
    ret->low = answer->low;
    ret->high = finite_or_nan(answer->high);
    ret->level = SEARCH_LEVEL;
}

static const char *text_or_null(const char *text) {
    return text && *text ? text : NULL;
}

/* Fills in what the user asked of all locks. */
static void fill_question(const struct capacity_run *capacity_run, struct texts *texts,
                          struct capacity_lock *ret) {
    const struct plan *plan = capacity_run->ask.plan;
    const struct stage_promise *slo = &capacity_run->ask.slo;
    keyspace_text(&plan->keys, texts->keys, sizeof texts->keys);
    char *blank = strchr(texts->keys, ' ');
    if (blank) *blank = '\0'; /* the number alone; the distribution has a member of its own */
    ret->slo = slo_text(slo, texts->slo, sizeof texts->slo);
    ret->metric = metric_name(slo->metric);
    ret->quantile = slo->quantile;
    ret->limit_ns = (double)slo->limit_ns;
    ret->by_word = capacity_run->ask.by_clients ? "clients" : "rate";
    ret->hold = dist_text(&plan->hold, texts->hold, sizeof texts->hold);
    ret->think = dist_text(&plan->think, texts->think, sizeof texts->think);
    ret->keys = texts->keys;
    ret->key_distribution = plan->keys.pick == KEYS_OWN    ? "own"
                            : plan->keys.pick == KEYS_ZIPF ? "zipf"
                                                           : "uniform";
    ret->clients = plan->clients[0];
}

static void fill_place(const struct plan *plan, const struct lock_search *lock_search,
                       struct capacity_lock *ret) {
    const struct lb_lock *lock = lock_search->lock->lock;
    ret->holders = finite_or_nan(keys_holders(plan, lock));
    ret->lock = lock->name;
    ret->backend = lock->backend->name;
    ret->primitive = lb_primitive_name(lock->primitive);
    ret->guarantee =
        lock_search->guarantee ? lock_search->guarantee : lb_guarantee_name(lock->about.guarantee);
    ret->topology = text_or_null(lock_search->topology);
    ret->durability = text_or_null(lock_search->durability);
    ret->durability_class = text_or_null(lock_search->durability_class);
    ret->durability_note = lock->durability_note;
    ret->server = text_or_null(lock_search->server);
    ret->threads = lock_search->threads;
    ret->processes = lock_search->processes;
}

static json_t *searched_lock_json(const struct capacity_run *capacity_run,
                                  const struct lock_search *lock_search) {
    struct search_answer answer = search_answer(&lock_search->search);
    struct capacity_probe probes[EDGE_POINTS_MAX];
    struct capacity_lock figures;
    struct texts texts;
    capacity_lock_clear(&figures);
    fill_place(capacity_run->ask.plan, lock_search, &figures);
    fill_question(capacity_run, &texts, &figures);
    fill_answer(&answer, &figures);
    fill_bound(capacity_run, lock_search, answer.load, &figures);
    figures.why = why_text(lock_search, &answer, &texts);
    figures.violated = lock_search->violated;
    if (lock_search->saturated_per_s > 0) figures.saturated_per_s = lock_search->saturated_per_s;
    figures.probes = probes;
    figures.probe_count = lock_search->probe_count;
    for (int i = 0; i < figures.probe_count; i++)
        probes[i] = probe_figures(&lock_search->probes[i]);
    return capacity_lock_json(&figures);
}

json_t *capacity_run_json(const struct capacity_run *capacity_run, const char *partial,
                          bool ended) {
    char now[RESULT_DATE_MAX];
    struct capacity head = {.tool_name = "lockbench",
                            .tool_version = capacity_run->ask.version,
                            .command = capacity_run->ask.command,
                            .started_at = capacity_run->started_at,
                            .ended_at = ended ? result_date(time(NULL), now) : NULL,
                            .partial = partial != NULL,
                            .partial_reason = text_or_null(partial),
                            .environment = capacity_run->environment};
    json_t *locks = json_array();
    for (int i = 0; i < capacity_run->count; i++) {
        if (capacity_run->locks[i].began_ns == 0) continue; /* the lock's turn did not come */
        json_array_append_new(locks, searched_lock_json(capacity_run, &capacity_run->locks[i]));
    }
    return capacity_json(&head, locks);
}
