/* planned: the stages of a plan in the form of a run that was read: their locks and loads, and no figures. Code
 * that reads runs can so be asked about a run before it is made. */
#ifndef BENCH_RUN_PLANNED_H
#define BENCH_RUN_PLANNED_H

#include "bench/workload/plan.h"
#include "results/format/run_read.h"

/* NULL with err when out of memory. The caller frees the result with run_free; it borrows from the plan. */
struct run *planned_run(const struct plan *plan, struct lb_err *err);

#endif
