/* crowd: the check for locks that admit several holders: readers beside readers, permits up to a
 * bound.
 *
 * Each grant has units: a permit has one, a writer has all of them, a reader has one. The sum of the
 * units inside costs one addition at each grant. If the sum is above the bound, there may be too many
 * holders, and then the presences of all clients are read. They prove a violation only if the units
 * of holders that were certainly inside at the same moment are above the bound. A wrong sum (after a
 * client was killed between two stores) costs time, but the lock is not accused. */
#ifndef BENCH_MEASURE_CROWD_H
#define BENCH_MEASURE_CROWD_H

#include "bench/measure/cell.h"

#define CROWD_ALL (UINT32_C(1) << 30) /* a writer's units, and the bound for readers */

/* One for each key. */
struct crowd {
    _Alignas(64) _Atomic int64_t inside; /* units */
    _Atomic uint64_t grants;             /* without those of writers, which the cell counts */
};

/* One client's last holding. The client writes it; a client that suspects an overlap reads it. */
struct presence {
    _Alignas(64) _Atomic uint32_t version; /* odd while it is being written */
    _Atomic uint32_t key, units;
    _Atomic bool counted; /* its units are part of crowd.inside */
    _Atomic int64_t acquired_ns, lease_end_ns;
    _Atomic int64_t left_ns; /* LB_NEVER = still inside */
};

/* The crowds of a stage, in memory that all clients share. */
struct crowds {
    /* one for each key; NULL = the lock admits one holder, and only cells are used */
    struct crowd *crowd;
    struct presence *presence; /* one for each client */
    uint32_t clients;
};

/* The holder enters; to be called right after its acquire returned. bound: CROWD_ALL for readers
 * and writers. Two writers at once are found by the cell and not counted here. */
void crowd_enter(const struct crowds *crowds, struct findings *findings, uint32_t key,
                 uint32_t units, uint32_t bound, const struct holding *me);

/* The holder leaves; to be called right before it calls release at releasing_ns. */
void crowd_leave(const struct crowds *crowds, uint32_t client, int64_t releasing_ns);

/* The holder leaves because it learned that the grant is lost. */
void crowd_abandon(const struct crowds *crowds, uint32_t client, int64_t now_ns);

/* A renewal moved the end of the lease. */
void crowd_renewed(const struct crowds *crowds, uint32_t client, int64_t lease_end_ns);

/* Takes the units of a killed client out of the crowd; the supervisor calls this. */
void crowd_bury(const struct crowds *crowds, uint32_t client, int64_t now_ns);

/* True if any client that is alive is inside. */
bool crowd_inside(const struct crowds *crowds, const struct findings *findings, uint32_t key);

/* Adds the crowds' grants to the sums. Crowds guard no counter. */
void crowds_judge(struct exclusion *exclusion, const struct crowds *crowds, uint32_t keys);

/* versions: the check for optimistic locks, which hold nothing: every successful write makes a
 * version of its own. If two writes made the same version, the second one overwrote a value that it
 * had never read. */

/* One for each key. */
struct versions {
    _Alignas(32) _Atomic uint64_t writes;
    _Atomic uint64_t least, greatest; /* 0 = none yet */
};

/* A write succeeded and made this version; 0 = the lock does not say which one, and the write is
 * not checked. */
void versions_add(struct versions *versions, uint64_t version);

/* Adds the writes to the sums, and counts as lost updates the writes that can't have made a version
 * of their own: those beyond the number of versions from the least to the greatest. */
void versions_judge(struct exclusion *exclusion, const struct versions *versions, uint32_t keys);

#endif
