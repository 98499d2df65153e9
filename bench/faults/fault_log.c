/* fault_log: what was done, and by what sign it is known to have acted; see fault_inside.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/faults/fault_inside.h"

struct stage_fault *fault_log(struct faults *faults, const struct fault_section *section,
                              int64_t begin_ns) {
    struct stage *stage = faults->stage;
    struct stage_fault *grown =
        realloc(stage->faults, (size_t)(stage->fault_count + 1) * sizeof *stage->faults);
    if (!grown) return NULL;
    stage->faults = grown;
    struct stage_fault *fault = &stage->faults[stage->fault_count++];
    *fault = (struct stage_fault){.kind = section->plan->kind,
                                  .section = (int)(section - faults->sections),
                                  .process = -1,
                                  .client = -1,
                                  .node = -1,
                                  .key = -1,
                                  .begin_ns = begin_ns};
    fault_target_text(section->plan, fault->target, sizeof fault->target);
    return fault;
}

void fault_sign(struct stage_fault *fault, bool acted, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault->sign, sizeof fault->sign, format, args);
    va_end(args);
    fault->acted = acted;
}

void fault_log_not(struct faults *faults, const struct fault_section *section, const char *format,
                   ...) {
    struct stage_fault *fault = fault_log(faults, section, lb_now());
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

/* Times in seconds from the window's begin, as the series has them. */
static json_t *fault_json(const struct stage *stage, const struct stage_fault *fault) {
    double from_s = (double)(fault->begin_ns - stage->window_begin_ns) / 1e9;
    double to_s = (double)(fault->end_ns - stage->window_begin_ns) / 1e9;
    char section[16];
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:f, s:o, s:b, s:s}", "kind",
                     injection_name(fault->kind), "section",
                     fault_section_text(fault->section, section, sizeof section), "target",
                     fault->target, "process", number(fault->process), "client",
                     number(fault->client), "node", number(fault->node), "key", number(fault->key),
                     "from_s", from_s, "to_s", fault->end_ns ? json_real(to_s) : json_null(),
                     "acted", fault->acted, "sign", fault->sign);
}

json_t *faults_json(const struct stage *stage) {
    json_t *faults = json_array();
    for (int i = 0; i < stage->fault_count; i++) {
        json_array_append_new(faults, fault_json(stage, &stage->faults[i]));
    }
    return faults;
}
