/* run_execute: a whole run, from its plan to its saved result. See run.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load/shared.h"
#include "bench/run/run.h"
#include "bench/run/run_state.h"
#include "bench/stage/machine.h"
#include "bench/stage/peers.h"
#include "bench/stage/stage.h"
#include "bench/workload/stages.h"
#include "results/format/write.h"

/* ---- what a run writes into run.json besides its stages: how it begins, what it notes on the way, and how it ends and is
 * saved ---- */

#define WRITE_EVERY_NS (2 * LB_S_NS) /* run.json grows: not after every short stage */

void run_say(const struct run_state *run, const char *text) {
    run->ask->say(run->ask->arg, text);
}

/* Whether an earlier stage met the same trouble. */
static bool is_noted(const struct run_state *run, const char *text) {
    const char *first = json_string_value(json_object_get(run->json, "partial_reason"));
    size_t i;
    json_t *warning;
    if (first && strcmp(first, text) == 0) return true;
    json_array_foreach(run->warnings, i, warning) {
        if (strcmp(json_string_value(warning), text) == 0) return true;
    }
    return false;
}

void run_note_warning(struct run_state *run, const struct lb_err *err) {
    if (is_noted(run, err->text)) return;
    run_say(run, err->text);
    err_pass(&run->err, err);
    json_array_append_new(run->warnings, json_string(err->text));
}

void run_note_trouble(struct run_state *run, const struct lb_err *err) {
    json_object_set_new(run->json, "partial", json_true());
    if (!json_is_null(json_object_get(run->json, "partial_reason"))) {
        if (err->code != LB_EXIT_INTERRUPTED) run_note_warning(run, err);
        return;
    }
    json_object_set_new(run->json, "partial_reason", json_string(err->text));
    err_pass(&run->err, err);
    /* Ctrl-C needs no message now; the end of the run reports it. */
    if (err->code != LB_EXIT_INTERRUPTED) run_say(run, err->text);
}

/* The names of the checks of an environment that may spoil figures, separated by commas, those that are in text already
 * not again. */
static void add_advised(const json_t *environment, char *text, size_t size) {
    const json_t *advice = json_object_get(environment, "advice"), *sentence;
    char name[100];
    size_t i;
    json_array_foreach(advice, i, sentence) {
        const char *words = json_string_value(sentence);
        size_t used = strlen(text);
        if (!words) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(words, ":"), words);
        if (!*name || strstr(text, name)) continue;
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
    }
}

/* Says in one line which checks of the run's machines found something; their .environment.advice has the rest. */
static void warn_of_machines(const struct run_state *run) {
    const json_t *host;
    char names[300] = "";
    size_t i;
    add_advised(json_object_get(run->json, "environment"), names, sizeof names);
    json_array_foreach(json_object_get(run->json, "hosts"), i, host) {
        add_advised(json_object_get(host, "environment"), names, sizeof names);
    }
    if (*names)
        json_array_append_new(
            run->warnings,
            json_sprintf(
                "the machine may blur the figures (%s): `lockbench doctor` on it says how, "
                "and what to do about it",
                names));
}

/* Makes the folder, and a run.json without stages in it. 0, or -1 with err. */
static int run_begin_result(struct run_state *run, struct lb_err *err) {
    const struct run_ask *ask = run->ask;
    if (outdir_make(&run->out, ask->out, ask->results, ask->plan->name, err) != 0) return -1;
    run->stages = json_array();
    run->servers = json_array();
    run->warnings = ask->plan->warnings ? json_deep_copy(ask->plan->warnings) : json_array();
    run->skipped = ask->plan->skipped ? json_deep_copy(ask->plan->skipped) : json_array();
    /* The result is marked as partial until the end, so that it is right after a SIGKILL. */
    run->json = json_pack(
        "{s:s, s:{s:s, s:s}, s:s, s:o, s:n, s:b, s:s, s:b, s:n, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:[]}",
        "schema", RUN_SCHEMA, "tool", "name", "lockbench", "version", ask->version, "command",
        ask->command, "started_at", result_now_json(), "ended_at", "partial", 1, "partial_reason",
        "the run was cut off", "paired", 0, "verdict", "plan", plan_json(ask->plan), "environment",
        environment_json(), "hosts", ask->peers ? ask->peers->machines(ask->peers) : json_array(),
        "servers", run->servers, "skipped", run->skipped, "warnings", run->warnings, "stages",
        run->stages, "slo");
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
    if (run->conclusion.granted) outdir_latest(&run->out);
    return 0;
}

void run_write_so_far(struct run_state *run) {
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

/* The promises count where nothing worse was found. */
static void conclude_promises(struct run_state *run, struct run_end *end) {
    json_t *json = thresholds_json(&run->thresholds);
    struct lb_err err = {0};
    char why[sizeof end->why];
    int code = thresholds_exit(&run->thresholds, why, sizeof why);
    if (!json) {
        err_set(&err, LB_EXIT_MACHINE, "out of memory for the promises");
        run_note_trouble(run, &err);
        return;
    }
    json_object_set_new(run->json, "slo", json);
    if (end->exit_code != LB_EXIT_OK || code == LB_EXIT_OK) return;
    end->exit_code = code;
    end->said = false;
    snprintf(end->why, sizeof end->why, "%s", why);
}

/* The reason for the exit code of a verdict, in one line. */
static void write_why(const struct run_state *run, enum verdict verdict, char *text, size_t size) {
    static const char *const whys[VERDICTS] = {
        [VERDICT_STARVED] =
            "clients of a lock waited for the whole window, or until the drain limit (run.drain) ended their waits",
        [VERDICT_STUCK] = "a lock got stuck: keys that are free but that no client gets any more",
    };
    if (verdict == VERDICT_NOTHING_GRANTED) {
        static const char overload[] = "requests could not be started, since earlier ones still "
                                       "waited: the rate is too high (load.arrival)";
        static const char other[] = "no request failed, so see .stages[].outcomes of run.json";
        snprintf(text, size, VERDICT_NOTHING_GRANTED_WORDS ": %s",
                 run->conclusion.held         ? "somebody else holds the key"
                 : run->failed[0]             ? run->failed
                 : run->conclusion.missed > 0 ? overload
                                              : other);
    } else if (verdict == VERDICT_CONTROL_MISSED) {
        snprintf(text, size,
                 "%s, a lock broken on purpose, was not caught: do not trust this run's checks",
                 conclusion_missed_control(&run->conclusion));
    } else {
        snprintf(text, size, "%s",
                 verdict == VERDICT_VIOLATED  ? run->conclusion.violated
                 : verdict == VERDICT_EXPIRED ? run->conclusion.expired
                                              : whys[verdict]);
    }
}

/* Settles verdict, exit code and the reason for it, when all stages have ended. */
static void run_conclude(struct run_state *run, struct run_end *end) {
    enum verdict verdict = conclusion_verdict(&run->conclusion);
    if (*run->ask->interrupts > 0) {
        struct lb_err err = {0};
        err_set(&err, LB_EXIT_INTERRUPTED, "interrupted");
        run_note_trouble(run, &err);
    }
    json_object_set_new(run->json, "verdict", json_string(verdict_name(verdict)));
    json_object_set_new(run->json, "ended_at", result_now_json());
    /* The last of the warnings: those of the run itself come first. */
    warn_of_machines(run);
    end->exit_code = run->err.code;
    snprintf(end->why, sizeof end->why, "%s", run->err.text);
    end->said = true;
    if (*run->ask->interrupts > 0) {
        end->exit_code = LB_EXIT_INTERRUPTED;
        end->said = false;
        snprintf(end->why, sizeof end->why, "interrupted: what was measured until then is saved");
    }
    /* A run that measured nothing for a reason that is known already has that reason's code. */
    if (verdict_exit(verdict) && !(verdict == VERDICT_NOTHING_GRANTED && end->exit_code)) {
        end->exit_code = verdict_exit(verdict);
        end->said = false;
        write_why(run, verdict, end->why, sizeof end->why);
    }
    conclude_promises(run, end);
}

/* Writes the result for the last time; to another place if the intended one can't be written. */
static void run_save(struct run_state *run, struct run_end *end) {
    struct lb_err err = {0}, again = {0};
    snprintf(end->saved, sizeof end->saved, "%s", run->out.path);
    end->stages = (int)json_array_size(run->stages);
    end->in_folder = write_result(run, run->json, &err) == 0;
    if (end->in_folder) return;
    if (end->exit_code == LB_EXIT_OK) end->exit_code = LB_EXIT_MACHINE;
    end->said = false;
    if (outdir_rescue(run->json, "run", end->saved, sizeof end->saved, &again) == 0) {
        snprintf(end->why, sizeof end->why, "%s; the result was saved to %.200s instead", err.text,
                 end->saved);
    } else {
        end->saved[0] = '\0';
        end->unsaved = json_incref(run->json);
        snprintf(end->why, sizeof end->why, "the result could not be saved: %s; nor elsewhere: %s",
                 err.text, again.text);
    }
}

/* ---- the run ---- */

/* Whether an earlier stage differs in nothing that is checked here, as its repetitions do: to ask what a topology's script
 * offers takes a process each time. */
static bool is_checked(const struct plan_stage *stages, int at) {
    const struct plan_stage *stage = &stages[at];
    for (int i = at - 1; i >= 0; i--) {
        if (stages[i].plan == stage->plan && stages[i].lock == stage->lock &&
            stages[i].topology == stage->topology &&
            stages[i].distance.wired == stage->distance.wired)
            return true;
    }
    return false;
}

/* A mistake in a URL must not cost a run of an hour one of its backends, and a stage with a fault that could not act
 * must not come out as "clean". So URLs and faults are checked first. */
static int check_urls(const struct run_ask *ask, const struct plan_stage *stages, int count,
                      struct lb_err *err) {
    for (int i = 0; i < count; i++) {
        if (is_checked(stages, i)) continue;
        const struct place_ask place = run_place_ask(ask, &stages[i]);
        if (ask->peers && ask->peers->check_reach(ask->peers, &stages[i], place.url, err) != 0)
            return -1;
        if (!place.url && (place_check_own(&place, err) != 0 ||
                           place_check_acts(stages[i].plan, &place, err) != 0))
            return -1;
        if (!place.url) continue;
        if (place_check_url(&place, err) != 0) return -1;
        if (guest_check_prefix(stages[i].plan, stages[i].lock, err) != 0) return -1;
        struct lb_err why = {0};
        const char *ours = *ask->plan->program  ? "servers.program"
                           : *ask->plan->listen ? "servers.listen"
                                                : NULL;
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

static void tell_line(void *arg, const char *line) {
    const struct run_state *run = arg;
    run->ask->news(run->ask->arg, &(struct run_news){.line = line});
}

int run_execute(const struct run_ask *ask, struct run_end *ret_end, struct lb_err *err) {
    struct run_state run = {.ask = ask, .guests = {.tell = tell_line, .arg = &run}};
    struct run_end end = {0};
    int count = 0, clients = 0, result = -1;
    struct plan_stage *stages = stages_new(ask->plan, STAGES_BY_PLACE, &count);
    if (!stages) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (check_urls(ask, stages, count, err) != 0) goto out;
    if (conclusion_init(&run.conclusion, ask->plan, err) != 0) goto out;
    if (thresholds_init(&run.thresholds, ask->plan, err) != 0) goto out;
    if (run_begin_result(&run, err) != 0) goto out;
    /* Servers inherit this process's limit. */
    for (int i = 0; i < count; i++)
        clients = stages[i].clients > clients ? stages[i].clients : clients;
    descriptors_for_servers(clients);
    result = run_all_places(&run, err);
    if (result != 0) goto out;
    guests_leave(&run.guests, run.warnings);
    run_conclude(&run, &end);
    run_save(&run, &end);
    *ret_end = end;
out:
    conclusion_done(&run.conclusion);
    thresholds_done(&run.thresholds);
    free(stages);
    json_decref(run.json);
    return result;
}

struct run *planned_run(const struct plan *plan, struct lb_err *err) {
    int count = 0;
    struct plan_stage *stages = stages_new(plan, STAGES_BY_PLACE, &count);
    struct run *run = calloc(1, sizeof *run);
    bool failed = !stages || !run;
    if (!failed) {
        run->root = json_array();
        run->stages = calloc((size_t)count + 1, sizeof *run->stages);
        failed = !run->root || !run->stages;
    }
    for (int i = 0; i < count && !failed; i++) {
        struct run_stage *stage = &run->stages[run->stage_count++];
        stage_describe_planned(stage, &stages[i]);
        /* The run's root owns everything that its stages borrow. */
        failed = !stage->kept || json_array_append_new(run->root, stage->kept) != 0;
        stage->kept = NULL;
    }
    free(stages);
    if (!failed) return run;
    run_free(run);
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    return NULL;
}
