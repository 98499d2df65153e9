/* leases: the leases of acquire.lease as a key of a workload: one, or a list with a stage for each. */
#ifndef BENCH_WORKLOAD_LEASES_H
#define BENCH_WORKLOAD_LEASES_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

/* struct plan: .leases_ns and their count; .lease_ns is the first. "10s", "500ms, 1s, 2s" */
extern const struct lb_option_type type_leases;

/* For a checked plan with several leases: makes a plan for the stages of each lease. The plans belong to the arena.
 * 0, or -1 with err. */
int leases_spread(struct plan *plan, struct arena *arena, struct lb_err *err);

/* The plan of the stages with the index-th lease; it differs from the plan only in the lease. NULL: there is no such
 * lease. */
const struct plan *leases_plan(const struct plan *plan, int index);

/* The plan of the stages with this lease; NULL: the plan has no such lease. */
const struct plan *leases_find(const struct plan *plan, int64_t lease_ns);

int64_t leases_shortest_ns(const struct plan *plan);

/* Whether the stages of this lock differ in their lease or session: the plan has several leases, and the lock uses
 * one. */
bool leases_differ(const struct plan *plan, const struct lb_lock *lock);

#endif
