/* store: what a lock guards, as a server that is told of the lock's fencing tokens would keep it,
 * and beside it as one that is not: the same value twice, a key each.
 *
 * A holder reads both when it comes in and writes both, plus one, before it goes. A write is stale
 * if somebody else came in after the writer. The unfenced value takes every write. The fenced one
 * remembers the greatest token: who comes in installs its own before it reads, and a write is taken
 * only if its token is not smaller than the last one installed. (To check the write alone is not
 * enough: between a newer holder's read and its write the older one would still get through, and be
 * overwritten.) An equal token is taken, since a holder writes more than once.
 *
 * The values are read and written apart, as a client of a server would: what lies between is the
 * work. Token and fenced value change together, in one atomic step, as in a server's transaction,
 * and so does the number of the last one who came in. So it never accuses wrongly: a write that the
 * fence took was overtaken only by somebody whose token was no greater. */
#ifndef BENCH_MEASURE_STORE_H
#define BENCH_MEASURE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A key's (a cell's); zeroed = empty. */
struct guarded {
    /* The greatest token; the fenced value and who came in last, as numbers of 40 and 24 bits. By
     * functions of store.c only. */
    _Alignas(64) uint64_t token, value_and_entry;
    _Atomic uint64_t unfenced;      /* plainly read and written */
    _Atomic uint64_t writes;        /* of the unfenced value */
    _Atomic uint64_t fenced_writes; /* that were taken */
};

/* Over all keys of a stage. */
struct store_counts {
    _Atomic uint64_t stale;          /* writes tried, each of both values */
    _Atomic uint64_t stale_rejected; /* by the fenced value */
    _Atomic uint64_t stale_accepted; /* ... its tokens did not grow, or there was none */
};

/* What the fenced value said to a holder. */
enum fence {
    FENCE_NONE,     /* there is none: the lock has no tokens */
    FENCE_ACCEPTED, /* as far as it was asked */
    FENCE_REJECTED, /* a greater token has been there: the holder holds no more */
    FENCE_UNSURE    /* it was asked and did not answer: not counted */
};

/* One holder's, from its entry to its write. */
struct visit {
    uint64_t token;            /* 0 = the grant has none: nothing is compared */
    uint64_t unfenced, fenced; /* as read */
    uint32_t entry;
    bool overtaken;
    enum fence fence;
};

/* Installs a token and reads the value. False: a greater one is there, and nothing is done. Token 0
 * = none: nothing is compared, and the one that is there stays. */
bool fenced_install(struct guarded *key, uint64_t token, uint64_t *ret_value);
/* Writes. False: a greater token is there, and nothing is written. */
bool fenced_write(struct guarded *key, uint64_t token, uint64_t value);
uint64_t fenced_read(struct guarded *key);

/* Comes in and reads both values. fenced: the lock has tokens. */
void store_enter(struct guarded *key, uint64_t token, bool fenced, struct visit *ret_visit);
/* Writes both and counts. */
void store_leave(struct guarded *key, struct store_counts *counts, struct visit *visit);

/* The same where the fenced value is elsewhere: after it was asked, with its word in visit->fence;
 * ... */
void store_enter_beside(struct guarded *key, struct visit *visit);
/* ... before it is written; ... */
void store_write_beside(struct guarded *key, struct visit *visit);
/* ... and once its last word is in visit->fence. */
void store_count(struct guarded *key, struct store_counts *counts, const struct visit *visit);

struct store_sum {
    uint64_t stale_attempted, stale_accepted_unfenced, stale_rejected_fenced, stale_accepted_fenced;
    uint64_t writes, lost_updates_unfenced, lost_updates_fenced;
};

/* When everybody has left. fenced_values: where they are elsewhere, a key each; NULL = they are
 * here. */
struct store_sum store_judge(struct guarded *keys, uint32_t count,
                             const struct store_counts *counts, const uint64_t *fenced_values);

#endif
