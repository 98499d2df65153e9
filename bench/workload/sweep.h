/* sweep: the order in which the loads of a plan (rates, or else numbers of clients) run.
 *
 * The same load may give other figures on the way up than on the way down, because of queues that have
 * not emptied, caches, or leases of clients that gave up. So a sweep can go up, down, both ways (mirror),
 * or in a shuffled order, in which a load has other neighbours each time; each repeat is shuffled anew,
 * from the plan's seed. */
#ifndef BENCH_WORKLOAD_SWEEP_H
#define BENCH_WORKLOAD_SWEEP_H

#include "bench/workload/plan.h"

#define SWEEP_RUNGS_MAX (2 * PLAN_LADDER_MAX)

/* The position of a stage in its sweep. by NULL: it belongs to none. */
struct sweep_at {
    const char *by;    /* "rate", "clients" */
    const char *order; /* "up", "down", "shuffled", "mirror" */
    const char *leg;   /* "up", "down", "shuffled" */
    int step;          /* 0, 1, ... in the order in which they run */
};

/* One load. */
struct rung {
    int clients;
    double rate_per_s; /* rate of all clients together; 0 = load.arrival's own, or closed */
    struct sweep_at at;
};

/* Fills in the loads of one repeat in the order in which they run. Returns their number. */
int sweep_rungs(const struct plan *plan, int repeat, struct rung rungs[SWEEP_RUNGS_MAX]);

#endif
