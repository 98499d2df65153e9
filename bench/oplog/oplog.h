/* oplog: the record of every operation of a stage, from all its worker threads and processes, to be
 * judged after the stage (judge.h).
 *
 * Each thread writes into a ring of its own in the stage's shared mapping, so that nothing is lost
 * when its process is killed; one writer (file.h) moves the records to a file. Memory is bounded:
 * records that find no room are dropped and counted. An acquire is recorded only if there is room
 * for its release too, so no grant is recorded by half.
 *
 * Times are by lb_now(). The format of a record is the format of the file too: results/README.md
 * documents it. */
#ifndef BENCH_OPLOG_OPLOG_H
#define BENCH_OPLOG_OPLOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/clock.h"

enum oplog_kind {
    OPLOG_ACQUIRE = 1, /* called at begin_ns, returned at end_ns */
    OPLOG_RELEASE,     /* the same; the holder stops believing that it holds at begin_ns */
    /* returned at end_ns; lease_end_ns is the new end of everything that the client holds */
    OPLOG_RENEWAL,
    /* at begin_ns the holder learned that its grants are lost (outcome), or perhaps lost */
    OPLOG_TOLD,
    OPLOG_STALL, /* a thread or process stood still from begin_ns to end_ns */
    OPLOG_CUT,   /* an injection ended or cut connections from begin_ns to end_ns */
    /* a process was killed at begin_ns; its clients end at their last stamps */
    OPLOG_DEATH
};

/* In the order of enum lb_outcome. */
enum oplog_outcome {
    OPLOG_OK,
    OPLOG_BUSY,
    OPLOG_TIMEOUT,
    OPLOG_LOST,
    OPLOG_UNKNOWN,
    OPLOG_REFUSED,
    OPLOG_BROKEN,
    OPLOG_OUTCOMES
};

#define OPLOG_SHARED 1 /* flag: held as a reader */
/* flag: a release that was not called, because the grant could not be released any more */
#define OPLOG_UNCALLED 2
/* flag: with OPLOG_UNCALLED: the holder knew of the loss and left without writing, at begin_ns */
#define OPLOG_LEARNED 4

struct oplog_record {
    uint8_t kind, outcome, flags;
    /* acquire: how often the client already held the key; release: how often it still holds the key
     * afterwards; at most 255 */
    uint8_t depth;
    uint32_t client; /* stall, cut, death: the first of several consecutive clients */
    union {
        uint32_t key;
        uint32_t clients; /* stall, cut, death: how many */
    };
    uint16_t permits, slot;
    int64_t begin_ns, end_ns;
    int64_t lease_end_ns; /* LB_NEVER = none */
    uint64_t token;       /* 0 = none */
};
_Static_assert(sizeof(struct oplog_record) == 48, "the file's layout");

/* The ring of one writing thread; one reader takes from it. */
struct oplog_ring {
    _Alignas(64) _Atomic uint64_t head; /* records ever written */
    uint32_t owed;                      /* releases that have room reserved */
    uint32_t room;                      /* records that fit; a power of two */
    _Atomic uint64_t dropped;
    _Alignas(64) _Atomic uint64_t tail; /* records ever taken */
    struct oplog_record *records;
};

/* In the shared mapping: one ring for each worker thread, and one more for the supervisor. */
struct oplog {
    int threads;
    struct oplog_ring rings[]; /* threads + 1 */
};

/* The memory that an oplog of so many threads needs, and its construction in zeroed memory of that
 * size, which all processes must see at the same address. */
size_t oplog_bytes(int threads);
struct oplog *oplog_init(void *memory, int threads);

/* ---- by a worker thread, into its own ring ---- */

/* Records an acquire that was granted. Returns false if it was dropped; then nothing more of this
 * grant may be recorded. */
bool oplog_granted(struct oplog_ring *ring, const struct oplog_record *record);
/* Records the end of a grant: a release, or one that was not called. There is always room for this
 * record. */
void oplog_released(struct oplog_ring *ring, const struct oplog_record *record);
/* Records any other kind. The record is dropped if there is no room. */
void oplog_note(struct oplog_ring *ring, const struct oplog_record *record);

/* ---- for the supervisor's thread ---- */

/* Records an event of clients first .. first + count - 1 from from_ns to to_ns.
 * OPLOG_STALL: the clients stood still (SIGSTOP, or their thread was blocked). May be recorded during the
 * stall with to_ns = LB_NEVER, and again after it.
 * OPLOG_CUT: the clients' connections were ended or cut off, or their server stood still or was gone. Their
 * sessions may end at any time from from_ns on, and so may sessions that begin before to_ns. To be
 * recorded again when the cut is over, like a stall.
 * OPLOG_DEATH: the clients' process was killed at from_ns; to_ns is the same. */
void oplog_mishap(struct oplog *oplog, enum oplog_kind kind, uint32_t first, uint32_t count,
                  int64_t from_ns, int64_t to_ns);

/* Sets *ret to the records of a ring that lie side by side in memory from *tail on, moves *tail past them, and returns
 * their number; 0 = there are no more. To be called when no thread writes into the ring any more. */
size_t oplog_rest(const struct oplog_ring *ring, uint64_t *tail, const struct oplog_record **ret);

/* The number of records, in all rings, that were dropped because there was no room. */
uint64_t oplog_dropped(const struct oplog *oplog);

/* "ok", "busy", ...: the names of the drivers' outcomes. */
const char *oplog_outcome_name(enum oplog_outcome outcome);

#endif
