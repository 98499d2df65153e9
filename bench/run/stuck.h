/* stuck: looks for keys that nobody gets although nobody has them.
 *
 * A key is stuck when a client has waited for it longer than three leases, the lock's stated slack
 * and a second, while nobody was inside it and nobody came or went. A try that finds it busy again
 * and again waits as well, until its last answer: what it would find now, while it rests, nobody
 * knows. What the supervisor itself did (a fault, while it lasts) begins the time anew. */
#ifndef BENCH_RUN_STUCK_H
#define BENCH_RUN_STUCK_H

#include "bench/load/shared.h"

struct stuck {
    const struct shared *shared;
    bool *found; /* a key each; NULL = not watched */
    uint64_t count;
    int64_t limit_ns;
    int64_t looked_ns;    /* the last look */
    int64_t disturbed_ns; /* nothing before this counts */
};

/* Nothing is watched if the lock holds nothing, or without memory. */
void stuck_init(struct stuck *stuck, const struct shared *shared);
void stuck_done(struct stuck *stuck);

/* A look; cheap to call too often. */
void stuck_look(struct stuck *stuck, int64_t now_ns);

#endif
