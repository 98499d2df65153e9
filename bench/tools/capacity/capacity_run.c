/* capacity_run: see capacity_run.h. */
#include "bench/tools/capacity/capacity_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/run/outdir.h"
#include "bench/stage/machine.h"
#include "bench/tools/capacity/probe.h"
#include "bench/workload/schedule.h"
#include "bench/workload/stages.h"
#include "results/format/write.h"

#define SATURATE_NS (3 * LB_S_NS)
/* Clients of the closed loop on one key: about as many wait for the key near the edge. */
#define SATURATE_CLIENTS 8
/* A window must have so many requests that this number may be over the limit: with fewer, the
 * quantile has no interval. */
#define SAMPLES_LEAST 3.7
#define WINDOWS 4       /* the time for a lock must have room for so many windows */
#define START_PART 0.75 /* the first load, as a part of the closed loop's throughput */
#define START_PER_S 50  /* the first load after a closed loop without a grant */
#define START_CLIENTS 4
/* The step between the seeds of two probes, which differ in all their arrivals. The step is greater
 * than the numbers that are added for repeats. */
#define SEED_STEP 1000

/* The search for one lock. */
struct lock_search {
    const struct plan_lock *lock;
    const char *on; /* the topology to start; NULL = embedded, or the backend's own */
    char topology[192], durability[256], server[256];
    const char *guarantee;        /* a word of bench/base/verdict.h; NULL = no place yet */
    const char *durability_class; /* a word of bench/base/verdict.h, or NULL */
    int threads, processes;
    struct search search;
    struct probe probes[EDGE_POINTS_MAX];
    int probe_count;
    bool violated;          /* one of its stages found two holders at once */
    double saturated_per_s; /* throughput of the closed loop before a search by rate; 0 = none */
    int64_t budget_ns;      /* the time for its probes */
    bool begun, done;
    int64_t spent_ns; /* of its own stages, without the start of its servers */
    /* time of its longest probe so far, including what comes before and after its load */
    int64_t cost_ns;
};

struct capacity_run {
    struct capacity_run_ask ask;
    struct plan probe_plan; /* a copy of ask.plan, with the shape of the stage that runs */
    struct lock_search *locks;
    int count;
    int current; /* the lock of the stage that runs */
    int turn;    /* the lock that may probe next */
    int64_t stage_began_ns;
    char folder[600];
    json_t *environment;
    char started_at[32];
};

struct capacity_run *capacity_run_new(const struct capacity_run_ask *ask, struct lb_err *err) {
    struct capacity_run *capacity_run = calloc(1, sizeof *capacity_run);
    if (capacity_run) {
        *capacity_run = (struct capacity_run){
            .ask = *ask, .count = ask->plan->lock_count, .environment = environment_json()};
        capacity_run->locks = calloc((size_t)capacity_run->count + 1, sizeof *capacity_run->locks);
    }
    if (!capacity_run || !capacity_run->locks || !capacity_run->environment) {
        capacity_run_free(capacity_run);
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    result_date(time(NULL), capacity_run->started_at);
    for (int i = 0; i < capacity_run->count; i++) {
        capacity_run->locks[i].lock = &ask->plan->locks[i];
        capacity_run->locks[i].on = topologies_of(ask->plan, ask->plan->locks[i].lock, 0);
    }
    return capacity_run;
}

void capacity_run_free(struct capacity_run *capacity_run) {
    if (!capacity_run) return;
    json_decref(capacity_run->environment);
    free(capacity_run->locks);
    free(capacity_run);
}

static double allowed_share(const struct capacity_run *capacity_run) {
    return 1 - capacity_run->ask.slo.quantile;
}

/* The warm-up and the window of a probe: at this rate, or at the throughput of the last probe's
 * closed loop. */
static struct window probe_window(const struct capacity_run *capacity_run,
                                  const struct lock_search *lock_search, double load) {
    int count = lock_search->probe_count;
    struct window_ask ask = {.limit_s = (double)capacity_run->ask.slo.limit_ns / 1e9,
                             .allowed = allowed_share(capacity_run),
                             .capacity_per_s = lock_search->saturated_per_s,
                             .warmup_s = (double)capacity_run->ask.plan->warmup_ns / 1e9,
                             .budget_s = (double)lock_search->budget_ns / 1e9};
    double last_per_s = count > 0 ? lock_search->probes[count - 1].throughput_per_s : 0;
    return window_of(&ask, capacity_run->ask.by_clients ? last_per_s : load);
}

/* Reports how long the search may take, which is known from here on. */
static void tell_begin(const struct capacity_run *capacity_run,
                       const struct lock_search *lock_search) {
    struct window window = probe_window(capacity_run, lock_search, lock_search->search.ask.start);
    struct capacity_run_news news = {.lock = lock_search->lock->lock->name,
                                     .by_clients = capacity_run->ask.by_clients,
                                     .budget_s = (double)lock_search->budget_ns / 1e9,
                                     .probe_s = window.warmup_s + window.duration_s};
    if (capacity_run->ask.news) capacity_run->ask.news(capacity_run->ask.news_arg, &news);
}

static void begin_search(struct capacity_run *capacity_run, struct lock_search *lock_search) {
    bool by_clients = capacity_run->ask.by_clients;
    double allowed = allowed_share(capacity_run), done_per_s = lock_search->saturated_per_s;
    double limit_s = (double)capacity_run->ask.slo.limit_ns / 1e9;
    lock_search->budget_ns = capacity_run->ask.budget_ns;
    if (lock_search->budget_ns == 0)
        lock_search->budget_ns = (int64_t)(1e9 * window_budget_s(limit_s, allowed, done_per_s));
    double longest_s = (double)lock_search->budget_ns / WINDOWS / 1e9;
    struct search_ask ask = {.start = by_clients       ? START_CLIENTS
                                      : done_per_s > 0 ? START_PART * done_per_s
                                                       : START_PER_S,
                             .least = by_clients ? 1 : SAMPLES_LEAST / allowed / longest_s,
                             .most = capacity_run->ask.most,
                             .allowed = allowed,
                             .whole = by_clients,
                             .seed = capacity_run->ask.plan->seed,
                             .capacity_per_s = done_per_s,
                             .limit_s = limit_s};
    if (ask.least > ask.most) ask.least = ask.most;
    search_init(&lock_search->search, &ask);
    tell_begin(capacity_run, lock_search);
}

/* Fills in the stage that runs next. It gets a copy of the plan, which may be changed. */
static void fill_probe_stage(struct capacity_run *capacity_run,
                             const struct lock_search *lock_search, double load,
                             struct plan_stage *ret) {
    const struct plan *plan = capacity_run->ask.plan;
    struct plan *own = &capacity_run->probe_plan;
    struct window window = probe_window(capacity_run, lock_search, load);
    bool by_clients = capacity_run->ask.by_clients;
    *own = *plan;
    own->rates_count = 0;
    own->repeat = 1;
    own->seed += SEED_STEP * (uint64_t)(lock_search->probe_count + 1);
    own->warmup_ns = (int64_t)(window.warmup_s * 1e9);
    own->duration_ns = (int64_t)(window.duration_s * 1e9);
    own->arrival = (struct arrival){.kind = by_clients ? ARRIVAL_CLOSED : ARRIVAL_POISSON,
                                    .rate_per_s = by_clients ? 0 : load};
    /* A request that is due right before the window's end still has the whole limit to be
     * granted. */
    if (own->drain_ns < capacity_run->ask.slo.limit_ns)
        own->drain_ns = capacity_run->ask.slo.limit_ns;
    *ret = (struct plan_stage){.plan = own,
                               .lock = lock_search->lock,
                               .topology = lock_search->on,
                               .tls = lock_search->on && plan->tls == PLAN_TLS_YES,
                               .clients = by_clients ? (int)load : plan->clients[0],
                               .window_ns = own->duration_ns,
                               .rate_per_s = by_clients ? 0 : load};
    distance_of(plan, !lock_search->on, 0, &ret->distance);
}

/* A short closed loop, which shows about how much the lock can do. */
static void fill_saturation(struct capacity_run *capacity_run,
                            const struct lock_search *lock_search, struct plan_stage *ret) {
    const struct keyspace *keys = &capacity_run->ask.plan->keys;
    struct plan *own = &capacity_run->probe_plan;
    fill_probe_stage(capacity_run, lock_search, 1, ret);
    own->arrival = (struct arrival){.kind = ARRIVAL_CLOSED};
    own->warmup_ns = capacity_run->ask.plan->warmup_ns;
    own->duration_ns = ret->window_ns = SATURATE_NS;
    ret->rate_per_s = 0;
    if (keys->pick != KEYS_OWN && keys->count == 1 && ret->clients > SATURATE_CLIENTS)
        ret->clients = SATURATE_CLIENTS;
}

/* Fills in the next stage of a lock. False if its search is over. */
static bool next_of_lock(struct capacity_run *capacity_run, struct lock_search *lock_search,
                         struct plan_stage *ret, struct stage_promise *ret_promise) {
    double load;
    bool first = !lock_search->begun;
    lock_search->begun = true;
    *ret_promise = capacity_run->ask.slo;
    if (first && !capacity_run->ask.by_clients) {
        fill_saturation(capacity_run, lock_search, ret);
        *ret_promise = (struct stage_promise){0};
        return true;
    }
    if (first) begin_search(capacity_run, lock_search);
    int64_t left_ns = lock_search->budget_ns - lock_search->spent_ns;
    if (!search_next(&lock_search->search, lock_search->cost_ns <= left_ns, &load)) return false;
    fill_probe_stage(capacity_run, lock_search, load, ret);
    /* the first probe of a lock always runs */
    return lock_search->probe_count == 0 ||
           ret->plan->warmup_ns + ret->plan->duration_ns <= left_ns;
}

bool capacity_run_next(void *arg, bool together, struct plan_stage *ret,
                       struct stage_promise *ret_promise) {
    struct capacity_run *capacity_run = arg;
    capacity_run->stage_began_ns = lb_now();
    for (int i = 0; i < capacity_run->count; i++) {
        int at = (capacity_run->turn + i) % capacity_run->count;
        struct lock_search *lock_search = &capacity_run->locks[at];
        if (!lock_search->done && next_of_lock(capacity_run, lock_search, ret, ret_promise)) {
            capacity_run->current = at;
            capacity_run->turn = together ? at + 1 : at;
            return true;
        }
        lock_search->done = true;
    }
    return false;
}

/* Notes the place where the lock ran. */
static void note_place(struct lock_search *lock_search, const struct stage *stage) {
    const struct place *place = stage->ask->place;
    snprintf(lock_search->topology, sizeof lock_search->topology, "%s", place->topology);
    snprintf(lock_search->durability, sizeof lock_search->durability, "%s", place->durability);
    lock_search->durability_class = place_durability_class(place, lock_search->lock->lock);
    lock_search->guarantee = place_guarantee(place, lock_search->lock->lock);
    lock_search->threads = stage->threads;
    lock_search->processes = stage->processes;
    for (int i = 0; i < place->facts.count; i++) {
        if (strcmp(place->facts.item[i].name, "version") != 0) continue;
        snprintf(lock_search->server, sizeof lock_search->server, "%s %s",
                 place->server.backend->name, place->facts.item[i].value);
    }
}

/* True if two clients held the lock at once. A baseline is no lock: each of its clients has a cell
 * of its own. */
static bool saw_two(const struct stage *stage, const struct lb_lock *lock) {
    return stage->exclusion.verdict == VERDICT_VIOLATED && !(lock->caps & LB_CAP_BASELINE);
}

static void note_probe(struct capacity_run *capacity_run, struct lock_search *lock_search,
                       const struct stage *stage) {
    const struct plan_stage *of = &stage->ask->of;
    struct probe probe =
        probe_read(stage, capacity_run->ask.by_clients ? of->clients : of->rate_per_s);
    struct search_result result = probe_result(&probe, allowed_share(capacity_run));
    search_add(&lock_search->search, &result);
    lock_search->probes[lock_search->probe_count++] = probe;
    struct capacity_run_news news = {.lock = lock_search->lock->lock->name,
                                     .probe = &probe,
                                     .number = lock_search->probe_count,
                                     .by_clients = capacity_run->ask.by_clients};
    if (capacity_run->ask.news) capacity_run->ask.news(capacity_run->ask.news_arg, &news);
}

/* Adds the time that a stage took to that of its lock, but not the first start of its servers. */
static void note_time(const struct capacity_run *capacity_run, struct lock_search *lock_search,
                      const struct stage *stage) {
    int64_t took_ns = lb_now() - capacity_run->stage_began_ns, cost_ns = took_ns;
    if (stage->window_begin_ns > 0)
        cost_ns = lb_now() - (stage->window_begin_ns - stage->warmup_ns);
    if (lock_search->probe_count > 0 && cost_ns > lock_search->cost_ns)
        lock_search->cost_ns = cost_ns;
    lock_search->spent_ns += lock_search->spent_ns > 0 ? took_ns : cost_ns;
}

/* The throughput of the closed loop. Of n grants that a serial lock made in a time, only n - 1
 * certainly lie in that time as a whole. */
static double saturated_per_s(const struct stage *stage) {
    bool measured = stage->status == STAGE_COMPLETE && stage->window_ns > 0;
    double one_per_s = 1e9 / (double)stage->window_ns;
    return measured ? fmax(0, stage->result.throughput_per_s - one_per_s) : 0;
}

/* ---- capacity.json ---- */

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

/* The mean of a probe's figure over the probes around a load, over those that the generator did not limit if there are
 * any. NAN if there is no probe. */
static double mean_near(const struct lock_search *lock_search, double load, size_t offset) {
    double sum[2] = {0, 0};
    int count[2] = {0, 0};
    for (int i = 0; i < lock_search->probe_count; i++) {
        const struct probe *probe = &lock_search->probes[i];
        double value;
        memcpy(&value, (const char *)probe + offset, sizeof value);
        if (!isfinite(value) || fabs(log(probe->load / load)) > NEAR) continue;
        sum[probe->limit != PROBE_NOT_LIMITED] += value;
        count[probe->limit != PROBE_NOT_LIMITED]++;
    }
    int which = count[0] > 0 ? 0 : 1;
    return count[which] > 0 ? sum[which] / count[which] : NAN;
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
    if (answer->times > 1) {
        double minutes = ceil(answer->times * (double)lock_search->budget_ns / 60e9);
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
                                  const struct lock_search *lock_search, const char *partial) {
    struct search_answer answer = search_answer(&lock_search->search);
    struct capacity_probe probes[EDGE_POINTS_MAX];
    struct capacity_lock figures;
    struct texts texts;
    capacity_lock_clear(&figures);
    fill_place(capacity_run->ask.plan, lock_search, &figures);
    fill_question(capacity_run, &texts, &figures);
    fill_answer(&answer, &figures);
    fill_bound(capacity_run, lock_search, answer.load, &figures);
    bool cut = partial && !lock_search->done && answer.limit == SEARCH_NO_ANSWER;
    figures.why = cut ? partial : why_text(lock_search, &answer, &texts);
    figures.violated = lock_search->violated;
    if (lock_search->saturated_per_s > 0) figures.saturated_per_s = lock_search->saturated_per_s;
    figures.probes = probes;
    figures.probe_count = lock_search->probe_count;
    for (int i = 0; i < figures.probe_count; i++)
        probes[i] = probe_figures(&lock_search->probes[i]);
    return capacity_lock_json(&figures);
}

/* capacity.json as it is now: new reference, NULL when out of memory. */
static json_t *capacity_run_json(const struct capacity_run *capacity_run, const char *partial,
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
        if (!capacity_run->locks[i].begun) continue; /* the lock's turn did not come */
        json_array_append_new(locks,
                              searched_lock_json(capacity_run, &capacity_run->locks[i], partial));
    }
    return capacity_json(&head, locks);
}

static int write_capacity_file(const struct capacity_run *capacity_run, const json_t *json,
                               struct lb_err *err) {
    char path[700];
    if (!json) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    snprintf(path, sizeof path, "%s/" CAPACITY_FILE, capacity_run->folder);
    return result_write_file(json, path, err);
}

void capacity_run_took(void *arg, const struct stage *stage, const char *folder) {
    struct capacity_run *capacity_run = arg;
    struct lock_search *lock_search = &capacity_run->locks[capacity_run->current];
    struct lb_err ignored = {0}; /* the last write of the file tries again, and reports the error */
    snprintf(capacity_run->folder, sizeof capacity_run->folder, "%s", folder);
    if (!stage) {
        lock_search->done = true; /* its servers could not be started */
        return;
    }
    note_place(lock_search, stage);
    lock_search->violated |= saw_two(stage, lock_search->lock->lock);
    if (stage->ask->of.plan->arrival.kind == ARRIVAL_CLOSED && !capacity_run->ask.by_clients) {
        lock_search->saturated_per_s = saturated_per_s(stage);
        begin_search(capacity_run, lock_search);
    } else {
        note_probe(capacity_run, lock_search, stage);
    }
    note_time(capacity_run, lock_search, stage);
    json_t *so_far = capacity_run_json(capacity_run, "the search was cut off", false);
    write_capacity_file(capacity_run, so_far, &ignored);
    json_decref(so_far);
}

int capacity_run_end(struct capacity_run *capacity_run, const char *partial, json_t **ret_result,
                     char *ret_path, size_t size, struct lb_err *err) {
    struct lb_err why = {0}, again = {0};
    *ret_result = NULL;
    if (!capacity_run->folder[0]) return 0;
    json_t *json = *ret_result = capacity_run_json(capacity_run, partial, true);
    if (write_capacity_file(capacity_run, json, &why) == 0) {
        snprintf(ret_path, size, "%s/" CAPACITY_FILE, capacity_run->folder);
        return 0;
    }
    if (!json || outdir_rescue(json, "capacity", ret_path, size, &again) != 0)
        return err_set(err, why.code, "%s%s%s", why.text, json ? "; nor elsewhere: " : "",
                       again.text);
    return err_set(err, why.code, "%s; the answer was saved to %s instead", why.text, ret_path);
}

int capacity_run_unanswered(const struct capacity_run *capacity_run) {
    int count = 0;
    for (int i = 0; i < capacity_run->count; i++)
        count += search_answer(&capacity_run->locks[i].search).limit == SEARCH_NO_ANSWER;
    return count;
}
