/* log: the log of injections; see kinds.h. */
#include "bench/faults/kinds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/workload/faults.h"

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
