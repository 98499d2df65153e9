/* events: see events.h. */
#include "bench/faults/events.h"

#include <stdlib.h>

#include "bench/workload/faults.h"

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
    char section[16];
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:b, s:s}",
                     "kind", injection_name(fault->kind), "section",
                     fault_section_text(fault->section, section, sizeof section), "target",
                     fault->target, "injection", fault->injection + 1, "process",
                     number_json(fault->process), "client", number_json(fault->client), "node",
                     number_json(fault->node), "key", number_json(fault->key), "held",
                     number_json(fault->held), "outlasted", number_json(fault->outlasted), "tested",
                     number_json(fault->tested), "from_s", from_s, "to_s",
                     fault->end_ns ? json_real(to_s) : json_null(), "acted", fault->acted, "sign",
                     fault->sign);
}

json_t *fault_log_json(const struct fault_log *log, int64_t window_begin_ns) {
    json_t *json = json_array();
    for (int i = 0; i < log->count; i++) {
        json_array_append_new(json, event_json(&log->events[i], window_begin_ns));
    }
    return json;
}
