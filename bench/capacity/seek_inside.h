/* seek_inside: shared by the files of seek.h and by nobody else. */
#ifndef BENCH_CAPACITY_SEEK_INSIDE_H
#define BENCH_CAPACITY_SEEK_INSIDE_H

#include "bench/capacity/seek.h"

/* One lock's search. */
struct sought {
    const struct plan_lock *lock;
    const char *on; /* the topology to start; NULL = embedded, or the backend's own */
    char topology[64], durability[256], server[256];
    const char *durability_class; /* a word of bench/base/durability.h, or NULL */
    int threads, processes;
    struct search search;
    struct probe probes[EDGE_POINTS_MAX];
    int probe_count;
    bool violated;          /* a stage of it saw two holders at once */
    struct probe saturated; /* the closed loop before a search by rate */
    int64_t began_ns;       /* its first stage, then that stage's load; 0 = not yet */
    /* what went into probes that a busy machine spoilt, and into waiting for it */
    int64_t spoilt_ns;
    /* of its dearest probe so far, with what comes before and after its load */
    int64_t cost_ns;
};

struct seek {
    struct seek_ask ask;
    struct plan probe_plan; /* a copy of ask.plan, with the shape of the stage that runs */
    struct sought *locks;
    int count, current;
    int64_t stage_began_ns;
    double load; /* of the stage that runs */
    char folder[600];
    json_t *environment;
    char started_at[32];
};

/* capacity.json as it is now: new reference, NULL when out of memory. */
json_t *seek_json(const struct seek *seek, const char *partial, bool ended);

#endif
