/* stages: the stages of a plan, in the order in which they run. */
#ifndef BENCH_WORKLOAD_STAGES_H
#define BENCH_WORKLOAD_STAGES_H

#include "bench/workload/distance.h"
#include "bench/workload/plan.h"
#include "bench/workload/sweep.h"

struct plan_stage {
    const struct plan *plan; /* the lock's own, or the whole plan; with the stage's lease */
    const struct plan_lock *lock;
    const char *topology; /* NULL = embedded */
    bool tls;             /* its servers are started with TLS */
    struct distance distance;
    int clients, readers, repeat;
    double rate_per_s; /* rate of open arrivals; 0 = the plan's */
    struct sweep_at sweep;
};

/* Returns all stages. Those of one backend on one topology are together, so that its servers start once. Within them
 * repeats are the outer loop, so that a machine that becomes slower affects all locks; in each repeat the locks run
 * in an order that is drawn from the seed. Then follow the leases, the loads (sweep.h) and the shares of
 * readers. The caller frees the array; NULL when out of memory. */
struct plan_stage *stages_new(const struct plan *plan, int *ret_count);

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
