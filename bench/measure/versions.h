/* versions: the check for optimistic locks, which hold nothing: every successful write makes a
 * version of its own. If two writes made the same version, the second one overwrote a value that it
 * had never read. */
#ifndef BENCH_MEASURE_VERSIONS_H
#define BENCH_MEASURE_VERSIONS_H

#include "bench/measure/cell.h"

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
