/* run: see run.h. */
#include "bench/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load/descriptors.h"
#include "bench/run/canary.h"
#include "bench/run/environment.h"
#include "bench/run/expect.h"
#include "bench/run/guest.h"
#include "bench/run/judge.h"
#include "bench/run/outdir.h"
#include "bench/run/supervise.h"
#include "bench/run/thresholds.h"
#include "bench/workload/faults.h"
#include "bench/workload/stages.h"
#include "results/format/write.h"

#define WRITE_EVERY_NS (2 * LB_S_NS) /* run.json grows: not after every short stage */

struct run_state {
    const struct run_ask *ask;
    struct outdir out;
    json_t *json, *stages, *servers, *skipped, *warnings;
    int64_t written_ns;
    int number; /* of the next stage */
    struct expect expect;
    struct judge judge;
    struct thresholds thresholds;
    struct stage_promise promise; /* that the next stage is asked about */
    struct exposition exposition; /* for the exporter; without figures */
    struct lb_err err;            /* the first thing that went wrong */
    struct guests guests;         /* the run, on the servers of --url */
};

static void say_line(const struct run_state *run, const char *text) {
    run->ask->say(run->ask->arg, text);
}

/* Notes something for the result and the exit code; no figure is missing because of it. */
static void note_warning(struct run_state *run, const struct lb_err *err) {
    say_line(run, err->text);
    err_set(&run->err, err->code, "%s", err->text);
    json_array_append_new(run->warnings, json_string(err->text));
}

/* Notes that something is missing from the result; the run goes on. */
static void note_trouble(struct run_state *run, const struct lb_err *err) {
    json_object_set_new(run->json, "partial", json_true());
    if (!json_is_null(json_object_get(run->json, "partial_reason"))) {
        if (err->code != LB_EXIT_INTERRUPTED) note_warning(run, err);
        return;
    }
    json_object_set_new(run->json, "partial_reason", json_string(err->text));
    err_set(&run->err, err->code, "%s", err->text);
    /* Ctrl-C needs no message now; the end of the run reports it. */
    if (err->code != LB_EXIT_INTERRUPTED) say_line(run, err->text);
}

/* The plans of the controls that run by a workload of their own, by the workload's name. */
static json_t *control_plans_json(const struct plan *plan) {
    json_t *plans = json_object();
    for (int i = 0; i < plan->lock_count; i++) {
        const struct plan *own = plan->locks[i].plan;
        if (!own) continue;
        /* Two controls of one workload differ only in their locks. */
        json_t *known = json_object_get(plans, own->name), *names;
        if (known && (names = json_object_get(known, "locks"))) {
            json_array_append_new(names, json_string(plan->locks[i].lock->name));
        } else {
            json_object_set_new(plans, own->name, plan_json(own));
        }
    }
    return plans;
}

/* Says in one line which checks of the machine found something; .environment.advice has the rest. */
static void warn_of_machine(json_t *warnings, const json_t *environment) {
    const json_t *advice = json_object_get(environment, "advice"), *text;
    char names[300] = "";
    size_t i;
    json_array_foreach(advice, i, text) {
        const char *words = json_string_value(text);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "",
                 (int)strcspn(words, ":"), words);
    }
    if (*names)
        json_array_append_new(
            warnings,
            json_sprintf("this machine may blur the figures (%s): `lockbench doctor` says "
                         "how, and what to do about it",
                         names));
}

static int begin_run(struct run_state *run, struct lb_err *err) {
    const struct run_ask *ask = run->ask;
    if (outdir_make(&run->out, ask->out, ask->results, ask->plan->name, err) != 0) return -1;
    run->stages = json_array();
    run->servers = json_array();
    run->warnings = ask->plan->warnings ? json_deep_copy(ask->plan->warnings) : json_array();
    run->skipped = ask->plan->skipped ? json_deep_copy(ask->plan->skipped) : json_array();
    /* The result is marked as partial until the end, so that it is right after a SIGKILL. */
    run->json = json_pack(
        "{s:s, s:{s:s, s:s}, s:s, s:o, s:n, s:b, s:s, s:n, s:o, s:o, s:o, s:O, s:O, s:O, s:O}",
        "schema", RUN_SCHEMA, "tool", "name", "lockbench", "version", ask->version, "command",
        ask->command, "started_at", result_now_json(), "ended_at", "partial", 1, "partial_reason",
        "the run was cut off", "verdict", "plan", plan_json(ask->plan), "control_plans",
        control_plans_json(ask->plan), "environment", environment_json(), "servers", run->servers,
        "skipped", run->skipped, "warnings", run->warnings, "stages", run->stages);
    if (!run->json) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (outdir_write(&run->out, run->json, err) != 0) return -1;
    json_object_set_new(run->json, "partial_reason", json_null());
    json_object_set_new(run->json, "partial", json_false());
    return 0;
}

/* A result without a measurement does not take the place of an older one that has some. 0, or -1 with
 * err. */
static int write_result(const struct run_state *run, const json_t *json, struct lb_err *err) {
    if (outdir_write(&run->out, json, err) != 0) return -1;
    if (run->judge.grants > 0) outdir_latest(&run->out);
    return 0;
}

/* Writes the result so far, marked as partial. */
static void write_run_so_far(struct run_state *run) {
    if (lb_now() - run->written_ns < WRITE_EVERY_NS) return;
    json_t *copy = json_copy(run->json);
    json_object_set_new(copy, "partial", json_true());
    if (json_is_null(json_object_get(copy, "partial_reason"))) {
        json_object_set_new(copy, "partial_reason", json_string("the run was cut off"));
    }
    struct lb_err ignored = {0}; /* the last writing tries again, and elsewhere if need be */
    write_result(run, copy, &ignored);
    json_decref(copy);
    run->written_ns = lb_now();
}

static struct run_at where_is(const struct run_state *run, const struct stage_ask *ask) {
    int count = run->exposition.stages_planned;
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

/* Whether the place can serve no more stages: the plan wants new servers for each; its server is lost, or changed by an injection; or the
 * place is in our own memory, and a killed or stuck client may have left a lock held there for
 * ever. */
static bool is_spent(const struct place *place, const struct plan *plan,
                     const struct stage *stage) {
    bool whole = stage->status == STAGE_COMPLETE;
    if (place->topo && plan->fresh) return true;
    if (place->topo && stage->faults.servers_touched) return true;
    if (place->topo) return !whole && topo_check(place->topo, NULL) != 0;
    return place->dir[0] && (!whole || has_killed(stage));
}

static void judge_stage_of(struct run_state *run, const struct stage *stage,
                           const struct plan_stage *of) {
    char line[300];
    if (judge_stage(&run->judge, stage, of, line, sizeof line)) say_line(run, line);
}

/* Adds to a stage's result what only the run knows: the workload of its own that a control ran
 * by. */
static void add_origin(struct run_stage *result, const struct plan_stage *of) {
    char faults[160];
    const struct lb_about *about = &of->lock->lock->about;
    if (of->lock->plan) {
        result->workload = run_stage_keep_text(result, "%s", of->plan->name);
        result->expected = verdict_name(lb_exposed_verdict(about->exposed_as));
    }
    /* A control whose mistake this workload can't show may come out clean. */
    if (about->exposed_by && strcmp(about->exposed_by, of->plan->name) != 0)
        result->exposed_by = about->exposed_by;
    result->fault = run_stage_keep_text(result, "%s", faults_text(of->plan, faults, sizeof faults));
}

static void add_stage_result(struct run_state *run, struct stage *stage,
                             const struct plan_stage *of) {
    struct lb_err err = {0};
    add_origin(&stage->result, of);
    json_t *json = run_stage_json(&stage->result);
    if (json && json_array_append_new(run->stages, json) == 0) return;
    err_set(&err, LB_EXIT_MACHINE, "out of memory for a stage's result");
    note_trouble(run, &err);
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
    struct exposition now = run->exposition;
    now.news = news; /* good during this call */
    exporter_publish(run->ask->exporter, &now);
    struct run_at at = where_is(run, run->exposition.ask);
    if (run->ask->news) run->ask->news(run->ask->arg, &at, news);
}

/* Something to be told during a stage. */
static void tell_line(void *arg, const char *line) {
    const struct run_state *run = arg;
    if (run->ask->tell) run->ask->tell(run->ask->arg, line);
}

/* All figures of the stage before give way to zeros. */
static void tell_stage_begin(struct run_state *run, const struct stage_ask *ask) {
    run->exposition.stages_begun++;
    run->exposition.ask = ask;
    exporter_publish(run->ask->exporter, &run->exposition);
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
    note_warning(run, &err);
}

/* What a stage is asked for, but for its name and files. */
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

/* Runs one stage and adds it to the result. False when the place's other stages need a new one. */
static bool run_stage(struct run_state *run, struct place *place, const struct plan_stage *of) {
    char hlog[700], name[96];
    struct stage_ask stage_ask = stage_ask_of(run, place, of);
    stage_ask.hlog_path = hlog;
    snprintf(stage_ask.id, sizeof stage_ask.id, "%03d-%.90s", run->number++,
             stage_name(of, name, sizeof name));
    snprintf(hlog, sizeof hlog, "%s/%s.hlog", run->out.path, stage_ask.id);
    struct lb_err err = {0};
    tell_stage_begin(run, &stage_ask);
    struct stage *stage = stage_run(&stage_ask, &err);
    run->exposition.ask = NULL; /* it ends with this function */
    if (!stage) {
        note_trouble(run, &err);
        tell_took(run, of, NULL, NULL, NULL);
        return false;
    }
    say_stage(run, stage, &stage_ask);
    judge_stage_of(run, stage, of);
    thresholds_take(&run->thresholds, stage, &stage_ask, of);
    add_stage_result(run, stage, of);
    if (stage->status != STAGE_COMPLETE) {
        err.code = 0;
        err_set(&err, stage->err.code, "%s: %s", stage_ask.id, stage->err.text);
        note_trouble(run, &err);
    }
    if (stage->log_err.code) note_warning(run, &stage->log_err);
    warn_of_idle_fault(run, of->plan, stage_ask.id, stage);
    tell_took(run, of, &stage_ask, stage, place);
    if (stage->untidy[0]) guests_unsure(&run->guests, of->lock->lock->backend, stage->untidy);
    bool spent = is_spent(place, of->plan, stage);
    place->in_use |= stage->stuck;
    stage_free(stage);
    write_run_so_far(run);
    return !spent;
}

static const char *url_of_backend(const struct run_ask *ask, const struct lb_backend *backend) {
    for (int i = 0; i < ask->url_count; i++) {
        if (ask->urls[i].backend == backend) return ask->urls[i].url;
    }
    return NULL;
}

static struct place *open_place(struct run_state *run, const struct plan_stage *of) {
    const struct run_ask *ask = run->ask;
    struct place_ask place_ask = {.lock = of->lock,
                                  .url = url_of_backend(ask, of->lock->lock->backend),
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
    if (own) place_ask.peer_distance = of->plan->peer_distance;
    place_ask.clock = own && plan_steps_clocks(of->plan);
    struct lb_err err = {0};
    struct place *place = NULL;
    const struct place_url at = {.backend = of->lock->lock->backend,
                                 .url = place_ask.url,
                                 .options = of->lock->backend_options};
    if (!at.url || guests_arrive(&run->guests, &at, ask->plan, &err) == 0)
        place = place_open(&place_ask, &err);
    if (!place) {
        note_trouble(run, &err);
        return NULL;
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
    return backend->topologies && !url_of_backend(run->ask, backend);
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
        if (judge_is_done(&run->judge, &stages[i]) || !has_room(run, place, &stages[i])) {
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
    if (!url_of_backend(run->ask, stages[at].lock->lock->backend)) return false;
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

/* Tells how long all stages will take, as far as anybody can say before. */
static void tell_expected(struct run_state *run, const struct plan_stage *stages, int count) {
    const struct run_ask *ask = run->ask;
    run->exposition.stages_planned = count;
    for (int i = 0; i < count; i++) {
        bool begins = i == 0 || stages[i].plan->fresh || !same_place(&stages[i - 1], &stages[i]);
        run->expect.ahead_ns +=
            expect_stage_ns(&stages[i], begins && starts_servers(run, &stages[i]));
    }
    if (ask->begin) ask->begin(ask->arg, count, run->expect.ahead_ns);
}

static void run_all_places(struct run_state *run, const struct plan_stage *stages, int count) {
    for (int from = 0, to; from < count && *run->ask->interrupts == 0; from = to) {
        to = from + 1;
        while (to < count && same_place(&stages[from], &stages[to])) to++;
        run_place(run, stages + from, to - from);
    }
}

/* Runs stages that the caller asks for one by one. */
static void run_asked(struct run_state *run) {
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

/* The promises count where nothing worse was found. */
static void conclude_promises(struct run_state *run, struct run_end *end) {
    json_t *json = thresholds_json(&run->thresholds);
    struct lb_err err = {0};
    char why[sizeof end->why];
    int code = thresholds_exit(&run->thresholds, why, sizeof why);
    if (!json) {
        err_set(&err, LB_EXIT_MACHINE, "out of memory for the promises");
        note_trouble(run, &err);
        return;
    }
    json_object_set_new(run->json, "slo", json);
    if (end->exit_code != LB_EXIT_OK || code == LB_EXIT_OK) return;
    end->exit_code = code;
    snprintf(end->why, sizeof end->why, "%s", why);
}

/* All stages, between the two measurements of the canary. */
static void run_between_canaries(struct run_state *run, const struct plan_stage *stages,
                                 int count) {
    const struct run_ask *ask = run->ask;
    struct canary before = {.count = 0}, after = {.count = 0};
    struct lb_err err = {0};
    double part;
    if (ask->canary) canary_measure(&before, ask->canary, ask->interrupts);
    run_all_places(run, stages, count);
    if (!ask->canary) {
        json_object_set_new(run->json, "canary", json_null());
        return;
    }
    canary_measure(&after, ask->canary, ask->interrupts);
    json_object_set_new(run->json, "canary", canary_json(&before, &after));
    if (!canary_moved(&before, &after, &part)) return;
    err_set(
        &err, 0,
        "the machine changed during the run: without a lock the load generator was %.0f %% %s "
        "after it than before it, so a comparison of stages that ran at different times is void",
        100 * fabs(part), part < 0 ? "slower" : "faster");
    say_line(run, err.text);
    json_array_append_new(run->warnings, json_string(err.text));
}

/* The reason for the exit code of a verdict, in one line. */
static void write_why(const struct run_state *run, enum verdict verdict, char *text, size_t size) {
    static const char *const whys[VERDICTS] = {
        [VERDICT_NOTHING_GRANTED] =
            "no lock was granted in a measured window: see the outcomes in the report",
        [VERDICT_STARVED] =
            "clients of a lock waited until the drain limit (run.drain) ended their waits",
        [VERDICT_STUCK] = "a lock got stuck: keys that are free but that no client gets any more",
        [VERDICT_EXPIRED] =
            "holders outlived their leases: others got in beside them, as a lease allows",
    };
    if (verdict == VERDICT_CONTROL_MISSED) {
        snprintf(text, size,
                 "%s, a lock broken on purpose, was not caught: do not trust this run's checks",
                 judge_missed(&run->judge));
    } else if (verdict == VERDICT_VIOLATED) {
        snprintf(text, size, "%s",
                 run->judge.admitted_two
                     ? "mutual exclusion was violated"
                     : "fencing tokens did not grow, though locks admitted one client at a time");
    } else {
        snprintf(text, size, "%s", whys[verdict]);
    }
}

static void conclude_run(struct run_state *run, struct run_end *end) {
    enum verdict verdict = judge_verdict(&run->judge);
    if (*run->ask->interrupts > 0) {
        struct lb_err err = {0};
        err_set(&err, LB_EXIT_INTERRUPTED, "interrupted");
        note_trouble(run, &err);
    }
    snprintf(end->verdict, sizeof end->verdict, "%s", verdict_name(verdict));
    json_object_set_new(run->json, "verdict", json_string(end->verdict));
    json_object_set_new(run->json, "ended_at", result_now_json());
    /* The last of the warnings: those of the run itself come first. */
    warn_of_machine(run->warnings, json_object_get(run->json, "environment"));
    end->exit_code = run->err.code;
    snprintf(end->why, sizeof end->why, "%s", run->err.text);
    if (*run->ask->interrupts > 0) {
        end->exit_code = LB_EXIT_INTERRUPTED;
        snprintf(end->why, sizeof end->why, "interrupted: what was measured until then is saved");
    }
    /* A run that measured nothing for a reason that is known already has that reason's code. */
    if (verdict_exit(verdict) && !(verdict == VERDICT_NOTHING_GRANTED && end->exit_code)) {
        end->exit_code = verdict_exit(verdict);
        write_why(run, verdict, end->why, sizeof end->why);
    }
    conclude_promises(run, end);
}

/* Writes the result for the last time; to another place if the intended one can't be written. */
static void save_result(struct run_state *run, struct run_end *end) {
    struct lb_err err = {0}, again = {0};
    snprintf(end->saved, sizeof end->saved, "%s", run->out.path);
    end->stages = (int)json_array_size(run->stages);
    end->in_folder = write_result(run, run->json, &err) == 0;
    if (end->in_folder) return;
    if (end->exit_code == LB_EXIT_OK) end->exit_code = LB_EXIT_MACHINE;
    if (outdir_rescue(run->json, end->saved, sizeof end->saved, &again) == 0) {
        snprintf(end->why, sizeof end->why, "%s; the result was saved to %.200s instead", err.text,
                 end->saved);
    } else {
        end->saved[0] = '\0';
        snprintf(end->why, sizeof end->why, "the result could not be saved: %s; nor elsewhere: %s",
                 err.text, again.text);
    }
}

/* The first key that asks something of servers which only those that lockbench starts can do; NULL = none. */
static const char *asked_of_ours(const struct plan *plan) {
    if (plan->peer_distance.wired) return "servers.peer_rtt";
    if (*plan->program) return "servers.program";
    if (*plan->listen) return "servers.listen";
    return plan->min_replicas > 0 ? "servers.min_replicas" : NULL;
}

/* A run of an hour must not end without a backend for a slip of the pen, nor say "clean" of a fault that
 * could not act. */
static int check_urls(const struct run_ask *ask, const struct plan_stage *stages, int count,
                      struct lb_err *err) {
    for (int i = 0; i < count; i++) {
        const struct place_ask place = {.lock = stages[i].lock,
                                        .url = url_of_backend(ask, stages[i].lock->lock->backend),
                                        .topology = stages[i].topology,
                                        .topologies = ask->topologies};
        if (!place.url && place_check_acts(stages[i].plan, &place, err) != 0) return -1;
        if (!place.url) continue;
        if (place_check_url(&place, err) != 0) return -1;
        if (guest_check_prefix(stages[i].plan, stages[i].lock, err) != 0) return -1;
        struct lb_err why = {0};
        const char *ours = asked_of_ours(ask->plan);
        if (ours)
            return err_set(err, LB_EXIT_USAGE,
                           "%s: %s: the servers of %s are at --url, and not lockbench's",
                           stages[i].plan->name, ours, stages[i].lock->lock->backend->name);
        if (stages[i].distance.wired && place_wire_check_url(place.url, &why) != 0)
            return err_set(err, LB_EXIT_USAGE, "%s: servers.rtt: %s", stages[i].plan->name,
                           why.text);
        if (place_check_faults(stages[i].plan, place.url, &why) != 0)
            return err_set(err, LB_EXIT_USAGE,
                           "%s: %s is at --url, and %s: leave out --url, or choose a fault of "
                           "clients (pause, kill) or of their connections (wire-cut)",
                           stages[i].plan->name, stages[i].lock->lock->backend->name, why.text);
    }
    return 0;
}

/* Servers inherit this process's limit, and so it is raised before they start. */
static void raise_servers_limit(const struct plan_stage *stages, int count) {
    int most = 0;
    for (int i = 0; i < count; i++) most = stages[i].clients > most ? stages[i].clients : most;
    descriptors_raise(descriptors_of_servers(most));
}

int run_execute(const struct run_ask *ask, struct run_end *ret_end, struct lb_err *err) {
    struct run_state run = {.ask = ask,
                            .exposition = {.version = ask->version},
                            .guests = {.tell = ask->tell, .arg = ask->arg}};
    struct run_end end = {0};
    int count = 0, result = -1;
    struct plan_stage *stages = stages_new(ask->plan, &count);
    if (!stages) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    if (check_urls(ask, stages, count, err) != 0) goto out;
    if (judge_init(&run.judge, ask->plan, err) != 0) goto out;
    if (thresholds_init(&run.thresholds, ask->plan, err) != 0) goto out;
    result = begin_run(&run, err);
    if (result != 0) goto out;
    raise_servers_limit(stages, count);
    if (ask->next) {
        run_asked(&run);
    } else {
        count = keep_reachable(&run, stages, count);
        tell_expected(&run, stages, count);
        run_between_canaries(&run, stages, count);
    }
    guests_leave(&run.guests, run.warnings);
    conclude_run(&run, &end);
    save_result(&run, &end);
    *ret_end = end;
out:
    judge_done(&run.judge);
    thresholds_done(&run.thresholds);
    free(stages);
    json_decref(run.json);
    json_decref(run.stages);
    json_decref(run.servers);
    json_decref(run.skipped);
    json_decref(run.warnings);
    return result;
}
