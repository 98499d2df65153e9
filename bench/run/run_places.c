/* run_places: the servers that a run's stages run on, and the order of the stages. See run_state.h. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/processors.h"
#include "bench/run/run_state.h"
#include "bench/servers/spawn.h"

#define BESIDES_NS (210 * LB_MS_NS) /* connecting, the pings and a usual drain */
#define START_NS (3 * LB_S_NS)      /* of servers of our own */

/* The --url of a backend; all members NULL = the user gave none. */
static struct place_url place_url_of(const struct run_ask *ask, const struct lb_backend *backend) {
    for (int i = 0; i < ask->url_count; i++) {
        if (ask->urls[i].backend == backend) return ask->urls[i];
    }
    return (struct place_url){.backend = backend};
}

struct place_ask run_place_ask(const struct run_ask *ask, const struct plan_stage *of) {
    struct place_ask place_ask = {.lock = of->lock,
                                  .url = place_url_of(ask, of->lock->lock->backend).url,
                                  .topology = of->topology,
                                  .topologies = ask->topologies,
                                  .durability = ask->plan->durability,
                                  .program = ask->plan->program,
                                  .listen = ask->plan->listen,
                                  .tls = of->tls,
                                  .interrupts = ask->interrupts};
    bool own = !place_ask.url && of->lock->lock->backend->topologies;
    bool served = own || place_ask.url;
    place_ask.wired = served && plan_acts_on(of->plan, ON_WIRES);
    if (served) place_ask.distance = of->distance;
    place_ask.clock = own && plan_steps_clocks(of->plan);
    return place_ask;
}

/* NULL: it can't be opened, and the reason was noted. */
static struct place *begin_place(struct run_state *run, const struct plan_stage *of) {
    struct place_ask place_ask = run_place_ask(run->ask, of);
    struct place *place = NULL;
    struct lb_err err = {0};
    struct place_url at = place_url_of(run->ask, of->lock->lock->backend);
    at.options = of->lock->backend_options;
    if (!at.url || guests_arrive(&run->guests, &at, run->ask->plan, &err) == 0)
        place = place_begin(&place_ask, &err);
    if (!place) run_note_trouble(run, &err);
    return place;
}

/* NULL likewise. Notes the servers in the result. */
static struct place *finish_place(struct run_state *run, struct place *place,
                                  const struct plan_stage *of) {
    struct place_ask place_ask = run_place_ask(run->ask, of);
    struct lb_err err = {0};
    place = place_finish(place, &place_ask, &err);
    if (place && place_check_kind(place, of->plan, &err) != 0) {
        place_close(place);
        place = NULL;
    }
    if (!place) {
        run_note_trouble(run, &err);
        return NULL;
    }
    if (place_is_guest(place) && *place->facts.unfit) {
        err_set(&err, LB_EXIT_MACHINE, "%s does not exclude others here: %s", of->lock->lock->name,
                place->facts.unfit);
        run_note_warning(run, &err);
    }
    json_t *json = place_json(place), *other;
    size_t i;
    bool known = false;
    json_array_foreach(run->servers, i, other) known |= json_equal(json, other);
    if (!known) json_array_append(run->servers, json);
    json_decref(json);
    return place;
}

static struct place *open_place(struct run_state *run, const struct plan_stage *of) {
    struct place *place = begin_place(run, of);
    return place ? finish_place(run, place, of) : NULL;
}

static bool starts_servers(const struct run_state *run, const struct plan_stage *stage) {
    const struct lb_backend *backend = stage->lock->lock->backend;
    return backend->topologies && !place_url_of(run->ask, backend).url;
}

/* Whether the servers take the connections of all the stage's clients; if not, the result says that it was left
 * out, and why. */
static bool has_room(const struct run_state *run, const struct place *place,
                     const struct plan_stage *of) {
    const struct lb_lock *lock = of->lock->lock;
    int each = plan_session_clients(of->plan, lock), sessions = (of->clients + each - 1) / each;
    int most = place->topo ? topo_about(place->topo)->connections : 0;
    char why[320];
    if (most == 0 || sessions <= most) return true;
    snprintf(why, sizeof why, "with %d clients: they need %d connections, and %s takes %d",
             of->clients, sessions, place->topology, most);
    json_array_append_new(run->skipped,
                          json_pack("{s:s, s:s, s:s, s:n}", "lock", lock->name, "backend",
                                    lock->backend->name, "reason", why, "install"));
    return false;
}

/* A server that the user started is one place, for all topologies of the plan. */
static bool is_elsewhere(const struct run_state *run, const struct plan_stage *stages, int at) {
    if (!place_url_of(run->ask, stages[at].lock->lock->backend).url) return false;
    for (int i = 0; i < at; i++) {
        if (stages[i].lock == stages[at].lock &&
            distance_same(&stages[i].distance, &stages[at].distance) &&
            !stages_share(&stages[i], &stages[at]))
            return true;
    }
    return false;
}

/* Drops the stages that are not to be run. Returns how many are left. */
static int keep_reachable(const struct run_state *run, struct plan_stage *stages, int count) {
    int kept = 0;
    /* from the end, because each is compared with all that were before it */
    for (int i = count; i-- > 0;) {
        if (is_elsewhere(run, stages, i)) stages[i].lock = NULL;
    }
    for (int i = 0; i < count; i++) {
        if (stages[i].lock) stages[kept++] = stages[i];
    }
    return kept;
}

/* Whether one place serves both: the same servers, started so that both stages' injections work. */
static bool same_place(const struct plan_stage *a, const struct plan_stage *b) {
    return stages_share(a, b) &&
           plan_acts_on(a->plan, ON_WIRES) == plan_acts_on(b->plan, ON_WIRES) &&
           plan_steps_clocks(a->plan) == plan_steps_clocks(b->plan);
}

/* Whether a stage is the first one of its place. */
static bool begins_place(const struct plan_stage *stages, int at) {
    for (int i = 0; i < at; i++) {
        if (same_place(&stages[i], &stages[at])) return false;
    }
    return true;
}

/* By the plan: connecting, warm-up, window, the usual drain, and the start of servers of our own. */
static int64_t expected_ns(const struct run_state *run, const struct plan_stage *stages, int at) {
    bool starts = stages[at].plan->fresh || begins_place(stages, at);
    int64_t start_ns = starts && starts_servers(run, &stages[at]) ? START_NS : 0;
    return stages[at].plan->warmup_ns + stages[at].window_ns + BESIDES_NS + start_ns;
}

/* Tells the user the estimated time of all stages. */
static void tell_expected(struct run_state *run, const struct plan_stage *stages, int count) {
    const struct run_ask *ask = run->ask;
    /* the spare rounds are not expected */
    while (run->paired && count > 0 && stages[count - 1].repeat > ask->plan->repeat) count--;
    run->stages_planned = count;
    int64_t all_ns = 0;
    for (int i = 0; i < count; i++) all_ns += expected_ns(run, stages, i);
    ask->news(ask->arg, &(struct run_news){.expected_ns = all_ns, .count = count});
}

/* The server processes that the stages start, if all run side by side. */
static int count_nodes(const struct run_state *run, const struct plan_stage *stages, int count) {
    int nodes = 0;
    for (int i = 0; i < count; i++) {
        struct topo_info info;
        struct lb_err ignored = {0};
        if (!stages[i].topology || !starts_servers(run, &stages[i]) || !begins_place(stages, i))
            continue;
        if (topo_info(run->ask->topologies, stages[i].topology, &info, &ignored) == 0)
            nodes += info.nodes;
    }
    return nodes;
}

/* Whether the servers of all stages can be up at a time; if not, the result's warnings say why. */
static bool fit_together(struct run_state *run, const struct plan_stage *stages, int count) {
    struct lb_err why = {0};
    if (run->ask->plan->fresh || place_fit_together(count_nodes(run, stages, count), &why))
        return true;
    json_array_append_new(
        run->warnings,
        json_sprintf(
            "the backends ran one after the other, so locks of different backends are not paired: %s",
            why.text));
    return false;
}

/* Gives servers of our own one half of the processors and the clients the other, if there are four or more; the result
 * says which. Before any thread or server is started. */
static void divide_processors(struct run_state *run, const struct plan_stage *stages, int count) {
    json_t *environment = json_object_get(run->json, "environment");
    cpu_set_t clients, servers;
    char text[400];
    bool starts = false;
    for (int i = 0; i < count; i++) starts |= starts_servers(run, &stages[i]);
    if (!starts || run->ask->peers) return;
    json_object_set_new(environment, "servers_on", json_null());
    if (!place_divide_processors(run->ask->plan->processors_shared, &clients, &servers)) return;
    json_object_set_new(environment, "clients_on",
                        json_string(processors_text(&clients, text, sizeof text)));
    json_object_set_new(environment, "servers_on",
                        json_string(processors_text(&servers, text, sizeof text)));
}

/* The places that are open. */
struct pool {
    struct open_place {
        struct plan_stage at; /* a stage of it */
        struct place *place;  /* NULL: it could not be opened */
    } * open;
    int count;
};

/* The place of a stage, which is opened if it is not; NULL: it can't be. */
static struct place *place_for(struct run_state *run, struct pool *pool,
                               const struct plan_stage *of) {
    for (int i = 0; i < pool->count; i++) {
        if (same_place(&pool->open[i].at, of)) return pool->open[i].place;
    }
    struct place *place = open_place(run, of);
    pool->open[pool->count++] = (struct open_place){.at = *of, .place = place};
    return place;
}

/* Opens the places of all stages, whose servers start side by side. */
static void open_all(struct run_state *run, struct pool *pool, const struct plan_stage *stages,
                     int count) {
    for (int i = 0; i < count && *run->ask->interrupts == 0; i++) {
        if (begins_place(stages, i))
            pool->open[pool->count++] =
                (struct open_place){.at = stages[i], .place = begin_place(run, &stages[i])};
    }
    for (int i = 0; i < pool->count; i++) {
        struct open_place *open = &pool->open[i];
        if (open->place) open->place = finish_place(run, open->place, &open->at);
    }
}

static void close_place(struct pool *pool, const struct plan_stage *of) {
    for (int i = 0; i < pool->count; i++) {
        if (!same_place(&pool->open[i].at, of)) continue;
        place_close(pool->open[i].place);
        pool->open[i] = pool->open[--pool->count];
    }
}

static bool ends_place(const struct plan_stage *stages, int count, int at) {
    for (int i = at + 1; i < count; i++) {
        if (same_place(&stages[i], &stages[at])) return false;
    }
    return true;
}

/* ---- rounds ---- */

#define STOOD_MOST 0.05  /* of the windows of a round */
#define STOLEN_MOST 0.02 /* likewise */

/* Above 1: the round was disturbed. The figures of the locks have no part in it. */
static double disturbance(const struct round *round) {
    if (!(round->window_ns > 0)) return 0;
    double stood = round->stood_ns / round->window_ns / STOOD_MOST;
    double stolen = round->stolen_ns / round->window_ns / STOLEN_MOST;
    return stood > stolen ? stood : stolen;
}

/* The undisturbed rounds that are enough: one of seven may be lost. */
static int rounds_needed(const struct run_state *run) {
    int planned = run->ask->plan->repeat;
    return planned - planned / 7;
}

/* True if there are enough rounds before this one. */
static bool has_rounds(const struct run_state *run, int round) {
    int good = 0;
    if (!run->round || round <= run->ask->plan->repeat) return false;
    for (int r = 1; r < round; r++) good += disturbance(&run->round[r]) <= 1;
    return good >= rounds_needed(run);
}

/* Takes the round that was disturbed most out of the figures. */
static void set_aside(struct run_state *run, int worst) {
    const struct round *round = &run->round[worst];
    json_t *stage;
    size_t i;
    json_array_foreach(run->stages, i, stage) {
        if (json_integer_value(json_object_get(stage, "repeat")) != worst) continue;
        json_object_set_new(
            stage, "aside",
            json_sprintf("its round was disturbed: lockbench stood still for %.1f %% of it, "
                         "steal took %.1f %%",
                         100 * round->stood_ns / round->window_ns,
                         100 * round->stolen_ns / round->window_ns));
    }
    run->round[worst] = (struct round){0};
}

/* Sets those aside that were disturbed most, as long as enough are left. rounds: all that ran to their end. */
static void set_disturbed_aside(struct run_state *run, int rounds) {
    for (int more = rounds - rounds_needed(run); more > 0; more--) {
        int worst = 1;
        for (int r = 2; r <= rounds; r++)
            if (disturbance(&run->round[r]) > disturbance(&run->round[worst])) worst = r;
        if (disturbance(&run->round[worst]) > 1) set_aside(run, worst);
    }
}

/* Servers stay up from their first stage to their last. */
static void run_stages(struct run_state *run, const struct plan_stage *stages, int count) {
    struct pool pool = {.open = calloc((size_t)count + 1, sizeof *pool.open)};
    int whole = 0; /* rounds */
    if (run->paired)
        run->round = calloc((size_t)run->ask->plan->repeat + STAGES_SPARE + 1, sizeof *run->round);
    if (run->paired && !run->ask->plan->fresh && pool.open) open_all(run, &pool, stages, count);
    for (int i = 0; i < count && pool.open && *run->ask->interrupts == 0; i++) {
        bool begins = i > 0 && stages[i].repeat != stages[i - 1].repeat;
        if (begins && has_rounds(run, stages[i].repeat)) break;
        run->stages_planned += stages[i].repeat > run->ask->plan->repeat;
        struct place *place = place_for(run, &pool, &stages[i]);
        bool spent =
            place && has_room(run, place, &stages[i]) && !run_stage(run, place, &stages[i]);
        if (spent || ends_place(stages, count, i)) close_place(&pool, &stages[i]);
        bool ends = i + 1 == count || stages[i + 1].repeat != stages[i].repeat;
        if (ends && *run->ask->interrupts == 0) whole = stages[i].repeat;
    }
    if (run->round) set_disturbed_aside(run, whole);
    free(run->round);
    run->round = NULL;
    while (pool.count > 0) place_close(pool.open[--pool.count].place);
    free(pool.open);
}

int run_all_places(struct run_state *run, struct lb_err *err) {
    const struct plan *plan = run->ask->plan;
    int count = 0;
    struct plan_stage *stages = stages_new(plan, STAGES_BY_PLACE, &count);
    if (stages) divide_processors(run, stages, count);
    run->paired =
        stages && plan->repeat >= 2 && !run->ask->peers && fit_together(run, stages, count);
    json_object_set_new(run->json, "paired", json_boolean(run->paired));
    if (run->paired) {
        free(stages);
        stages = stages_new(plan, STAGES_BY_ROUND, &count);
    }
    if (!stages) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    count = keep_reachable(run, stages, count);
    tell_expected(run, stages, count);
    run_stages(run, stages, count);
    free(stages);
    return 0;
}
