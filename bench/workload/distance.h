/* distance: the round trips that lockbench's own wire adds, as keys of a workload; see struct distance in plan.h.
 * It starts no wire. */
#ifndef BENCH_WORKLOAD_DISTANCE_H
#define BENCH_WORKLOAD_DISTANCE_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

#define DISTANCE_MAX_NS LB_S_NS

/* struct plan: .distances and their count. "none" (no wire), "1ms", "none, 0, 500us, 20ms" */
extern const struct lb_option_type type_distances;

/* Writes the index-th distance between clients and servers in the plan's stages. Embedded locks have one distance,
 * which is zero. False: there is no such distance. */
bool distance_of(const struct plan *plan, bool embedded, int index, struct distance *ret);

bool distance_same(const struct distance *a, const struct distance *b);

#endif
