/* capacity_run: see capacity_run.h. Its JSON is in capacity_json.c. */
#include "bench/capacity/capacity_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/capacity/capacity_run_inside.h"
#include "bench/capacity/probe.h"
#include "bench/run/machine.h"
#include "bench/run/outdir.h"
#include "bench/workload/stages.h"
#include "results/format/write.h"

#define SATURATE_NS (3 * LB_S_NS)
/* The most closed loops before a search: a loop that a busy machine spoilt runs again. */
#define SATURATE_MOST 3
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
/* After spoilt probes the search waits until the host took almost nothing for so long. */
#define QUIET_NS LB_S_NS

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

static struct window_ask window_ask_of(const struct capacity_run *capacity_run,
                                       const struct lock_search *lock_search) {
    return (struct window_ask){.limit_s = (double)capacity_run->ask.slo.limit_ns / 1e9,
                               .allowed = allowed_share(capacity_run),
                               .capacity_per_s = lock_search->saturated_per_s,
                               .warmup_s = (double)capacity_run->ask.plan->warmup_ns / 1e9,
                               .budget_s = (double)lock_search->budget_ns / 1e9};
}

/* The warm-up and the window of a probe: at this rate, or at the throughput of the last probe's
 * closed loop. */
static struct window probe_window(const struct capacity_run *capacity_run,
                                  const struct lock_search *lock_search, double load) {
    int count = lock_search->probe_count;
    struct window_ask ask = window_ask_of(capacity_run, lock_search);
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
    struct window_ask window_ask = window_ask_of(capacity_run, lock_search);
    struct search_ask ask = {.start = by_clients       ? START_CLIENTS
                                      : done_per_s > 0 ? START_PART * done_per_s
                                                       : START_PER_S,
                             .least = by_clients ? 1 : SAMPLES_LEAST / allowed / longest_s,
                             .most = capacity_run->ask.most,
                             .allowed = allowed,
                             .whole = by_clients,
                             .seed = capacity_run->ask.plan->seed,
                             .capacity_per_s = done_per_s};
    ask.scatter_min = window_scatter(&window_ask, by_clients ? 0 : ask.start);
    if (ask.least > ask.most) ask.least = ask.most;
    search_init(&lock_search->search, &ask);
    tell_begin(capacity_run, lock_search);
}

/* Fills in the stage that runs next. It gets a copy of the plan, which may be changed. */
static void fill_probe_stage(struct capacity_run *capacity_run,
                             const struct lock_search *lock_search, double load,
                             struct plan_stage *ret) {
    const struct plan *plan = capacity_run->ask.plan;
    capacity_run->probe_plan = *plan;
    capacity_run->probe_plan.rates_count = 0;
    capacity_run->probe_plan.sweep = SWEEP_LISTED;
    capacity_run->probe_plan.repeat = 1;
    capacity_run->probe_plan.seed =
        plan->seed + SEED_STEP * (uint64_t)(lock_search->probe_count + 1);
    struct window window = probe_window(capacity_run, lock_search, load);
    capacity_run->probe_plan.warmup_ns = (int64_t)(window.warmup_s * 1e9);
    capacity_run->probe_plan.duration_ns = (int64_t)(window.duration_s * 1e9);
    /* A request that is due right before the window's end still has the whole limit to be
     * granted. */
    if (plan->drain_ns < capacity_run->ask.slo.limit_ns)
        capacity_run->probe_plan.drain_ns = capacity_run->ask.slo.limit_ns;
    capacity_run->load = load;
    *ret = (struct plan_stage){.plan = &capacity_run->probe_plan,
                               .lock = lock_search->lock,
                               .topology = lock_search->on,
                               .tls = lock_search->on && plan->tls == PLAN_TLS_YES,
                               .distance = lock_search->on ? plan->distances[0]
                                                           : (struct distance){.wired = false},
                               .clients = plan->clients[0]};
    if (capacity_run->ask.by_clients) {
        capacity_run->probe_plan.arrival = (struct arrival){.kind = ARRIVAL_CLOSED};
        ret->clients = (int)load;
    } else {
        capacity_run->probe_plan.arrival =
            (struct arrival){.kind = ARRIVAL_POISSON, .rate_per_s = load};
        ret->rate_per_s = load;
    }
}

/* A short closed loop, which shows about how much the lock can do. */
static void fill_saturation(struct capacity_run *capacity_run,
                            const struct lock_search *lock_search, struct plan_stage *ret) {
    fill_probe_stage(capacity_run, lock_search, 1, ret);
    bool one_key =
        capacity_run->ask.plan->keys.pick != KEYS_OWN && capacity_run->ask.plan->keys.count == 1;
    capacity_run->probe_plan.arrival = (struct arrival){.kind = ARRIVAL_CLOSED};
    capacity_run->probe_plan.warmup_ns = capacity_run->ask.plan->warmup_ns;
    capacity_run->probe_plan.duration_ns = SATURATE_NS;
    ret->rate_per_s = 0;
    if (one_key && ret->clients > SATURATE_CLIENTS) ret->clients = SATURATE_CLIENTS;
}

/* The time for spoilt probes, which is added to the lock's budget. */
static int64_t spoilt_most_ns(const struct lock_search *lock_search) {
    return lock_search->budget_ns / 2;
}

static void charge_spoilt(struct lock_search *lock_search, int64_t cost_ns) {
    lock_search->spoilt_ns += cost_ns;
    if (lock_search->spoilt_ns > spoilt_most_ns(lock_search))
        lock_search->spoilt_ns = spoilt_most_ns(lock_search);
}

/* While the host of this virtual machine takes its processors away, every probe would be spoilt. So
 * the search waits instead. */
static void wait_for_host(const struct capacity_run *capacity_run,
                          struct lock_search *lock_search) {
    int count = lock_search->probe_count;
    if (count == 0 || lock_search->probes[count - 1].limit != PROBE_STOLEN) return;
    bool stolen = true;
    while (stolen && lock_search->spoilt_ns < spoilt_most_ns(lock_search) &&
           *capacity_run->ask.interrupts == 0) {
        int64_t begin_ns = lb_now(), stolen_ns = steal_now_ns();
        struct timespec quiet = {QUIET_NS / LB_S_NS, QUIET_NS % LB_S_NS};
        nanosleep(&quiet, NULL); /* a signal ends it */
        int64_t took_ns = lb_now() - begin_ns;
        stolen = steal_shows(steal_between_ns(stolen_ns, steal_now_ns()), took_ns);
        charge_spoilt(lock_search, took_ns);
    }
}

/* True if there is time for a probe at this load; the first probe of a lock always runs. */
static bool has_time(const struct capacity_run *capacity_run, const struct lock_search *lock_search,
                     int64_t spent_ns, double load) {
    struct window window = probe_window(capacity_run, lock_search, load);
    int64_t wanted_ns = (int64_t)(1e9 * (window.warmup_s + window.duration_s));
    return lock_search->probe_count == 0 || spent_ns + wanted_ns <= lock_search->budget_ns;
}

bool capacity_run_next(void *arg, struct plan_stage *ret, struct stage_promise *ret_promise) {
    struct capacity_run *capacity_run = arg;
    for (; capacity_run->current < capacity_run->count; capacity_run->current++) {
        struct lock_search *lock_search = &capacity_run->locks[capacity_run->current];
        int64_t now_ns = lb_now();
        double load;
        capacity_run->stage_began_ns = now_ns;
        *ret_promise = capacity_run->ask.slo;
        if (lock_search->began_ns == 0 || lock_search->loop_again) {
            lock_search->began_ns = now_ns;
            if (!capacity_run->ask.by_clients) {
                fill_saturation(capacity_run, lock_search, ret);
                *ret_promise = (struct stage_promise){0};
                return true;
            }
            begin_search(capacity_run, lock_search);
        }
        int64_t spent_ns = now_ns - lock_search->began_ns - lock_search->spoilt_ns;
        bool more = spent_ns + lock_search->cost_ns <= lock_search->budget_ns;
        if (search_next(&lock_search->search, more, &load) &&
            has_time(capacity_run, lock_search, spent_ns, load)) {
            wait_for_host(capacity_run, lock_search);
            if (*capacity_run->ask.interrupts > 0) return false;
            fill_probe_stage(capacity_run, lock_search, load, ret);
            return true;
        }
    }
    return false;
}

/* Notes the place where the lock ran. */
static void note_place(struct lock_search *lock_search, const struct run_took *took) {
    const struct place *place = took->place;
    snprintf(lock_search->topology, sizeof lock_search->topology, "%s", place->topology);
    snprintf(lock_search->durability, sizeof lock_search->durability, "%s", place->durability);
    lock_search->durability_class = place_durability_class(place, lock_search->lock->lock);
    lock_search->guarantee = place_guarantee(place, lock_search->lock->lock);
    lock_search->threads = took->stage->threads;
    lock_search->processes = took->stage->processes;
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
                       const struct run_took *took) {
    struct probe probe = probe_read(took->stage, took->ask, capacity_run->load);
    struct search_result result = probe_result(&probe, allowed_share(capacity_run));
    search_add(&lock_search->search, &result);
    if (lock_search->probe_count < EDGE_POINTS_MAX)
        lock_search->probes[lock_search->probe_count++] = probe;
    struct capacity_run_news news = {.lock = lock_search->lock->lock->name,
                                     .probe = &probe,
                                     .number = lock_search->probe_count,
                                     .by_clients = capacity_run->ask.by_clients};
    if (capacity_run->ask.news) capacity_run->ask.news(capacity_run->ask.news_arg, &news);
}

/* The time at which a stage's load began, which is after the start of its servers. */
static int64_t load_began_ns(const struct capacity_run *capacity_run, const struct stage *stage) {
    int64_t began_ns = stage->window_begin_ns - stage->warmup_ns;
    return stage->window_begin_ns > 0 ? began_ns : capacity_run->stage_began_ns;
}

/* Notes the time that a stage took. The time of a stage that a busy machine spoilt is not charged
 * to the lock's budget, up to half of that budget. */
static void note_cost(const struct capacity_run *capacity_run, struct lock_search *lock_search,
                      const struct stage *stage) {
    int64_t cost_ns = lb_now() - load_began_ns(capacity_run, stage);
    if (cost_ns > lock_search->cost_ns) lock_search->cost_ns = cost_ns;
    if (lock_search->probes[lock_search->probe_count - 1].limit)
        charge_spoilt(lock_search, cost_ns);
}

/* The throughput of the closed loop. Of n grants that a serial lock made in a time, only n - 1
 * certainly lie in that time as a whole. */
static double saturated_per_s(const struct stage *stage) {
    bool measured = stage->status == STAGE_COMPLETE && stage->window_ns > 0;
    double one_per_s = 1e9 / (double)stage->window_ns;
    return measured ? fmax(0, stage->result.throughput_per_s - one_per_s) : 0;
}

/* Notes the throughput of a closed loop, which runs again if the machine spoilt it. */
static void note_closed_loop(struct lock_search *lock_search, const struct run_took *took) {
    lock_search->saturated_per_s = fmax(lock_search->saturated_per_s, saturated_per_s(took->stage));
    lock_search->loops++;
    lock_search->loop_again =
        lock_search->loops < SATURATE_MOST && probe_is_spoilt(took->stage, took->ask);
}

static int write_capacity_file(const struct capacity_run *capacity_run, const json_t *json,
                               struct lb_err *err) {
    char path[700];
    if (!json) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    snprintf(path, sizeof path, "%s/" CAPACITY_FILE, capacity_run->folder);
    return result_write_file(json, path, err);
}

void capacity_run_took(void *arg, const struct run_took *took) {
    struct capacity_run *capacity_run = arg;
    struct lock_search *lock_search = &capacity_run->locks[capacity_run->current];
    struct lb_err ignored = {0}; /* the last write of the file tries again, and reports the error */
    snprintf(capacity_run->folder, sizeof capacity_run->folder, "%s", took->folder);
    if (!took->stage) {
        capacity_run->current++; /* the servers of this lock could not be started */
        return;
    }
    note_place(lock_search, took);
    lock_search->violated |= saw_two(took->stage, lock_search->lock->lock);
    if (lock_search->began_ns == capacity_run->stage_began_ns)
        lock_search->began_ns = load_began_ns(capacity_run, took->stage);
    if (took->of->plan->arrival.kind == ARRIVAL_CLOSED && !capacity_run->ask.by_clients) {
        note_closed_loop(lock_search, took);
        if (!lock_search->loop_again) begin_search(capacity_run, lock_search);
    } else {
        note_probe(capacity_run, lock_search, took);
        note_cost(capacity_run, lock_search, took->stage);
    }
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
