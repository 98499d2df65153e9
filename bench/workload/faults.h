/* faults: the values of fault sections that have a grammar of their own, from text, and what a
 * section's values must be to each other. plan.h has the way back to text.
 *
 * Readers: 0, or -1 with err (LB_EXIT_USAGE) and the result untouched. The error says what is wrong
 * with the value, not where it stands. */
#ifndef BENCH_WORKLOAD_FAULTS_H
#define BENCH_WORKLOAD_FAULTS_H

#include "bench/workload/plan.h"

/* In the order of enum injection. */
#define INJECTION_CHOICES                                                                                    \
    "none,pause,kill,starve,server-pause,server-kill,server-empty,promote,terminate,evict,clock,wire-delay," \
    "wire-slow,wire-cut,wire-reset,wire-midway,wire-drop"

/* Which fault section a section's name means: 0 for "fault", 1 for "fault.2", ...; -1 = none. */
int fault_section(const char *name);
/* The way back. Returns text. */
char *fault_section_text(int number, char *text, size_t size);

/* "2s", "random:2s..5s"; where min_ns is above 0 also "none" and "0". */
int span_parse(const char *text, int64_t min_ns, int64_t max_ns, struct span *ret,
               struct lb_err *err);
static inline bool span_is_none(const struct span *span) {
    return span->to_ns == 0;
}

/* "holder", "minority", "2"; sets .target and .node. */
int fault_target_parse(const char *text, struct plan_fault *ret, struct lb_err *err);

/* The section that this .target is in. */
static inline struct plan_fault *fault_with_target(void *target) {
    return (struct plan_fault *)(void *)((char *)target - offsetof(struct plan_fault, target));
}
static inline const struct plan_fault *fault_with_target_const(const void *target) {
    return (const struct plan_fault *)(const void *)((const char *)target -
                                                     offsetof(struct plan_fault, target));
}

/* On what a kind acts. */
enum fault_on { ON_NOTHING, ON_CLIENTS, ON_SERVERS, ON_WIRES };
enum fault_on injection_acts_on(enum injection kind);
/* Whether it lasts for a time, and is undone after it. */
bool injection_lasts(enum injection kind);
/* Whether it hits clients by their worker processes. */
bool fault_needs_processes(const struct plan_fault *fault);
/* Whether the plan has such faults. */
bool plan_acts_on(const struct plan *plan, enum fault_on on);

/* Whether it steps servers' clocks. */
bool plan_steps_clocks(const struct plan *plan);

/* What is wrong with a section's values together, as an error without its place: *ret_key is the
 * key that should change. 0, or -1 with err. */
int fault_check(const struct plan_fault *fault, const char **ret_key, struct lb_err *err);

#endif
