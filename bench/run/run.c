/* run: see run.h. */
#include "bench/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/plan/keys.h"
#include "bench/run/environment.h"
#include "bench/run/outdir.h"

#define WRITE_EVERY_NS (2 * LB_S_NS) /* run.json grows: not after every short stage */

struct run {
    const struct run_ask *ask;
    struct outdir out;
    json_t *json, *stages, *servers, *warnings;
    int64_t written_ns;
    int number; /* of the next stage */
    uint64_t grants;
    bool violated, control_missed;
    struct lb_err err; /* the first thing that went wrong */
};

static json_t *date_json(void) {
    char text[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return json_string(text);
}

static void say(const struct run *run, const char *text) {
    run->ask->say(run->ask->arg, text);
}

/* Worth a word and an exit code, but nothing is missing from the figures. */
static void warn(struct run *run, const struct lb_err *err) {
    say(run, err->text);
    err_set(&run->err, err->code, "%s", err->text);
    json_array_append_new(run->warnings, json_string(err->text));
}

/* Something is missing from the result; the run goes on. */
static void trouble(struct run *run, const struct lb_err *err) {
    json_object_set_new(run->json, "partial", json_true());
    if (!json_is_null(json_object_get(run->json, "partial_reason"))) {
        if (err->code != LB_EXIT_INTERRUPTED) warn(run, err);
        return;
    }
    json_object_set_new(run->json, "partial_reason", json_string(err->text));
    err_set(&run->err, err->code, "%s", err->text);
    /* Whoever pressed Ctrl-C knows; the end says what became of it. */
    if (err->code != LB_EXIT_INTERRUPTED) say(run, err->text);
}

static int begin(struct run *run, struct lb_err *err) {
    const struct run_ask *ask = run->ask;
    if (outdir_make(&run->out, ask->out, ask->results, ask->plan->name, err) != 0) return -1;
    run->stages = json_array();
    run->servers = json_array();
    run->warnings = ask->plan->warnings ? json_deep_copy(ask->plan->warnings) : json_array();
    json_t *skipped = ask->plan->skipped ? json_deep_copy(ask->plan->skipped) : json_array();
    /* Until the end it is partial: a reader after a SIGKILL must see that. */
    run->json = json_pack("{s:s, s:{s:s, s:s}, s:s, s:o, s:n, s:b, s:s, s:n, s:o, s:o, s:O, s:o, s:O, s:O}",
                          "schema", "lockbench.run/1", "tool", "name", "lockbench", "version", ask->version,
                          "command", ask->command, "started_at", date_json(), "ended_at", "partial", 1,
                          "partial_reason", "the run was cut off", "verdict", "plan", plan_json(ask->plan),
                          "environment", environment_json(), "servers", run->servers, "skipped", skipped,
                          "warnings", run->warnings, "stages", run->stages);
    if (!run->json) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (outdir_write(&run->out, run->json, err) != 0) return -1;
    json_object_set_new(run->json, "partial_reason", json_null());
    json_object_set_new(run->json, "partial", json_false());
    return 0;
}

/* What is there so far, marked as cut off in case that it stays so. */
static void write_so_far(struct run *run) {
    if (lb_now() - run->written_ns < WRITE_EVERY_NS) return;
    json_t *copy = json_copy(run->json);
    json_object_set_new(copy, "partial", json_true());
    if (json_is_null(json_object_get(copy, "partial_reason"))) {
        json_object_set_new(copy, "partial_reason", json_string("the run was cut off"));
    }
    struct lb_err ignored = {0}; /* the end tries again, and elsewhere if need be */
    outdir_write(&run->out, copy, &ignored);
    json_decref(copy);
    run->written_ns = lb_now();
}

/* Must a control be caught in this stage? Two clients must be able to meet on a key. */
static bool can_meet(const struct plan *plan, int clients) {
    if (clients < 2 || plan->keys.pick == KEYS_OWN) return false;
    return plan->keys.pick == KEYS_ZIPF || keys_count(&plan->keys, clients) <= (uint32_t)clients * 16;
}

static void judge(struct run *run, const struct stage *stage, const struct stage_ask *ask) {
    const struct lb_lock *lock = ask->lock->lock;
    bool broken = stage->exclusion.verdict == VERDICT_VIOLATED || stage->exclusion.verdict == VERDICT_EXPIRED;
    bool control = (lock->caps & LB_CAP_CONTROL) && !ask->lock->chosen;
    run->grants += stage->exclusion.grants;
    if (lock->caps & LB_CAP_BASELINE) return;
    if (broken && !control) {
        run->violated = true;
        char line[200];
        snprintf(line, sizeof line,
                 "EXCLUSION VIOLATED by %s: %llu lost updates, %llu double holders, %llu expired "
                 "holders in %llu grants",
                 lock->name, (unsigned long long)stage->exclusion.lost_updates,
                 (unsigned long long)stage->exclusion.double_holders,
                 (unsigned long long)stage->exclusion.expired_holders,
                 (unsigned long long)stage->exclusion.grants);
        say(run, line);
    }
    if (control && !broken && stage->status == STAGE_COMPLETE && stage->exclusion.grants > 0 &&
        can_meet(ask->plan, stage->clients)) {
        run->control_missed = true;
    }
}

static void say_stage(struct run *run, const struct stage *stage, const struct stage_ask *ask) {
    char line[300];
    const struct hist *acquire = stage->hist[METRIC_ACQUIRE];
    double rate = stage->window_ns ? (double)stage->outcomes[LB_OK] * 1e9 / (double)stage->window_ns : 0;
    snprintf(line, sizeof line, "%-32s %10.0f/s  acquire p50 %9.1f us  p99 %10.1f us%s", ask->id, rate,
             (double)hist_quantile(acquire, 0.5) / 1e3, (double)hist_quantile(acquire, 0.99) / 1e3,
             stage->status == STAGE_COMPLETE  ? ""
             : stage->status == STAGE_PARTIAL ? "  PARTIAL"
                                              : "  FAILED");
    run->ask->done(run->ask->arg, line);
}

/* Whether the place serves no more stages: its server is lost, or it lives in our own memory and a killed or
 * stuck client may have left a lock held there for ever. */
static bool is_spent(const struct place *place, const struct stage *stage) {
    if (stage->status == STAGE_COMPLETE) return false;
    if (place->topo) return topo_check(place->topo, NULL) != 0;
    return place->dir[0] != '\0';
}

/* Runs one stage and adds it to the result. False when the backend's other stages need a new place. */
static bool run_stage(struct run *run, struct place *place, const struct plan_lock *lock, int clients,
                      int repeat) {
    const struct run_ask *ask = run->ask;
    char hlog[700];
    struct stage_ask stage_ask = {.plan = ask->plan,
                                  .lock = lock,
                                  .server = &place->server,
                                  .topo = place->topo,
                                  .clients = clients,
                                  .repeat = repeat,
                                  .hlog_path = hlog,
                                  .version = ask->version,
                                  .seed = ask->plan->seed + (uint64_t)repeat,
                                  .interrupts = ask->interrupts,
                                  .news = ask->news,
                                  .news_arg = ask->arg};
    snprintf(stage_ask.id, sizeof stage_ask.id, "%03d-%s-c%d-r%d", run->number++, lock->lock->name, clients,
             repeat);
    snprintf(hlog, sizeof hlog, "%s/%s.hlog", run->out.path, stage_ask.id);
    struct lb_err err = {0};
    struct stage *stage = stage_run(&stage_ask, &err);
    if (!stage) {
        trouble(run, &err);
        return false;
    }
    say_stage(run, stage, &stage_ask);
    judge(run, stage, &stage_ask);
    json_t *json = stage_json(stage, &stage_ask, place->topology, place->durability, &err);
    if (!json || json_array_append_new(run->stages, json) != 0) trouble(run, &err);
    if (stage->status != STAGE_COMPLETE) {
        err.code = 0;
        err_set(&err, stage->err.code, "%s: %s", stage_ask.id, stage->err.text);
        trouble(run, &err);
    }
    if (stage->log_err.code) warn(run, &stage->log_err);
    bool spent = is_spent(place, stage);
    place->in_use |= stage->stuck;
    stage_free(stage);
    write_so_far(run);
    return !spent;
}

static const char *url_of(const struct run_ask *ask, const struct lb_backend *backend) {
    for (int i = 0; i < ask->url_count; i++) {
        if (ask->urls[i].backend == backend) return ask->urls[i].url;
    }
    return NULL;
}

static struct place *open_place(struct run *run, const struct plan_lock *lock) {
    const struct run_ask *ask = run->ask;
    struct place_ask place_ask = {.lock = lock,
                                  .url = url_of(ask, lock->lock->backend),
                                  .topologies = ask->topologies,
                                  .durability = ask->plan->durability,
                                  .interrupts = ask->interrupts};
    struct lb_err err = {0};
    struct place *place = place_open(&place_ask, &err);
    if (!place) {
        trouble(run, &err);
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

/* All stages of one backend. Repeats are the outer loop, so that a machine that slows down slows all locks.
 */
static void run_backend(struct run *run, const struct lb_backend *backend, const struct plan_lock *any) {
    const struct plan *plan = run->ask->plan;
    struct place *place = open_place(run, any);
    for (int repeat = 0; repeat < plan->repeat && place; repeat++) {
        for (int i = 0; i < plan->lock_count && place; i++) {
            if (plan->locks[i].lock->backend != backend) continue;
            for (int c = 0; c < plan->clients_count && place; c++) {
                if (*run->ask->interrupts > 0) goto out;
                if (!run_stage(run, place, &plan->locks[i], plan->clients[c], repeat)) {
                    /* The rest gets a new one. */
                    place_close(place);
                    place = *run->ask->interrupts > 0 ? NULL : open_place(run, any);
                }
            }
        }
    }
out:
    place_close(place);
}

static void conclude(struct run *run, struct run_end *end) {
    const char *verdict = run->violated         ? "violated"
                          : run->control_missed ? "control-missed"
                          : run->grants == 0    ? "nothing-granted"
                                                : "clean";
    if (*run->ask->interrupts > 0) {
        struct lb_err err = {0};
        err_set(&err, LB_EXIT_INTERRUPTED, "interrupted");
        trouble(run, &err);
    }
    snprintf(end->verdict, sizeof end->verdict, "%s", verdict);
    json_object_set_new(run->json, "verdict", json_string(verdict));
    json_object_set_new(run->json, "ended_at", date_json());
    end->exit_code = run->err.code;
    snprintf(end->why, sizeof end->why, "%s", run->err.text);
    if (*run->ask->interrupts > 0) {
        end->exit_code = LB_EXIT_INTERRUPTED;
        snprintf(end->why, sizeof end->why, "interrupted: what was measured until then is saved");
    }
    if (run->grants == 0 && !end->exit_code) {
        end->exit_code = LB_EXIT_MACHINE;
        snprintf(end->why, sizeof end->why, "no lock was ever granted: see the outcomes in the report");
    }
    if (run->control_missed) {
        end->exit_code = LB_EXIT_MACHINE;
        snprintf(end->why, sizeof end->why,
                 "a lock broken on purpose was not caught: do not trust this run's checks");
    }
    if (run->violated) {
        end->exit_code = LB_EXIT_VIOLATED;
        snprintf(end->why, sizeof end->why, "mutual exclusion was violated");
    }
}

/* The last writing; elsewhere if it can't be where it should. */
static void save(struct run *run, struct run_end *end) {
    struct lb_err err = {0}, again = {0};
    snprintf(end->saved, sizeof end->saved, "%s", run->out.path);
    end->stages = (int)json_array_size(run->stages);
    if (outdir_write(&run->out, run->json, &err) == 0) return;
    if (end->exit_code == LB_EXIT_OK) end->exit_code = LB_EXIT_MACHINE;
    if (outdir_rescue(run->json, end->saved, sizeof end->saved, &again) == 0) {
        snprintf(end->why, sizeof end->why, "%s; the result was saved to %.200s instead", err.text,
                 end->saved);
    } else {
        end->saved[0] = '\0';
        snprintf(end->why, sizeof end->why, "the result could not be saved: %s; nor elsewhere: %s", err.text,
                 again.text);
    }
}

int run_execute(const struct run_ask *ask, struct run_end *ret_end, struct lb_err *err) {
    struct run run = {.ask = ask};
    struct run_end end = {0};
    const struct plan *plan = ask->plan;
    int result = begin(&run, err);
    if (result != 0) goto out;
    for (int i = 0; i < plan->lock_count && *ask->interrupts == 0; i++) {
        const struct lb_backend *backend = plan->locks[i].lock->backend;
        bool seen = false;
        for (int j = 0; j < i; j++) seen |= plan->locks[j].lock->backend == backend;
        if (!seen) run_backend(&run, backend, &plan->locks[i]);
    }
    conclude(&run, &end);
    save(&run, &end);
    *ret_end = end;
out:
    json_decref(run.json);
    json_decref(run.stages);
    json_decref(run.servers);
    json_decref(run.warnings);
    return result;
}
