/* topologies: which servers a plan's locks run on: names of scripts in compose/local. It asks no
 * script: the drivers' tables say which names there are. */
#ifndef BENCH_WORKLOAD_TOPOLOGIES_H
#define BENCH_WORKLOAD_TOPOLOGIES_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

/* "default", or names with commas between: struct plan's .topologies and .topology_count. */
extern const struct lb_option_type type_topologies;

/* Returns the index-th topology on which the plan runs a lock, from 0; NULL after the last one. An
 * embedded lock has none. */
const char *topologies_of(const struct plan *plan, const struct lb_lock *lock, int index);

#endif
