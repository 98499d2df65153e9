/* capacity_result: capacity.json; see capacity.h. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "bench/cli/cli.h"
#include "bench/option/text.h"
#include "bench/place/place.h"
#include "bench/tools/capacity/capacity.h"
#include "results/format/capacity_read.h"

/* Memory for the texts that struct capacity_lock only borrows. */
struct texts {
    char slo[80], hold[64], think[64], keys[64], server[256], why[400];
};

static double finite_or_nan(double value) {
    return isfinite(value) ? value : NAN;
}

static struct capacity_probe probe_figures(const struct probe *probe) {
    bool limited = probe->limit != PROBE_NOT_LIMITED;
    return (struct capacity_probe){
        .run = probe->run,
        .verdict_word = promise_verdict_name(probe->verdict),
        .limited_by = limited ? capacity_limit_name(CAPACITY_LIMIT_GENERATOR) : NULL,
        .value = probe->seen.load,
        .quantile_ns = finite_or_nan(probe->quantile_ns),
        .low_ns = finite_or_nan(probe->low_ns),
        .high_ns = finite_or_nan(probe->high_ns),
        .grew = probe->seen.grew,
        .samples = (double)probe->seen.samples,
        .over_share =
            probe->measured ? (double)probe->seen.over / (double)probe->seen.samples : NAN};
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
    if (answer->times > 1) {
        double minutes = ceil(answer->times * lock_search->search.ask.budget_s / 60);
        snprintf(texts->why, sizeof texts->why,
                 "%s: about %.0f minutes would do (--time %.0fm)%s%s", answer->why, minutes,
                 minutes, ours ? ": " : "", ours ? ours : "");
        return texts->why;
    }
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
}

/* Fills in what the user asked of all locks. */
static void fill_question(const struct capacity_search *state, struct texts *texts,
                          struct capacity_lock *ret) {
    const struct plan *plan = state->plan;
    const struct stage_promise *slo = &state->slo;
    plan_key_text(plan, "load", "keys", texts->keys, sizeof texts->keys);
    char *usual = strstr(texts->keys, " uniform");
    if (usual) *usual = '\0';
    ret->slo = slo_text(slo, texts->slo, sizeof texts->slo);
    ret->quantile = slo->quantile;
    ret->limit_ns = (double)slo->limit_ns;
    ret->by_word = state->by_clients ? "clients" : "rate";
    ret->hold = plan_key_text(plan, "load", "hold", texts->hold, sizeof texts->hold);
    ret->think = plan_key_text(plan, "load", "think", texts->think, sizeof texts->think);
    ret->keys = texts->keys;
    ret->clients = plan->clients[0];
}

/* Fills in where the lock ran. Servers of our own are known here better than to a run that was given their URL. */
static void fill_place(const struct lock_search *lock_search, struct texts *texts,
                       struct capacity_lock *ret) {
    const struct lb_lock *lock = lock_search->lock->lock;
    const struct place *own = &lock_search->was;
    const struct run *run = lock_search->last;
    const char *version = NULL;
    ret->lock = lock->name;
    ret->backend = lock->backend->name;
    ret->guarantee = lb_guarantee_name(lock->about.guarantee);
    ret->durability_note = lock->durability_note;
    ret->topology = lock_search->topology;
    if (run) {
        ret->guarantee = run->stages[0].guarantee;
        ret->topology = run->stages[0].topology;
        ret->durability = run->stages[0].durability;
        ret->durability_class = run->stages[0].durability_class;
        ret->threads = finite_or_nan(run->stages[0].threads);
        ret->processes = finite_or_nan(run->stages[0].processes);
    }
    if (run && run->server_count > 0)
        version = json_string_value(json_object_get(run->servers[0].facts, "version"));
    if (*own->topology) {
        ret->topology = own->topology;
        ret->durability = own->durability;
        ret->durability_class = place_durability_class(own, lock);
    }
    if (!version) return;
    snprintf(texts->server, sizeof texts->server, "%s %.200s", lock->backend->name, version);
    ret->server = texts->server;
}

static json_t *searched_lock_json(const struct capacity_search *state,
                                  const struct lock_search *lock_search, const char *partial) {
    struct search_answer answer = search_answer(&lock_search->search);
    struct capacity_probe probes[EDGE_POINTS_MAX];
    struct capacity_lock figures;
    struct texts texts;
    capacity_lock_clear(&figures);
    fill_place(lock_search, &texts, &figures);
    fill_question(state, &texts, &figures);
    fill_answer(&answer, &figures);
    bool cut = partial && !lock_search->done && answer.limit == SEARCH_NO_ANSWER;
    figures.why = cut ? partial : why_text(lock_search, &answer, &texts);
    figures.violated = lock_search->violated;
    double saturated_per_s = lock_search->search.ask.capacity_per_s;
    if (saturated_per_s > 0) figures.saturated_per_s = saturated_per_s;
    figures.probes = probes;
    figures.probe_count = lock_search->probe_count;
    for (int i = 0; i < figures.probe_count; i++)
        probes[i] = probe_figures(&lock_search->probes[i]);
    return capacity_lock_json(&figures);
}

json_t *capacity_result_json(const struct capacity_search *state, const char *partial, bool ended) {
    char now[RESULT_DATE_MAX];
    struct capacity head = {.tool_name = "lockbench",
                            .tool_version = LOCKBENCH_VERSION,
                            .command = state->command,
                            .started_at = state->started_at,
                            .ended_at = ended ? result_date(time(NULL), now) : NULL,
                            .partial = partial != NULL,
                            .partial_reason = partial,
                            .environment = state->environment};
    json_t *locks = json_array();
    for (int i = 0; i < state->count; i++) {
        if (!state->locks[i].begun) continue; /* the lock's turn did not come */
        json_array_append_new(locks, searched_lock_json(state, &state->locks[i], partial));
    }
    return capacity_json(&head, locks);
}
