/* oplog: a record of each operation of a stage, from all its worker threads and processes, to be
 * judged when the stage is over (judge.h).
 *
 * Each thread writes into a ring of its own in the stage's shared mapping, so that nothing is lost
 * when its process is killed; one writer (writer.h) carries the rings to a file. Memory is bounded:
 * what finds no room is dropped and counted, and never half a grant: who may record an acquire has
 * room for its release.
 *
 * Times are by lb_now(). The format of a record is the file's too: results/README.md has it. */
#ifndef BENCH_OPLOG_OPLOG_H
#define BENCH_OPLOG_OPLOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/clock.h"

enum oplog_kind {
    OPLOG_ACQUIRE = 1, /* called at begin_ns, returned at end_ns */
    OPLOG_RELEASE,     /* the same; the holder's belief ends at begin_ns */
    /* returned at end_ns; lease_end_ns is the new one of all that the client holds */
    OPLOG_RENEWAL,
    /* the holder learned at begin_ns that its grants are lost (outcome), or in doubt */
    OPLOG_TOLD,
    OPLOG_STALL, /* a thread or process stood still from begin_ns to end_ns */
    OPLOG_CUT,   /* connections were ended or cut off by a fault from begin_ns to end_ns */
    /* a process was killed at begin_ns; its clients' last stamps are their ends */
    OPLOG_DEATH
};

/* In the order of enum lb_outcome, as drivers give it. */
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

#define OPLOG_SHARED 1 /* flags: as a reader */
#define OPLOG_UNCALLED                                                                             \
    2 /* a release that was not called: the holder could do no more for its grant */
#define OPLOG_LEARNED                                                                              \
    4 /* ... since it knew that it was lost: it left without writing, at begin_ns */

struct oplog_record {
    uint8_t kind, outcome, flags;
    uint8_t
        depth; /* acquire: how often the client held it already; release: how often it still holds it
                        afterwards; at most 255 */
    uint32_t client; /* stall, cut, death: the first of several neighbours */
    union {
        uint32_t key;
        uint32_t clients; /* stall, cut, death: how many */
    };
    uint16_t permits, slot;
    int64_t begin_ns, end_ns;
    int64_t lease_end_ns; /* LB_NEVER = no lease */
    uint64_t token;       /* 0 = none */
};
_Static_assert(sizeof(struct oplog_record) == 48, "the file's layout");

/* One writing thread's; one reader takes from it. */
struct oplog_ring {
    _Alignas(64) _Atomic uint64_t head; /* records ever written */
    uint32_t owed;                      /* releases that have their room reserved */
    uint32_t room;                      /* records that fit; a power of two */
    _Atomic uint64_t dropped;
    _Alignas(64) _Atomic uint64_t tail; /* records ever taken */
    struct oplog_record *records;
};

/* In the shared mapping: a ring a worker thread, and one more for the supervisor. */
struct oplog {
    int threads;
    struct oplog_ring rings[]; /* threads + 1 */
};

/* The memory that a history of so many threads wants, and its beginning in zeroed memory of that
 * size, at an address that all processes see it at. */
size_t oplog_bytes(int threads);
struct oplog *oplog_init(void *memory, int threads);

/* ---- by a worker thread, into its own ring ---- */

/* An acquire that was granted. False: dropped, and then nothing more of this grant may be
 * recorded. */
bool oplog_granted(struct oplog_ring *ring, const struct oplog_record *record);
/* Its end: a release, also one that was not called. Always finds its room. */
void oplog_released(struct oplog_ring *ring, const struct oplog_record *record);
/* Anything else; dropped where there is no room. */
void oplog_note(struct oplog_ring *ring, const struct oplog_record *record);

/* ---- by the supervisor's thread; of clients first .. first + count - 1 ---- */

/* They stood still (SIGSTOP, or their thread did). May be said while it lasts: to_ns = LB_NEVER,
 * and again when it is over. */
void oplog_stall(struct oplog *history, uint32_t first, uint32_t count, int64_t from_ns,
                 int64_t to_ns);
/* Their connections were ended, or cut off, or their server stood still or went away: from then on
 * their sessions live on borrowed time, and so do those that begin until to_ns. To be said again
 * when it is over, as of a stall. */
void oplog_cut(struct oplog *history, uint32_t first, uint32_t count, int64_t from_ns,
               int64_t to_ns);
/* Their process was killed. */
void oplog_death(struct oplog *history, uint32_t first, uint32_t count, int64_t at_ns);

/* "ok", "busy", ...; as drivers' outcomes are called. */
const char *oplog_outcome_name(enum oplog_outcome outcome);

#endif
