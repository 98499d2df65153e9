/* stages: the stages of a plan, in the order in which they run. */
#ifndef BENCH_WORKLOAD_STAGES_H
#define BENCH_WORKLOAD_STAGES_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

bool distance_same(const struct distance *a, const struct distance *b);

/* leases: the leases of acquire.lease as a key of a workload: one, or a list with a stage for each. */

int64_t leases_shortest_ns(const struct plan *plan);

/* Whether the stages of this lock differ in their lease or session: the plan has several leases, and the lock uses
 * one. */
bool leases_differ(const struct plan *plan, const struct lb_lock *lock);

/* topologies: which servers a plan's locks run on: names of scripts in compose/local. It asks no
 * script: the drivers' tables say which names there are. */

/* Returns the index-th topology on which the plan runs a lock, from 0; NULL after the last one. An
 * embedded lock has none. */
const char *topologies_of(const struct plan *plan, const struct lb_lock *lock, int index);

struct plan_stage {
    const struct plan *plan;
    const struct plan_lock *lock;
    const char *topology; /* NULL = embedded */
    bool tls;             /* its servers are started with TLS */
    struct distance distance;
    int clients, readers, repeat;
    int64_t window_ns, lease_ns;
    double rate_per_s; /* rate of open arrivals; 0 = the plan's: stage_arrival */
    bool again; /* the same once more in its round, to see by how much two equal stages differ */
};

/* The plan's arrivals at the stage's own rate. */
static inline struct arrival stage_arrival(const struct plan_stage *stage) {
    struct arrival arrival = stage->plan->arrival;
    if (stage->rate_per_s > 0 && arrival.kind != ARRIVAL_CLOSED)
        arrival.rate_per_s = stage->rate_per_s;
    return arrival;
}

enum stages_order {
    STAGES_BY_PLACE, /* the stages of one backend on one topology are together, so that its servers run alone */
    /* A repeat of all locks on all servers is a round: what changes the machine changes all locks alike, and the figures
     * of a round can be compared with each other. Round 0 comes before the repeats, which are 1, 2, ...: it warms the
     * servers; STAGES_SPARE rounds come after them, for those that were disturbed. Baselines and controls that the user did
     * not name run in round 1 only. A lone client beside loads of several has half the window, since it waits for nobody;
     * not where faults or ticks have their times. */
    STAGES_BY_ROUND,
};

#define STAGES_SPARE 2

/* Returns all stages. Of one place, or of all, repeats are the outer loop. In each repeat the locks run in an order that
 * is drawn from the seed; every second repeat mirrors the one before it. Then follow the leases, the loads as
 * they are listed (in every second repeat from the last to the first) and the shares of readers. The caller frees the
 * array; NULL when out of memory. */
struct plan_stage *stages_new(const struct plan *plan, enum stages_order order, int *ret_count);

/* Whether two consecutive stages run on the same servers. */
static inline bool stages_share(const struct plan_stage *a, const struct plan_stage *b) {
    return a->lock->lock->backend == b->lock->lock->backend && a->topology == b->topology &&
           a->tls == b->tls && distance_same(&a->distance, &b->distance);
}

/* "004-redis-rwlock-redis-3-c8-rd50-r0" without its number; the topology, the round trip, the lease and the readers'
 * share only where the lock has several, the rate ("-512ps") where it is not the plan's own. Returns
 * text. */
char *stage_name(const struct plan_stage *stage, char *text, size_t size);

#endif
