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

/* keys: which key a client takes next: its own, any alike, or a few hot ones (Zipf).
 *
 * Zipf: key i (from 0, the hottest) has a share proportional to 1 / (i + 1)^s. Drawn exactly and in
 * constant time by rejection-inversion: W. Hoermann and G. Derflinger, "Rejection-inversion to
 * generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. No tables, so ten
 * million keys cost no memory. */

/* Read-only after keys_init, so all threads may share one. */
struct keypicker {
    enum key_pick pick;
    uint32_t count;
    double s;        /* Zipf's exponent; 0 to 5, 0 excluded */
    double low;      /* H(1/2) of the paper, moved so that key 1's bar is hit exactly */
    double high;     /* H(count + 1/2) */
    double accepted; /* a draw nearer to its key than this needs no further test */
};

/* The number of keys for this number of clients: one for each client, if each has its own. */
uint32_t keys_count(const struct keyspace *keys, int clients);

/* Whether each key has one holder at a time, who excludes all others. */
bool keys_have_one_holder(const struct lb_lock *lock);

/* The number of clients that may hold a key at the same time, if none of them is a reader. INFINITY: there is no limit,
 * or clients of this lock hold nothing. */
double keys_holders(const struct plan *plan, const struct lb_lock *lock);

/* keys: from a plan that was validated. */
void keys_init(struct keypicker *picker, const struct keyspace *keys, int clients);

/* Returns the next key of a client: 0 .. keys_count-1. Takes one or two draws from rng on
 * average. */
uint32_t keys_pick(const struct keypicker *picker, uint32_t client, struct lb_rng *rng);

#endif
