/* stuck: looks for free keys that nobody is granted although clients wait for them.
 *
 * A key is idle when for 5 s, plus the lock's stated slack, no client held it, no client was in a release
 * call of it, no client was granted it, and a client waited for it all that time. That is longer than a
 * slow server or an election takes, and no lease explains it: the last holder's release has returned. If
 * three leases and a second are shorter than 5 s, that time (and the slack) is enough, because every grant
 * that a holder may have left on the server has ended by then. If a release call was seen to last long, a key
 * must be idle for four times as long as that call: a server that is late for one client is late for all.
 *
 * A key that is idle until the end of the stage is stuck. A key that is granted again was idle for a time,
 * and its lock is not accused.
 *
 * Waits with another explanation do not count: for three leases, a second and the slack after an action of
 * the supervisor (a fault, a killed client) and after an attempt that may have left a grant on the server;
 * and the time for which the machine stood still.
 *
 * A client that tries again and again counts as waiting until the last answer that the key was busy.
 * While it rests between two tries, it is unknown whether the key is busy. */
#ifndef BENCH_STAGE_STUCK_H
#define BENCH_STAGE_STUCK_H

#include "bench/load/shared.h"
#include "bench/stage/stage.h"

/* If two looks are further apart than this, the machine stood still, and its clients too. */
#define STUCK_STALL_NS (2 * LB_S_NS)

struct stuck_key;

struct stuck {
    const struct shared *shared;
    struct stuck_key *keys;         /* shared->key_count; NULL = not watched */
    struct stage_idle_keys passing; /* idle once, and granted again since */
    int64_t patience_ns;            /* for which a key must be idle at least */
    int64_t slowest_ns;      /* the longest release call that was seen, but for delays by faults */
    int64_t explained_ns;    /* for which a disturbance explains waits */
    int64_t looked_ns;       /* the last look; 0 = none yet */
    int64_t stalled_from_ns; /* the machine stood still from then ... */
    int64_t stalled_ns;      /* ... until then; 0 = it never did */
    int64_t disturbed_ns;    /* the last disturbance; 0 = none */
};

/* The time for which a key that nobody holds may go without a grant: a slow server or an election
 * explains it. */
int64_t stuck_patience_ns(const struct shared *shared);

/* No key is watched if the lock holds nothing, or when out of memory. */
void stuck_init(struct stuck *stuck, const struct shared *shared);
void stuck_done(struct stuck *stuck);

/* Looks at the keys at now_ns (by lb_now()), and notes whether the machine stood still since the last
 * look. A call soon after the last look does nothing, so it may be called often. */
void stuck_look(struct stuck *stuck, int64_t now_ns);

/* After the last look: the keys that were idle until the end, and those that were idle before. */
void stuck_conclude(struct stuck *stuck, struct stage_idle_keys *ret_stuck,
                    struct stage_idle_keys *ret_passing);

/* Whether a disturbance may explain waits that lasted until then. */
bool stuck_is_explained(const struct stuck *stuck, int64_t now_ns);

#endif
