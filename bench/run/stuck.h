/* stuck: looks for free keys that nobody is granted although clients wait for them.
 *
 * A key is idle when for 5 s (and the lock's stated slack) nobody held it, nobody was in a release
 * call of it, nobody was granted it, and a client waited all that time. That is longer than a slow
 * server or an election takes, and no lease is a reason for it: the last holder's release has
 * returned. For a short lease it is less: three leases and a second are enough to outlast what any
 * holder may have left. A key that is idle until the end of the stage is stuck; one that is granted
 * again was idle for a time, which accuses nobody.
 *
 * A wait that something else may explain is not looked at: after an action of the supervisor (a
 * fault, a killed client), and after an attempt that may have left a grant behind, for three leases,
 * a second and the slack; and the time for which the machine stood still.
 *
 * A client that tries again and again counts as waiting until the last answer that the key was busy.
 * While it rests between two tries, it is unknown whether the key is busy. */
#ifndef BENCH_RUN_STUCK_H
#define BENCH_RUN_STUCK_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* Longer between two looks: the machine stood still, and its clients too. */
#define STUCK_STALL_NS (2 * LB_S_NS)

struct stuck_key;

struct stuck {
    const struct shared *shared;
    struct stuck_key *keys;         /* shared->key_count; NULL = not watched */
    struct stage_idle_keys passing; /* idle once, and granted again since */
    int64_t patience_ns;            /* for which a key must be idle */
    int64_t explained_ns;           /* for which a disturbance explains waits */
    int64_t looked_ns;              /* the last look; 0 = none yet */
    int64_t stalled_from_ns;        /* the machine stood still from then ... */
    int64_t stalled_ns;             /* ... until then; 0 = it never did */
    int64_t disturbed_ns;           /* the last disturbance; 0 = none */
};

/* The time for which a key that nobody holds may go without a grant: a slow server or an election
 * explains it. */
int64_t stuck_patience_ns(const struct shared *shared);

/* No key is watched if the lock holds nothing, or when out of memory. */
void stuck_init(struct stuck *stuck, const struct shared *shared);
void stuck_done(struct stuck *stuck);

/* Looks at the keys at a time by lb_now(), and whether the machine stood still since the last look;
 * cheap, so it may be called too often. */
void stuck_look(struct stuck *stuck, int64_t now_ns);

/* After the last look: the keys that were idle until the end, and those that were idle before. */
void stuck_conclude(struct stuck *stuck, struct stage_idle_keys *ret_stuck,
                    struct stage_idle_keys *ret_passing);

/* Whether a disturbance may explain waits that lasted until then. */
bool stuck_is_explained(const struct stuck *stuck, int64_t now_ns);

#endif
