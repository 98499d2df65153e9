/* crowd: the check for locks that admit several holders: readers beside readers, permits up to a
 * bound.
 *
 * Each grant has units: a permit has one, a writer has all of them, a reader has one. One word for each key has the
 * sum of the units inside, and the number of alarms: an entry that makes the sum too great raises the alarm in the
 * same step. A holder that finds another number of alarms on leaving than on entry was inside at that moment. So
 * everybody who was inside is marked, and nothing is judged here (cell.h). */
#ifndef BENCH_MEASURE_CROWD_H
#define BENCH_MEASURE_CROWD_H

#include "bench/measure/cell.h"

/* A writer's units, and the bound for readers; more than there are clients. */
#define CROWD_ALL (UINT32_C(1) << 22)
#define CROWD_ALARM (UINT64_C(1) << 48) /* the sum of the units is below it */

/* One for each key. */
struct crowd {
    _Alignas(64) _Atomic uint64_t inside; /* units, and alarms above them */
    _Atomic uint64_t grants;              /* without those of writers, which the cell counts */
};

/* One client's last holding. The client writes it. */
struct presence {
    _Alignas(64) _Atomic int64_t acquired_ns; /* 0 = it is not inside */
    _Atomic uint32_t key, units;
    uint64_t alarms; /* when it had entered */
};

/* The crowds of a stage, in memory that all clients share. */
struct crowds {
    /* one for each key; NULL = the lock admits one holder, and only cells are used */
    struct crowd *crowd;
    struct presence *presence; /* one for each client */
    uint32_t clients;
};

/* The holder enters; to be called right after its acquire returned. bound: CROWD_ALL for readers
 * and writers. Returns false if there are too many now. */
bool crowd_enter(const struct crowds *crowds, uint32_t client, uint32_t key, uint32_t units,
                 uint32_t bound, int64_t acquired_ns);

/* The holder leaves; to be called right before it calls release. Returns false if there were too many at any time
 * while it was inside. */
bool crowd_leave(const struct crowds *crowds, uint32_t client);

/* The holder leaves because it learned that the grant is lost. Returns as crowd_leave does. */
bool crowd_abandon(const struct crowds *crowds, uint32_t client);

/* Takes the units of a killed client out of the crowd; the supervisor calls this. A client that was killed between two
 * stores may leave its units behind: that marks grants, but accuses nobody. */
void crowd_bury(const struct crowds *crowds, uint32_t client);

/* True if any client is inside. */
bool crowd_inside(const struct crowds *crowds, uint32_t key);

/* Adds the crowds' grants to the sums. Crowds guard no counter. */
void crowds_sum(struct exclusion *exclusion, const struct crowds *crowds, uint32_t keys);

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
void versions_sum(struct exclusion *exclusion, const struct versions *versions, uint32_t keys);

#endif
