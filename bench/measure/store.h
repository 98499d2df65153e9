/* store: the value that a lock guards, kept twice for each key: once as a server keeps it that
 * checks the lock's fencing tokens, and once as a server keeps it that does not.
 *
 * A holder reads both values when it enters and writes both, plus one, before it leaves. A write is
 * stale if another client entered after the writer, or if the writer's lease was over when it found
 * a greater token. A greater token that a holder finds while its grant lasts makes no write stale:
 * the lock gave the later holder the smaller token. Such a write is counted as refused; whether the grant lasted is
 * decided after the stage.
 *
 * The unfenced value accepts every write. The fenced value remembers the greatest token: a holder installs
 * its own token before it reads, and a write is accepted only if its token is not smaller than the last
 * token that was installed. (A check of the write alone is not enough: between the read and the write of a
 * newer holder an older holder could still write, and that write would be overwritten.) An equal token is
 * accepted, because a holder writes more than once.
 *
 * Values are read and written in separate steps, as a client of a server would do; the work lies
 * between them. The token, the fenced value and the number of the last client that entered change
 * together in one atomic step, as in a server's transaction. So a correct fence is never accused: a
 * write that it accepted was overtaken only by a client whose token was no greater. */
#ifndef BENCH_MEASURE_STORE_H
#define BENCH_MEASURE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One for each key (each cell); zeroed = empty. */
struct guarded {
    /* The greatest token; the fenced value and the number of the last entry, in 40 and 24 bits.
     * Only functions of store.c use these. */
    _Alignas(64) uint64_t token, value_and_entry;
    _Atomic uint64_t unfenced;      /* read and written plainly */
    _Atomic uint64_t writes;        /* of the unfenced value */
    _Atomic uint64_t fenced_writes; /* that were accepted */
};

/* Sums over all keys of a stage. */
struct store_counts {
    _Atomic uint64_t stale;          /* stale writes that were tried, one for both values */
    _Atomic uint64_t stale_rejected; /* rejected by the fenced value */
    /* accepted by the fenced value: the lock's tokens did not grow, or it has none */
    _Atomic uint64_t stale_accepted;
    /* rejected by the fenced value on entry, although no client entered after the writer: stale, or refused */
    _Atomic uint64_t refused;
};

/* How the fenced value answered a holder. */
enum fence {
    FENCE_NONE,     /* there is no fence: the lock has no tokens */
    FENCE_ACCEPTED, /* every request so far was accepted */
    FENCE_REJECTED  /* a greater token was installed */
};

/* One holder's visit, from its entry to its write. */
struct visit {
    uint64_t token;            /* 0 = the grant has none, and nothing is compared */
    uint64_t unfenced, fenced; /* the values that were read */
    uint32_t entry;
    bool overtaken;
    bool refused; /* the fenced value rejected the holder's token when it entered */
    enum fence fence;
};

/* The fenced value. */
uint64_t fenced_read(struct guarded *key);

/* Enters and reads both values. fenced: the lock has tokens. */
void store_enter(struct guarded *key, uint64_t token, bool fenced, struct visit *ret_visit);
/* Writes both values and counts. Returns whether the write is one of counts->refused. */
bool store_leave(struct guarded *key, struct store_counts *counts, struct visit *visit);

struct store_sum {
    uint64_t stale_attempted, stale_accepted_unfenced, stale_rejected_fenced, stale_accepted_fenced;
    uint64_t refused_fenced;
    uint64_t writes, lost_updates_unfenced, lost_updates_fenced;
};

/* The sums when every client has left. rightful: of the writes counts->refused, those of grants that lasted; the others
 * are stale. */
struct store_sum store_judge(struct guarded *keys, uint32_t count,
                             const struct store_counts *counts, uint64_t rightful);

#endif
