/* topologies: which servers a plan's locks run on: names of scripts in compose/local. It asks no
 * script: the drivers' tables say which names there are. */
#ifndef BENCH_WORKLOAD_TOPOLOGIES_H
#define BENCH_WORKLOAD_TOPOLOGIES_H

#include "bench/base/err.h"
#include "bench/workload/plan.h"

/* "default", or names with commas between, into the plan. 0, or -1 with err: what is wrong with the
 * value. */
int topologies_read(const char *text, struct plan *plan, struct lb_err *err);

/* The same way back. Returns text. */
char *topologies_text(const struct plan *plan, char *text, size_t size);

/* The index-th topology that the plan runs a lock on, 0 .. ; NULL when there are no more. An
 * embedded lock has none. */
const char *topologies_of(const struct plan *plan, const struct lb_lock *lock, int index);

#endif
