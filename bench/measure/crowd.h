/* crowd: the check for locks that let several in: readers beside readers, permits up to a bound.
 *
 * Each grant has units: a permit one, a writer all of them, a reader one. A sum of what is inside
 * tells, with one addition, that there may be too many. Then all clients' presences are looked
 * through, and only what they say together counts: the units whose holders were inside for certain
 * at one and the same moment. So a sum that is off (a client killed between two stores) costs time,
 * but accuses nobody. */
#ifndef BENCH_MEASURE_CROWD_H
#define BENCH_MEASURE_CROWD_H

#include "bench/measure/cell.h"

#define CROWD_ALL (UINT32_C(1) << 30) /* a writer's units, and the bound of readers */

/* A key's. */
struct crowd {
    _Alignas(64) _Atomic int64_t inside; /* units */
    _Atomic uint64_t grants;             /* but writers': the cell counts those */
};

/* A client's last holding; it writes, whoever suspects reads. */
struct presence {
    _Alignas(64) _Atomic uint32_t version; /* odd while it is being written */
    _Atomic uint32_t key, units;
    _Atomic bool counted; /* its units are in the crowd's sum */
    _Atomic int64_t acquired_ns, lease_end_ns;
    _Atomic int64_t left_ns; /* LB_NEVER = inside */
};

/* A stage's crowds; in memory that all clients share. */
struct crowds {
    struct crowd *crowd;       /* a key each; NULL = the lock lets one in, and cells do */
    struct presence *presence; /* a client each */
    uint32_t clients;
};

/* The holder comes in, right after its acquire returned. bound: CROWD_ALL for readers and writers.
 * Two writers are the cell's business and not counted here. */
void crowd_enter(const struct crowds *crowds, struct findings *findings, uint32_t key,
                 uint32_t units, uint32_t bound, const struct holding *me);

/* The holder goes, right before it calls release at releasing_ns. */
void crowd_leave(const struct crowds *crowds, uint32_t client, int64_t releasing_ns);

/* It goes for it has learned that it lost the grant. */
void crowd_abandon(const struct crowds *crowds, uint32_t client, int64_t now_ns);

/* A renewal moved the lease's end. */
void crowd_renewed(const struct crowds *crowds, uint32_t client, int64_t lease_end_ns);

/* Takes a killed client out, by the supervisor. */
void crowd_bury(const struct crowds *crowds, uint32_t client, int64_t now_ns);

/* Whether anybody who lives is inside. */
bool crowd_inside(const struct crowds *crowds, const struct findings *findings, uint32_t key);

/* Adds the crowds' grants to a judgement. What they guard is not counted apart. */
void crowds_judge(struct exclusion *exclusion, const struct crowds *crowds, uint32_t keys);

#endif
