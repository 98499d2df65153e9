/* faults: the option types of fault sections' keys that have a grammar of their own, and the rules
 * between the values of a section. */
#ifndef BENCH_WORKLOAD_FAULTS_H
#define BENCH_WORKLOAD_FAULTS_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

/* In the order of enum injection. */
#define INJECTION_CHOICES                                                                          \
    "none,pause,kill,starve,client-clock,server-pause,server-kill,server-empty,promote,unfollow,"  \
    "isolate,terminate,evict,clock,wire-delay,"                                                    \
    "wire-slow,wire-cut,wire-reset,wire-midway,wire-drop"

/* The name of the number-th fault section, from 0: "fault", "fault.2", ... Returns text. */
char *fault_section_text(int number, char *text, size_t size);

extern const struct lb_option_type type_span; /* struct span: "2s", "random:2s..5s" */
static inline bool span_is_none(const struct span *span) {
    return span->to_ns == 0;
}
extern const struct lb_option_type type_target; /* struct plan_fault: .target and .node */

/* The target of an injection. */
enum fault_on { ON_NOTHING, ON_CLIENTS, ON_SERVERS, ON_WIRES };
enum fault_on injection_acts_on(enum injection kind);
/* What the servers' script does for it (topo_act); NULL = nothing. */
const char *injection_act(enum injection kind);
/* Whether an injection lasts for a time and is undone after that. */
bool injection_lasts(enum injection kind);
/* Whether a fault hits clients by their worker processes. */
bool fault_needs_processes(const struct plan_fault *fault);
/* Whether the plan has faults with such a target. */
bool plan_acts_on(const struct plan *plan, enum fault_on on);

/* Whether the plan changes servers' clocks. */
bool plan_steps_clocks(const struct plan *plan);

/* Checks the values of a section against each other. The error has no place; *ret_key is the key
 * that should change. Returns 0, or -1 with err. */
int fault_check(const struct plan_fault *fault, const char **ret_key, struct lb_err *err);

#endif
