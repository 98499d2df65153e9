/* seek: see seek.h. What becomes of it in JSON is in seek_json.c. */
#include "bench/capacity/seek.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/capacity/seek_inside.h"
#include "bench/run/environment.h"
#include "bench/run/outdir.h"
#include "bench/run/steal.h"
#include "bench/workload/topologies.h"
#include "results/format/write.h"

#define SATURATE_NS (3 * LB_S_NS)
#define SATURATE_CLIENTS 8 /* on one key: about as many as wait for it near the edge */
#define WINDOW_MIN_NS (5 * LB_S_NS)
#define SAMPLES 5.0       /* over the limit are allowed in a window: fewer say little */
#define SAMPLES_LEAST 3.7 /* ... and with fewer a quantile has no interval at all */
#define SAMPLES_TOLD                                                                               \
    2.5           /* ... and with fewer the share over the limit is not told from what is allowed */
#define WINDOWS 4 /* that the time for a lock must have room for */
#define START_PART 0.75 /* of what the closed loop did */
#define START_PER_S 50  /* when it did nothing */
#define START_CLIENTS 4
#define SEED_STEP                                                                                  \
    1000 /* between probes: each has arrivals of its own, whatever is added for repeats */
#define QUIET_NS LB_S_NS /* of which the host takes next to nothing, until a probe is tried again */

struct seek *seek_new(const struct seek_ask *ask, struct lb_err *err) {
    struct seek *seek = calloc(1, sizeof *seek);
    if (seek) {
        *seek = (struct seek){
            .ask = *ask, .count = ask->plan->lock_count, .environment = environment_json()};
        seek->locks = calloc((size_t)seek->count + 1, sizeof *seek->locks);
    }
    if (!seek || !seek->locks || !seek->environment) {
        seek_free(seek);
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    result_date(time(NULL), seek->started_at);
    for (int i = 0; i < seek->count; i++) {
        seek->locks[i].lock = &ask->plan->locks[i];
        seek->locks[i].on = topologies_of(ask->plan, ask->plan->locks[i].lock, 0);
    }
    return seek;
}

void seek_free(struct seek *seek) {
    if (!seek) return;
    json_decref(seek->environment);
    free(seek->locks);
    free(seek);
}

static double allowed_share(const struct seek *seek) {
    return 1 - seek->ask.slo.quantile;
}

/* Long enough for the quantile: at this rate, or at what the closed loop did in the last probe. */
static int64_t window_ns(const struct seek *seek, const struct sought *sought, double load) {
    double per_s = load;
    if (seek->ask.by_clients)
        per_s =
            sought->probe_count > 0 ? sought->probes[sought->probe_count - 1].throughput_per_s : 0;
    double wanted_ns = per_s > 0 ? SAMPLES / allowed_share(seek) / per_s * 1e9 : 0;
    double most_ns = (double)seek->ask.budget_ns / WINDOWS;
    if (wanted_ns > most_ns) wanted_ns = most_ns;
    return wanted_ns > (double)WINDOW_MIN_NS ? (int64_t)wanted_ns : WINDOW_MIN_NS;
}

static void begin_search(struct seek *seek, struct sought *sought) {
    bool by_clients = seek->ask.by_clients;
    double longest_s = (double)seek->ask.budget_ns / WINDOWS / 1e9;
    double done = sought->saturated.throughput_per_s;
    struct search_ask ask = {.start = by_clients ? START_CLIENTS
                                      : done > 0 ? START_PART * done
                                                 : START_PER_S,
                             .least =
                                 by_clients ? 1 : SAMPLES_LEAST / allowed_share(seek) / longest_s,
                             .most = seek->ask.most,
                             .allowed = allowed_share(seek),
                             .whole = by_clients,
                             .seed = seek->ask.plan->seed};
    if (ask.least > ask.most) ask.least = ask.most;
    search_init(&sought->search, &ask);
}

/* The stage that runs next, by a plan that is ours to change. */
static void fill(struct seek *seek, const struct sought *sought, double load,
                 struct plan_stage *ret) {
    const struct plan *plan = seek->ask.plan;
    seek->probe_plan = *plan;
    seek->probe_plan.rates_count = 0;
    seek->probe_plan.sweep = SWEEP_LISTED;
    seek->probe_plan.repeat = 1;
    seek->probe_plan.seed = plan->seed + SEED_STEP * (uint64_t)(sought->probe_count + 1);
    seek->probe_plan.duration_ns = window_ns(seek, sought, load);
    seek->load = load;
    *ret = (struct plan_stage){.plan = &seek->probe_plan,
                               .lock = sought->lock,
                               .topology = sought->on,
                               .clients = plan->clients[0]};
    if (seek->ask.by_clients) {
        seek->probe_plan.arrival = (struct arrival){.kind = ARRIVAL_CLOSED};
        ret->clients = (int)load;
    } else {
        seek->probe_plan.arrival = (struct arrival){.kind = ARRIVAL_POISSON, .rate_per_s = load};
        ret->rate_per_s = load;
    }
}

/* A short closed loop: about how much can be done at all. */
static void fill_saturation(struct seek *seek, const struct sought *sought,
                            struct plan_stage *ret) {
    fill(seek, sought, 1, ret);
    bool one_key = seek->ask.plan->keys.pick != KEYS_OWN && seek->ask.plan->keys.count == 1;
    seek->probe_plan.arrival = (struct arrival){.kind = ARRIVAL_CLOSED};
    seek->probe_plan.duration_ns = SATURATE_NS;
    ret->rate_per_s = 0;
    if (one_key && ret->clients > SATURATE_CLIENTS) ret->clients = SATURATE_CLIENTS;
}

/* Beside its budget. */
static int64_t spoilt_most_ns(const struct seek *seek) {
    return seek->ask.budget_ns / 2;
}

static void charge_spoilt(const struct seek *seek, struct sought *sought, int64_t cost_ns) {
    sought->spoilt_ns += cost_ns;
    if (sought->spoilt_ns > spoilt_most_ns(seek)) sought->spoilt_ns = spoilt_most_ns(seek);
}

/* While this machine's host takes its processors away every probe would be spoilt: the time for
 * such is better waited. */
static void wait_for_host(const struct seek *seek, struct sought *sought) {
    int count = sought->probe_count;
    if (count == 0 || sought->probes[count - 1].limit != PROBE_STOLEN) return;
    bool stolen = true;
    while (stolen && sought->spoilt_ns < spoilt_most_ns(seek) && *seek->ask.interrupts == 0) {
        int64_t begin_ns = lb_now(), stolen_ns = steal_now_ns();
        struct timespec quiet = {QUIET_NS / LB_S_NS, QUIET_NS % LB_S_NS};
        nanosleep(&quiet, NULL); /* a signal ends it */
        int64_t took_ns = lb_now() - begin_ns;
        stolen = steal_shows(steal_between_ns(stolen_ns, steal_now_ns()), took_ns);
        charge_spoilt(seek, sought, took_ns);
    }
}

/* Whether there is time for a probe at this load; the first of all has it. */
static bool has_time(const struct seek *seek, const struct sought *sought, int64_t spent_ns,
                     double load) {
    int64_t wanted_ns = window_ns(seek, sought, load) + seek->ask.plan->warmup_ns;
    return sought->probe_count == 0 || spent_ns + wanted_ns <= seek->ask.budget_ns;
}

bool seek_next(void *arg, struct plan_stage *ret, struct stage_promise *ret_promise) {
    struct seek *seek = arg;
    for (; seek->current < seek->count; seek->current++) {
        struct sought *sought = &seek->locks[seek->current];
        int64_t now_ns = lb_now();
        double load;
        seek->stage_began_ns = now_ns;
        *ret_promise = seek->ask.slo;
        if (sought->began_ns == 0) {
            sought->began_ns = now_ns;
            if (!seek->ask.by_clients) {
                fill_saturation(seek, sought, ret);
                *ret_promise = (struct stage_promise){0};
                return true;
            }
            begin_search(seek, sought);
        }
        int64_t spent_ns = now_ns - sought->began_ns - sought->spoilt_ns;
        bool more = spent_ns + sought->cost_ns <= seek->ask.budget_ns;
        if (search_next(&sought->search, more, &load) && has_time(seek, sought, spent_ns, load)) {
            wait_for_host(seek, sought);
            if (*seek->ask.interrupts > 0) return false;
            fill(seek, sought, load, ret);
            return true;
        }
    }
    return false;
}

/* Where it ran. */
static void note_place(struct sought *sought, const struct run_took *took) {
    const struct place *place = took->place;
    snprintf(sought->topology, sizeof sought->topology, "%s", place->topology);
    snprintf(sought->durability, sizeof sought->durability, "%s", place->durability);
    sought->durability_class = place_durability_class(place, sought->lock->lock);
    sought->threads = took->stage->threads;
    sought->processes = took->stage->processes;
    for (int i = 0; i < place->facts.count; i++) {
        if (strcmp(place->facts.item[i].name, "version") != 0) continue;
        snprintf(sought->server, sizeof sought->server, "%s %s", place->server.backend->name,
                 place->facts.item[i].value);
    }
}

/* Whether a window brought so few samples that they say nothing, and had so few over the limit that
 * more of them might have kept the promise. */
static bool is_thin(const struct seek *seek, const struct probe *probe) {
    return (double)probe->samples < SAMPLES_TOLD / allowed_share(seek) &&
           (double)probe->over <= SAMPLES_TOLD;
}

/* Two that held it at once. A baseline is no lock, and gives each client a cell of its own. */
static bool saw_two(const struct stage *stage, const struct lb_lock *lock) {
    return stage->exclusion.verdict == VERDICT_VIOLATED && !(lock->caps & LB_CAP_BASELINE);
}

static void note_probe(struct seek *seek, struct sought *sought, const struct run_took *took) {
    struct probe probe = probe_read(took->stage, took->ask, seek->load);
    bool told = probe.measured && !is_thin(seek, &probe);
    struct search_result result = {.load = seek->load,
                                   .over = probe.over,
                                   .samples = told ? probe.samples : 0,
                                   .kept = probe.verdict == CAPACITY_KEPT,
                                   .limited = probe.limit != PROBE_NOT_LIMITED};
    search_add(&sought->search, &result);
    if (sought->probe_count < EDGE_POINTS_MAX) sought->probes[sought->probe_count++] = probe;
    struct seek_news news = {.lock = sought->lock->lock->name,
                             .probe = &probe,
                             .number = sought->probe_count,
                             .by_clients = seek->ask.by_clients};
    if (seek->ask.news) seek->ask.news(seek->ask.news_arg, &news);
}

/* When a stage's load began; its servers may have had to be started before. */
static int64_t load_began_ns(const struct seek *seek, const struct stage *stage) {
    int64_t began_ns = stage->window_begin_ns - stage->warmup_ns;
    return stage->window_begin_ns > 0 ? began_ns : seek->stage_began_ns;
}

/* What a busy machine spoilt is not charged to the lock, up to half as much again. */
static void note_cost(const struct seek *seek, struct sought *sought, const struct stage *stage) {
    int64_t cost_ns = lb_now() - load_began_ns(seek, stage);
    if (cost_ns > sought->cost_ns) sought->cost_ns = cost_ns;
    if (sought->probes[sought->probe_count - 1].limit) charge_spoilt(seek, sought, cost_ns);
}

static int write_file(const struct seek *seek, const char *partial, bool ended,
                      struct lb_err *err) {
    char path[700];
    json_t *json = seek_json(seek, partial, ended);
    if (!json) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    snprintf(path, sizeof path, "%s/" CAPACITY_FILE, seek->folder);
    int failed = result_write_file(json, path, err);
    json_decref(json);
    return failed;
}

void seek_took(void *arg, const struct run_took *took) {
    struct seek *seek = arg;
    struct sought *sought = &seek->locks[seek->current];
    struct lb_err ignored = {0}; /* the last writing tries again, and says it */
    snprintf(seek->folder, sizeof seek->folder, "%s", took->folder);
    if (!took->stage) {
        seek->current++; /* its servers could not be started */
        return;
    }
    note_place(sought, took);
    sought->violated |= saw_two(took->stage, sought->lock->lock);
    if (sought->began_ns == seek->stage_began_ns)
        sought->began_ns = load_began_ns(seek, took->stage);
    if (took->of->plan->arrival.kind == ARRIVAL_CLOSED && !seek->ask.by_clients) {
        sought->saturated = probe_read(took->stage, took->ask, 0);
        begin_search(seek, sought);
    } else {
        note_probe(seek, sought, took);
        note_cost(seek, sought, took->stage);
    }
    write_file(seek, "the search was cut off", false, &ignored);
}

int seek_end(struct seek *seek, const char *partial, struct lb_err *err) {
    return seek->folder[0] ? write_file(seek, partial, true, err) : 0;
}

int seek_unanswered(const struct seek *seek) {
    int count = 0;
    for (int i = 0; i < seek->count; i++)
        count += search_answer(&seek->locks[i].search).limit == SEARCH_NO_ANSWER;
    return count;
}
