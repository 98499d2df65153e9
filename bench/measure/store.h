/* store: what a lock guards, as two servers would keep it for each key: one that checks the lock's fencing tokens, and one
 * that does not.
 *
 * A holder comes in to read, and writes before it leaves. A write is stale if another client entered after the writer, or
 * if the writer's lease was over when it found a greater token. A greater token that a holder finds while its grant lasts
 * makes no write stale: the lock gave the later holder the smaller token. Such a write is counted as refused; whether the
 * grant lasted is decided after the stage.
 *
 * The server without a fence accepts every write. The other one remembers the greatest token: a holder installs its own
 * token before it reads, and a write is accepted only if its token is not smaller than the last token that was installed.
 * (A check of the write alone is not enough: between the read and the write of a newer holder an older holder could still
 * write, and that write would be overwritten.) An equal token is accepted, because a holder writes more than once.
 *
 * The token and the number of the last client that entered change together in one atomic step, as in a server's
 * transaction. So a correct fence is never accused: a write that it accepted was overtaken only by a client whose token
 * was no greater. */
#ifndef BENCH_MEASURE_STORE_H
#define BENCH_MEASURE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One for each key (each cell); zeroed = empty. Only functions of store.c use the members. */
struct guarded {
    _Alignas(64) uint64_t token; /* the greatest that was installed */
    uint64_t entry;              /* the number of the last client that entered */
};

/* Sums over all keys of a stage. */
struct store_counts {
    _Atomic uint64_t stale;          /* stale writes that were tried */
    _Atomic uint64_t stale_rejected; /* rejected by the fence */
    /* accepted by the fence: the lock's tokens did not grow */
    _Atomic uint64_t stale_accepted;
    /* rejected by the fence on entry, although no client entered after the writer: stale, or refused */
    _Atomic uint64_t refused;
};

/* One holder's visit, from its entry to its write. */
struct visit {
    uint64_t token; /* 0 = the grant has none, and nothing is compared */
    uint64_t entry;
    bool fenced;  /* the lock has tokens */
    bool refused; /* the fence rejected the holder's token when it entered */
};

/* Enters. fenced: the lock has tokens. */
struct visit store_enter(struct guarded *key, uint64_t token, bool fenced);
/* Writes and counts. Returns whether the write is one of counts->refused. */
bool store_leave(struct guarded *key, struct store_counts *counts, const struct visit *visit);

struct store_sum {
    uint64_t stale, rejected, accepted, refused;
};

/* The sums when every client has left. rightful: of the writes counts->refused, those of grants that lasted; the others
 * are stale. */
struct store_sum store_judge(const struct store_counts *counts, uint64_t rightful);

#endif
