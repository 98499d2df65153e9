/* versions: the check for optimistic locks, which hold nothing: every successful write has made a
 * version of its own. Two writes that made the same one: the second overwrote what it had never
 * read. */
#ifndef BENCH_MEASURE_VERSIONS_H
#define BENCH_MEASURE_VERSIONS_H

#include "bench/measure/cell.h"

/* A key's. */
struct versions {
    _Alignas(32) _Atomic uint64_t writes;
    _Atomic uint64_t least, greatest; /* 0 = none yet */
};

/* A write succeeded and made this version; 0 = the lock does not say which: it is then not
 * checked. */
void versions_add(struct versions *versions, uint64_t version);

/* Adds the writes to a judgement, and as lost updates those that can't have had a version of their
 * own: more writes than there are numbers from the least to the greatest. */
void versions_judge(struct exclusion *exclusion, const struct versions *versions, uint32_t keys);

#endif
