/* stuck: looks for free keys that no client gets.
 *
 * A key is stuck when a client has waited for it longer than three leases, the lock's stated slack
 * and a second, while no client was inside it and none entered or left. A client whose tries find
 * the key busy waits as well, until its last answer: nobody knows what it would find while it
 * rests. After an action of the supervisor (a fault, while it lasts) the time starts again. */
#ifndef BENCH_RUN_STUCK_H
#define BENCH_RUN_STUCK_H

#include "bench/load/shared.h"

struct stuck {
    const struct shared *shared;
    bool *found; /* one for each key; NULL = not watched */
    uint64_t count;
    int64_t limit_ns;
    int64_t looked_ns;    /* the last look */
    int64_t disturbed_ns; /* time before this does not count */
};

/* No key is watched if the lock holds nothing, or when out of memory. */
void stuck_init(struct stuck *stuck, const struct shared *shared);
void stuck_done(struct stuck *stuck);

/* Looks at the keys; cheap, so it may be called too often. */
void stuck_look(struct stuck *stuck, int64_t now_ns);

#endif
