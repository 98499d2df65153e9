/* run_stages: the stages of a run, one after the other, and the servers that they run on. See run_state.h. */
#include <stdio.h>
#include <string.h>

#include "bench/base/process.h"
#include "bench/run/run_state.h"
#include "bench/run/supervise.h"
#include "bench/workload/faults.h"
#include "results/format/write.h"

static struct run_at where_is(const struct run_state *run, const struct stage_ask *ask) {
    int count = run->stages_planned;
    return (struct run_at){.lock = ask->lock->lock->name,
                           .clients = ask->clients,
                           .number = run->number,
                           .count = count,
                           .left_ns = count > 0 ? expect_left_ns(&run->expect) : 0};
}

static void say_stage(const struct run_state *run, const struct stage *stage,
                      const struct stage_ask *ask) {
    struct run_at at = where_is(run, ask);
    if (run->ask->done) run->ask->done(run->ask->arg, &at, stage);
}

static bool has_killed(const struct stage *stage) {
    for (int i = 0; i < stage->faults.count; i++) {
        if (stage->faults.events[i].kind == INJECT_KILL) return true;
    }
    return false;
}

/* Whether the place can serve no more stages: the plan wants new servers for each stage; the server is lost, or an
 * injection changed it; or the place is in our own memory, where a killed or stuck client may have left a lock held
 * for ever. */
static bool is_spent(const struct place *place, const struct plan *plan,
                     const struct stage *stage) {
    bool whole = stage->status == STAGE_COMPLETE;
    if (place->topo && plan->fresh) return true;
    if (place->topo && stage->faults.servers_touched) return true;
    if (place->topo) return !whole && topo_check(place->topo, NULL) != 0;
    return place->dir[0] && (!whole || has_killed(stage));
}

static void conclude_stage(struct run_state *run, const struct stage *stage,
                           const struct plan_stage *of) {
    char line[300];
    if (conclusion_add_stage(&run->conclusion, stage, of, line, sizeof line)) run_say(run, line);
}

static void add_stage_result(struct run_state *run, struct stage *stage,
                             const struct plan_stage *of) {
    struct lb_err err = {0};
    stage_describe_origin(&stage->result, of);
    json_t *json = run_stage_json(&stage->result);
    if (json && json_array_append_new(run->stages, json) == 0) return;
    err_set(&err, LB_EXIT_MACHINE, "out of memory for a stage's result");
    run_note_trouble(run, &err);
}

static void tell_took(const struct run_state *run, const struct plan_stage *of,
                      const struct stage_ask *ask, const struct stage *stage,
                      const struct place *place) {
    struct run_took took = {
        .of = of, .ask = ask, .stage = stage, .place = place, .folder = run->out.path};
    if (run->ask->took) run->ask->took(run->ask->next_arg, &took);
}

/* A second of a stage is over. */
static void tell_second(void *arg, const struct stage_news *news) {
    struct run_state *run = arg;
    metrics_file_write(run->ask->metrics, run->now, news);
    struct run_at at = where_is(run, run->now);
    if (run->ask->news) run->ask->news(run->ask->arg, &at, news);
}

/* Something to be told during a stage. */
static void tell_line(void *arg, const char *line) {
    const struct run_state *run = arg;
    if (run->ask->tell) run->ask->tell(run->ask->arg, line);
}

/* All figures of the stage before give way to zeros. */
static void tell_stage_begin(struct run_state *run, const struct stage_ask *ask) {
    run->now = ask;
    metrics_file_write(run->ask->metrics, ask, NULL);
}

/* A fault that never acted shows nothing of its lock, whatever the verdict says. */
static void warn_of_idle_fault(struct run_state *run, const struct plan *plan, const char *id,
                               const struct stage *stage) {
    struct lb_err err = {0};
    const char *why;
    char section[16];
    int idle = fault_log_idle(&stage->faults, plan, &why);
    if (idle < 0 || stage->status != STAGE_COMPLETE) return;
    err_set(&err, LB_EXIT_MACHINE,
            "%s: the fault %s of [%s] never acted, so the lock was not put to it: %s", id,
            injection_name(plan->faults[idle].kind),
            fault_section_text(idle, section, sizeof section), why);
    run_note_warning(run, &err);
}

/* Fills in all that a stage is asked for, except its name and files. */
static struct stage_ask stage_ask_of(struct run_state *run, struct place *place,
                                     const struct plan_stage *of) {
    const struct place_wire *wiring = place->wiring;
    return (struct stage_ask){.plan = of->plan,
                              .lock = of->lock,
                              .server = &place->server,
                              .hosts = run->ask->hosts,
                              .topo = place->topo,
                              .guest = place_is_guest(place),
                              .wire = wiring ? wiring->wire : NULL,
                              .client_ends = wiring ? wiring->client_ends : 0,
                              .peer_ends = wiring ? wiring->peer_ends : 0,
                              .distance = of->distance,
                              .clients = of->clients,
                              .readers = of->readers,
                              .rate_per_s = of->rate_per_s,
                              .sweep = of->sweep,
                              .promise = run->promise,
                              .repeat = of->repeat,
                              .topology = place->topology,
                              .durability = place->durability,
                              .encryption = place->encryption,
                              .durability_class = place_durability_class(place, of->lock->lock),
                              .guarantee = place_guarantee(place, of->lock->lock),
                              .version = run->ask->version,
                              .seed = of->plan->seed + (uint64_t)of->repeat,
                              .interrupts = run->ask->interrupts,
                              .news = tell_second,
                              .tell = tell_line,
                              .news_arg = run};
}

/* Sets the line that is printed if this process crashes in a call of the driver (process.h). */
static void expect_crash(const struct run_state *run, const struct stage_ask *ask) {
    char what[200], after[800];
    snprintf(what, sizeof what, "%s: stage %s", ask->lock->lock->name, ask->id);
    snprintf(after, sizeof after, "What was saved before is in %.700s.", run->out.path);
    crash_expect(what, after);
}

/* Runs one stage and adds it to the result. False when the other stages of the place need a new place. */
static bool run_stage(struct run_state *run, struct place *place, const struct plan_stage *of) {
    char hlog[700], name[96];
    struct stage_ask stage_ask = stage_ask_of(run, place, of);
    stage_ask.hlog_path = hlog;
    snprintf(stage_ask.id, sizeof stage_ask.id, "%03d-%.90s", run->number++,
             stage_name(of, name, sizeof name));
    snprintf(hlog, sizeof hlog, "%s/%s.hlog", run->out.path, stage_ask.id);
    struct lb_err err = {0};
    tell_stage_begin(run, &stage_ask);
    expect_crash(run, &stage_ask);
    struct stage *stage = stage_run(&stage_ask, &err);
    crash_expect(NULL, NULL);
    run->now = NULL; /* it ends with this function */
    if (!stage) {
        run_note_trouble(run, &err);
        tell_took(run, of, NULL, NULL, NULL);
        return false;
    }
    say_stage(run, stage, &stage_ask);
    conclude_stage(run, stage, of);
    thresholds_take(&run->thresholds, stage, &stage_ask, of);
    add_stage_result(run, stage, of);
    if (stage->err.code && !run->failed[0])
        snprintf(run->failed, sizeof run->failed, "%s: %s", of->lock->lock->name, stage->err.text);
    if (stage->status != STAGE_COMPLETE) {
        err.code = 0;
        err_set(&err, stage->err.code, "%s: %s", stage_ask.id, stage->err.text);
        run_note_trouble(run, &err);
    }
    if (stage->log_err.code) run_note_warning(run, &stage->log_err);
    warn_of_idle_fault(run, of->plan, stage_ask.id, stage);
    tell_took(run, of, &stage_ask, stage, place);
    if (stage->unsure[0]) guests_unsure(&run->guests, of->lock->lock->backend, stage->unsure);
    if (stage->keeps_named) guests_kept(&run->guests, of->lock->lock->backend);
    bool spent = is_spent(place, of->plan, stage);
    place->in_use |= stage->hung;
    stage_free(stage);
    run_write_so_far(run);
    return !spent;
}

/* The --url of a backend; all members NULL = the user gave none. */
static struct place_url place_url_of(const struct run_ask *ask, const struct lb_backend *backend) {
    for (int i = 0; i < ask->url_count; i++) {
        if (ask->urls[i].backend == backend) return ask->urls[i];
    }
    return (struct place_url){.backend = backend};
}

const char *run_url_of(const struct run_ask *ask, const struct lb_backend *backend) {
    return place_url_of(ask, backend).url;
}

static struct place *open_place(struct run_state *run, const struct plan_stage *of) {
    const struct run_ask *ask = run->ask;
    struct place_ask place_ask = {.lock = of->lock,
                                  .url = run_url_of(ask, of->lock->lock->backend),
                                  .topology = of->topology,
                                  .topologies = ask->topologies,
                                  .durability = ask->plan->durability,
                                  .flavour = place_flavour(ask->plan),
                                  .tls = of->tls,
                                  .interrupts = ask->interrupts};
    bool own = !place_ask.url && of->lock->lock->backend->topologies;
    bool far = own || place_ask.url;
    place_ask.wired = far && plan_acts_on(of->plan, ON_WIRES);
    if (far) place_ask.distance = of->distance;
    place_ask.clock = own && plan_steps_clocks(of->plan);
    struct lb_err err = {0};
    struct place *place = NULL;
    struct place_url at = place_url_of(ask, of->lock->lock->backend);
    at.options = of->lock->backend_options;
    if (!at.url || guests_arrive(&run->guests, &at, ask->plan, &err) == 0)
        place = place_open(&place_ask, &err);
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

static bool starts_servers(const struct run_state *run, const struct plan_stage *stage) {
    const struct lb_backend *backend = stage->lock->lock->backend;
    return backend->topologies && !run_url_of(run->ask, backend);
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

/* Runs all stages of one place; they follow each other from `stages` on. */
static void run_place(struct run_state *run, const struct plan_stage *stages, int count) {
    struct place *place = open_place(run, stages);
    for (int i = 0; i < count && place; i++) {
        if (*run->ask->interrupts > 0) break;
        bool starts = (i == 0 || stages[i].plan->fresh) && starts_servers(run, stages);
        int64_t stage_ns = expect_stage_ns(&stages[i], starts);
        if (conclusion_control_caught(&run->conclusion, &stages[i]) ||
            !has_room(run, place, &stages[i])) {
            expect_skip(&run->expect, stage_ns);
            continue;
        }
        expect_begin(&run->expect, stage_ns);
        if (!run_stage(run, place, &stages[i])) {
            /* The other stages get a new place. */
            place_close(place);
            place = *run->ask->interrupts > 0 || i + 1 == count ? NULL
                                                                : open_place(run, &stages[i + 1]);
        }
    }
    place_close(place);
}

/* A server that the user started is one place, for all topologies of the plan. */
static bool is_elsewhere(const struct run_state *run, const struct plan_stage *stages, int at) {
    if (!run_url_of(run->ask, stages[at].lock->lock->backend)) return false;
    for (int i = 0; i < at; i++) {
        if (stages[i].lock == stages[at].lock &&
            distance_same(&stages[i].distance, &stages[at].distance) &&
            !stages_share(&stages[i], &stages[at]))
            return true;
    }
    return false;
}

int run_keep_reachable(const struct run_state *run, struct plan_stage *stages, int count) {
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

void run_tell_expected(struct run_state *run, const struct plan_stage *stages, int count) {
    const struct run_ask *ask = run->ask;
    run->stages_planned = count;
    for (int i = 0; i < count; i++) {
        bool begins = i == 0 || stages[i].plan->fresh || !same_place(&stages[i - 1], &stages[i]);
        run->expect.ahead_ns +=
            expect_stage_ns(&stages[i], begins && starts_servers(run, &stages[i]));
    }
    if (ask->begin) ask->begin(ask->arg, count, run->expect.ahead_ns);
}

void run_all_places(struct run_state *run, const struct plan_stage *stages, int count) {
    for (int from = 0, to; from < count && *run->ask->interrupts == 0; from = to) {
        to = from + 1;
        while (to < count && same_place(&stages[from], &stages[to])) to++;
        run_place(run, stages + from, to - from);
    }
}

void run_asked(struct run_state *run) {
    struct plan_stage of = {0}, at = {0}; /* at: one of those that the place was opened for */
    struct place *place = NULL;
    while (*run->ask->interrupts == 0 && run->ask->next(run->ask->next_arg, &of, &run->promise)) {
        if (place && !same_place(&at, &of)) {
            place_close(place);
            place = NULL;
        }
        if (!place) place = open_place(run, &of);
        at = of;
        if (!place) {
            tell_took(run, &of, NULL, NULL, NULL);
        } else if (!run_stage(run, place, &of)) {
            place_close(place);
            place = NULL;
        }
    }
    place_close(place);
}
