/* stage_cause: names the figures of a stage that have a known cause in the lock's algorithm (lb_known_cause). A
 * figure that was not measured, or that is within its bound, has no cause; nor has any figure of a stage with faults,
 * or of a stage where no client waited for another. */
#ifndef BENCH_RUN_STAGE_CAUSE_H
#define BENCH_RUN_STAGE_CAUSE_H

#include "bench/workload/plan.h"
#include "results/format/run_read.h"

/* run.json's .stages[].causes, a text a figure: "Jain: known cause: ...; the option poll_max changes it". New
 * reference, NULL when out of memory. The stage's figures are filled in. */
json_t *stage_causes(const struct run_stage *result, const struct plan_lock *lock);

#endif
