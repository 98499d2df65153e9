/* log: see log.h. */
#include "bench/faults/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/faults/faults.h"
#include "bench/workload/faults.h"

void fault_log_done(struct fault_log *log) {
    free(log->events);
    *log = (struct fault_log){0};
}

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
        int64_t begin_ns = faults->log->events[event].begin_ns;
        *act = (struct fault_act){.plan = plan,
                                  .event = event,
                                  .until_ns = plan->for_ns > 0 ? lb_after(begin_ns, plan->for_ns)
                                                               : LB_NEVER,
                                  .process = -1,
                                  .node = -1};
        return act;
    }
    return NULL;
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

static json_t *number(int64_t value) {
    return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static json_t *event_json(const struct fault_event *fault, int64_t window_begin_ns) {
    double from_s = (double)(fault->begin_ns - window_begin_ns) / 1e9;
    double to_s = (double)(fault->end_ns - window_begin_ns) / 1e9;
    char section[16];
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:f, s:o, s:b, s:s}", "kind",
                     injection_name(fault->kind), "section",
                     fault_section_text(fault->section, section, sizeof section), "target",
                     fault->target, "process", number(fault->process), "client",
                     number(fault->client), "node", number(fault->node), "key", number(fault->key),
                     "from_s", from_s, "to_s", fault->end_ns ? json_real(to_s) : json_null(),
                     "acted", fault->acted, "sign", fault->sign);
}

json_t *fault_log_json(const struct fault_log *log, int64_t window_begin_ns) {
    json_t *json = json_array();
    for (int i = 0; i < log->count; i++) {
        json_array_append_new(json, event_json(&log->events[i], window_begin_ns));
    }
    return json;
}
