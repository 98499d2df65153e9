/* run_stages: one stage of a run, from its ask to its line in the result. See run_state.h. */
#include <stdio.h>
#include <string.h>

#include "bench/base/process.h"
#include "bench/run/run_state.h"
#include "bench/stage/supervise.h"
#include "bench/workload/sections.h"
#include "results/format/write.h"

#define WARM_NS (200 * LB_MS_NS)   /* the window of a stage of round 0, at most, ... */
#define WARM_LONG_NS (3 * LB_S_NS) /* ... and where the topology says that it needs so long */

/* Whether the place can serve no more stages: the plan wants new servers for each stage; the server is lost, or an
 * injection changed it; or the place is in our own memory, where a client that a fault hit, or that is stuck, may have
 * left a lock held for ever. */
static bool is_spent(const struct place *place, const struct plan *plan,
                     const struct stage *stage) {
    bool whole = stage->status == STAGE_COMPLETE;
    if (place->topo && plan->fresh) return true;
    if (place->topo && stage->faults.servers_touched) return true;
    if (place->topo) return !whole && topo_check(place->topo, NULL) != 0;
    return place->dir[0] && (!whole || stage->faults.count > 0);
}

static void add_stage_result(struct run_state *run, const struct stage *stage) {
    struct lb_err err = {0};
    json_t *json = run_stage_json(&stage->result);
    if (json && json_array_append_new(run->stages, json) == 0) return;
    err_set(&err, LB_EXIT_MACHINE, "out of memory for a stage's result");
    run_note_trouble(run, &err);
}

/* A fault that never acted shows nothing of its lock, whatever the verdict says. */
static void warn_of_idle_fault(struct run_state *run, const struct plan *plan, const char *id,
                               const struct stage *stage) {
    struct lb_err err = {0};
    const char *why;
    int idle = fault_log_idle(&stage->faults, plan, &why);
    if (idle < 0 || stage->status != STAGE_COMPLETE) return;
    err_set(&err, LB_EXIT_MACHINE,
            "%s: the fault %s of [%s] never acted, so the lock was not put to it: %s", id,
            injections[plan->faults[idle].kind].name, fault_section_name(idle), why);
    run_note_warning(run, &err);
}

/* Requests that fail without a planned fault: whatever was granted beside them, the figures are of no working lock. Said
 * once in a run. */
static void warn_of_failures(struct run_state *run, const struct stage *stage) {
    const struct run_stage *result = &stage->result;
    double failed = result->refused + result->broken + result->unknown;
    struct lb_err err = {0};
    if (stage->status != STAGE_COMPLETE || stage->faults.count > 0 || run->mostly_failed) return;
    if (!(result->grants > 0) || !(failed > result->attempts / 2)) return;
    run->mostly_failed = true;
    err_set(&err, LB_EXIT_MACHINE, "%s: %.0f of %.0f requests failed%s%s", stage->ask->id, failed,
            result->attempts, stage->err.code ? ": " : "", stage->err.text);
    run_note_warning(run, &err);
}

/* Fills in all that a stage is asked for, except its name and files. */
static struct stage_ask stage_ask_of(struct run_state *run, struct place *place,
                                     const struct plan_stage *of) {
    const struct thresholds *promises = &run->thresholds;
    bool closed = of->plan->arrival.kind == ARRIVAL_CLOSED;
    struct stage_promise promise = {.limit_ns = 0};
    if (of->plan->stops && !run->ask->peers)
        slo_of_waits(promises->threshold, promises->count, closed, &promise);
    return (struct stage_ask){.of = *of,
                              .place = place,
                              .peers = run->ask->peers,
                              .promise = promise,
                              .enough = promise.limit_ns > 0 ? thresholds_are_hopeless : NULL,
                              .version = run->ask->version,
                              .interrupts = run->ask->interrupts};
}

/* Sets the line that is printed if this process crashes in a call of the driver (process.h). */
static void expect_crash(const struct run_state *run, const struct stage_ask *ask) {
    char what[200], after[800];
    snprintf(what, sizeof what, "%s: stage %s", ask->of.lock->lock->name, ask->id);
    snprintf(after, sizeof after, "What was saved before is in %.700s.", run->out.path);
    crash_expect(what, after);
}

static void note_round(struct round *round, const struct stage *stage) {
    double stood_ns = stage->result.stood_still_ns;
    round->window_ns += (double)stage->window_ns;
    round->stood_ns += stood_ns > 0 ? stood_ns : 0;
    round->stolen_ns += stage->stolen_ns > 0 ? (double)stage->stolen_ns : 0;
}

static int64_t warm_window_ns(const struct place *place, int64_t window_ns) {
    int64_t wanted_ns = place->topo ? topo_about(place->topo)->warm_s * LB_S_NS : 0;
    if (place->warmed_ns < wanted_ns) return WARM_LONG_NS;
    return window_ns < WARM_NS ? window_ns : WARM_NS;
}

bool run_stage(struct run_state *run, struct place *place, const struct plan_stage *of) {
    char hlog[700], name[96], line[300];
    bool warms = run->paired && of->repeat == 0;
    struct stage_ask stage_ask = stage_ask_of(run, place, of);
    if (warms) place->warmed_ns += stage_ask.of.window_ns = warm_window_ns(place, of->window_ns);
    stage_ask.hlog_path = hlog;
    snprintf(stage_ask.id, sizeof stage_ask.id, "%03d-%.90s", run->number++,
             stage_name(of, name, sizeof name));
    snprintf(hlog, sizeof hlog, "%s/%s.hlog", run->out.path, stage_ask.id);
    struct lb_err err = {0};
    expect_crash(run, &stage_ask);
    struct stage *stage = stage_run(&stage_ask, &err);
    if (stage) stage_conclude(stage);
    crash_expect(NULL, NULL);
    if (!stage) {
        run_note_trouble(run, &err);
        return false;
    }
    run->ask->news(
        run->ask->arg,
        &(struct run_news){.stage = stage, .number = run->number, .count = run->stages_planned});
    if (conclusion_add_stage(&run->conclusion, stage, of, line, sizeof line)) run_say(run, line);
    stage->result.again = of->again;
    if (warms) stage->result.aside = "the first round warms the servers";
    if (run->round) note_round(&run->round[of->repeat], stage);
    if (!warms && !of->again) thresholds_take(&run->thresholds, stage);
    add_stage_result(run, stage);
    if (stage->err.code && !run->failed[0])
        snprintf(run->failed, sizeof run->failed, "%s: %s", of->lock->lock->name, stage->err.text);
    if (stage->status != STAGE_COMPLETE) {
        err.code = 0;
        err_set(&err, stage->err.code, "%s: %s", stage_ask.id, stage->err.text);
        run_note_trouble(run, &err);
    }
    if (stage->log_err.code) run_note_warning(run, &stage->log_err);
    warn_of_idle_fault(run, of->plan, stage_ask.id, stage);
    warn_of_failures(run, stage);
    const struct lb_err *unsure = stage->hung ? &stage->err : &stage->tidy_err;
    guests_note(&run->guests, of->lock->lock->backend, unsure->code ? unsure->text : NULL,
                stage->keeps_named);
    bool spent = is_spent(place, of->plan, stage);
    place->in_use |= stage->hung;
    stage_free(stage);
    run_write_so_far(run);
    return !spent;
}
