/* faults: the option types of fault sections' keys that have a grammar of their own, and the rules
 * between the values of a section. */
#ifndef BENCH_WORKLOAD_FAULTS_H
#define BENCH_WORKLOAD_FAULTS_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

#define INJECTION_CHOICE(kind, name, ...) "," name
#define INJECTION_CHOICES "none" INJECTIONS_EACH(INJECTION_CHOICE)

extern const struct lb_option_type type_target; /* struct plan_fault: .target and .node */

/* Whether a fault acts on a single worker process, or on the connections of one. */
bool fault_needs_processes(const struct plan_fault *fault);
/* Whether the plan has faults with such a target. */
bool plan_acts_on(const struct plan *plan, enum fault_on on);

/* Whether the plan changes servers' clocks. */
bool plan_steps_clocks(const struct plan *plan);

/* Whether the injection can have its target; and the targets that an injection can have, in words. Returns text. */
bool fault_can_target(const struct plan_fault *fault);
char *fault_targets_text(enum injection kind, char *text, size_t size);

#endif
