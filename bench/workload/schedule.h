/* schedule: when the operations of an open-loop run are due.
 *
 * Due times are counted from the start, never from the previous completion, so a late client does not slow the
 * schedule down. A schedule does not change a due time later, and does not raise its rate to catch up. One thread
 * uses one schedule. Clients 0 .. total-1 share the plan's rate; a schedule
 * may stand for one of them or for a run of neighbours (the clients of one thread). All schedules
 * of a run together are the plan's arrival process exactly: a constant one takes turns between
 * them, a Poisson one is split at random. */
#ifndef BENCH_WORKLOAD_SCHEDULE_H
#define BENCH_WORKLOAD_SCHEDULE_H

#include <stdint.h>

#include "bench/base/rng.h"
#include "bench/workload/plan.h"

struct schedule {
    enum arrival_kind kind;
    uint32_t first, count, total; /* the clients that it schedules */
    int64_t start_ns;
    /* mean time between two arrivals; constant: of all clients, Poisson: of this share */
    double gap_ns;
    double passed_ns; /* Poisson: from start_ns to the next arrival */
    uint64_t taken;
    int64_t next_ns;
    struct lb_rng rng;
};

/* Starts a schedule for clients first .. first+count-1 of total; count above 0. The same seed gives
 * the same times. */
void schedule_init(struct schedule *schedule, const struct arrival *arrival, uint32_t first,
                   uint32_t count, uint32_t total, int64_t start_ns, uint64_t seed);

/* Returns the time of the next arrival, by lb_now(); LB_NEVER in closed loop. */
static inline int64_t schedule_peek(const struct schedule *schedule) {
    return schedule->next_ns;
}

/* The same, and moves on to the arrival after it. */
int64_t schedule_take(struct schedule *schedule);

#endif
