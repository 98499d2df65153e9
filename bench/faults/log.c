/* log: the log of injections; see kinds.h. */
#include "bench/faults/kinds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/workload/sections.h"

struct fault_event *fault_log_add(struct faults *faults, const struct fault_section *section,
                                  int64_t begin_ns) {
    struct fault_log *log = faults->log;
    struct fault_event *grown =
        realloc(log->events, (size_t)(log->count + 1) * sizeof *log->events);
    if (!grown) return NULL;
    log->events = grown;
    struct fault_event *event = &log->events[log->count++];
    *event = (struct fault_event){.kind = section->plan->kind,
                                  .section = (int)(section - faults->sections),
                                  .process = -1,
                                  .client = -1,
                                  .node = -1,
                                  .key = -1,
                                  .held = -1,
                                  .outlasted = -1,
                                  .tested = -1,
                                  .injection = section->injections,
                                  .begin_ns = begin_ns};
    fault_target_text(section->plan, event->target, sizeof event->target);
    return event;
}

struct fault_act *fault_log_lasting(struct faults *faults, const struct fault_section *section) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        struct fault_act *act = &faults->acts[i];
        if (act->plan) continue;
        const struct plan_fault *plan = section->plan;
        int event = faults->log->count - 1;
        const struct fault_event *newest = &faults->log->events[event];
        *act = (struct fault_act){
            .plan = plan,
            .event = event,
            .until_ns = plan->for_ns > 0 ? lb_after(newest->begin_ns, plan->for_ns) : LB_NEVER,
            .process = -1,
            .node = newest->node};
        return act;
    }
    return NULL;
}

struct fault_act *fault_log_begin(struct faults *faults, const struct fault_section *section,
                                  int64_t begin_ns, const struct fault_victim *victim) {
    struct fault_event *fault = fault_log_add(faults, section, begin_ns);
    struct fault_act *act = fault ? fault_log_lasting(faults, section) : NULL;
    if (fault) fault_log_victim(fault, victim);
    if (fault && !act) fault_log_sign(fault, false, "too many faults at one time");
    if (!act) return NULL;
    act->process = victim->process;
    act->first_client = victim->first;
    act->client_count = victim->end - victim->first;
    return act;
}

struct fault_event *fault_log_of(const struct faults *faults, const struct fault_act *act) {
    return &faults->log->events[act->event];
}

void fault_log_sign(struct fault_event *fault, bool acted, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault->sign, sizeof fault->sign, format, args);
    va_end(args);
    fault->acted = acted;
}

void fault_log_not(struct faults *faults, const struct fault_section *section, const char *format,
                   ...) {
    struct fault_event *fault = fault_log_add(faults, section, lb_now());
    if (!fault) return;
    va_list args;
    va_start(args, format);
    vsnprintf(fault->sign, sizeof fault->sign, format, args);
    va_end(args);
    fault->end_ns = fault->begin_ns;
}

bool fault_ends_silent(const struct faults *faults) {
    const struct lb_lock *lock = faults->shared->lock->lock;
    return (lock->caps & LB_CAP_SESSION) && lock->about.crash != LB_CRASH_AT_ONCE;
}

void fault_oplog(struct faults *faults, enum oplog_kind kind, uint32_t first, uint32_t count,
                 int64_t from_ns, int64_t to_ns) {
    struct oplog *history = faults->shared->oplog;
    if (history) oplog_mishap(history, kind, first, count, from_ns, to_ns);
}

void fault_act_oplog(struct faults *faults, enum oplog_kind kind, const struct fault_act *act) {
    const struct fault_event *fault = fault_log_of(faults, act);
    if (kind == OPLOG_CUT && !act->cut_open) return;
    fault_oplog(faults, kind, act->first_client, act->client_count, fault->begin_ns,
                fault->end_ns ? fault->end_ns : LB_NEVER);
}

void fault_log_done(struct fault_log *log) {
    free(log->events);
    *log = (struct fault_log){0};
}

/* Whether anything of a section acted. */
static bool has_acted(const struct fault_log *log, int section, const char **ret_why) {
    *ret_why = "its time did not come in the window";
    for (int i = 0; i < log->count; i++) {
        if (log->events[i].section != section) continue;
        if (log->events[i].acted) return true;
        *ret_why = log->events[i].sign;
    }
    return false;
}

int fault_log_idle(const struct fault_log *log, const struct plan *plan, const char **ret_why) {
    const char *why;
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (plan->faults[i].kind == INJECT_NONE || has_acted(log, i, &why)) continue;
        *ret_why = why;
        return i;
    }
    return -1;
}

static json_t *number_json(int64_t value) {
    return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static json_t *event_json(const struct fault_event *fault, int64_t window_begin_ns) {
    double from_s = (double)(fault->begin_ns - window_begin_ns) / 1e9;
    double to_s = (double)(fault->end_ns - window_begin_ns) / 1e9;
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:b, s:s}",
                     "kind", injections[fault->kind].name, "section",
                     fault_section_name(fault->section), "target", fault->target, "injection",
                     fault->injection + 1, "process", number_json(fault->process), "client",
                     number_json(fault->client), "node", number_json(fault->node), "key",
                     number_json(fault->key), "held", number_json(fault->held), "outlasted",
                     number_json(fault->outlasted), "tested", number_json(fault->tested), "from_s",
                     from_s, "to_s", fault->end_ns ? json_real(to_s) : json_null(), "acted",
                     fault->acted, "sign", fault->sign);
}

json_t *fault_log_json(const struct fault_log *log, int64_t window_begin_ns) {
    json_t *json = json_array();
    for (int i = 0; i < log->count; i++) {
        json_array_append_new(json, event_json(&log->events[i], window_begin_ns));
    }
    return json;
}
