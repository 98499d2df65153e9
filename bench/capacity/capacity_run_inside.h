/* capacity_run_inside: shared by the files that implement capacity_run.h; no other file includes
 * it. */
#ifndef BENCH_CAPACITY_CAPACITY_RUN_INSIDE_H
#define BENCH_CAPACITY_CAPACITY_RUN_INSIDE_H

#include "bench/capacity/capacity_run.h"

/* The search for one lock. */
struct lock_search {
    const struct plan_lock *lock;
    const char *on; /* the topology to start; NULL = embedded, or the backend's own */
    char topology[192], durability[256], server[256];
    const char *guarantee;        /* a word of bench/base/verdict.h; NULL = no place yet */
    const char *durability_class; /* a word of bench/base/verdict.h, or NULL */
    int threads, processes;
    struct search search;
    struct probe probes[EDGE_POINTS_MAX];
    int probe_count;
    bool violated; /* one of its stages found two holders at once */
    /* the best throughput of the closed loops before a search by rate; 0 = none */
    double saturated_per_s;
    int loops;         /* the number of these closed loops that ran */
    bool loop_again;   /* the machine spoilt the last one */
    int64_t budget_ns; /* the time for its probes */
    /* when its first stage began, then when that stage's load began; 0 = not yet */
    int64_t began_ns;
    /* time for probes that a busy machine spoilt, and for waiting until it is less busy */
    int64_t spoilt_ns;
    /* time of its longest probe so far, including what comes before and after its load */
    int64_t cost_ns;
};

struct capacity_run {
    struct capacity_run_ask ask;
    struct plan probe_plan; /* a copy of ask.plan, with the shape of the stage that runs */
    struct lock_search *locks;
    int count, current;
    int64_t stage_began_ns;
    double load; /* of the stage that runs */
    char folder[600];
    json_t *environment;
    char started_at[32];
};

/* capacity.json as it is now: new reference, NULL when out of memory. */
json_t *capacity_run_json(const struct capacity_run *capacity_run, const char *partial, bool ended);

#endif
