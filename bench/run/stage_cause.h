/* stage_cause: which figures of a stage have a cause that the lock's algorithm is known for. It measures
 * nothing and judges nothing: a figure that is not there, or not beyond its bound, has no cause, and no
 * figure has one in a stage with faults, or where no client waited for another. */
#ifndef BENCH_RUN_STAGE_CAUSE_H
#define BENCH_RUN_STAGE_CAUSE_H

#include "bench/workload/plan.h"
#include "results/format/run_read.h"

/* run.json's .stages[].causes, a text a figure: "Jain: known cause: ...; the option poll_max changes it". New
 * reference, NULL when out of memory. The stage's figures are filled in. */
json_t *stage_causes(const struct run_stage *result, const struct plan_lock *lock);

#endif
