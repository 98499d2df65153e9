/* oplog: the record of every operation of a stage, or of its evidence (bench/load/observe.h), from all its worker
 * threads and processes, to be judged after the stage (judge.h).
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
#include "bench/base/err.h"

enum oplog_kind {
    OPLOG_ACQUIRE = 1, /* called at begin_ns, returned at end_ns */
    OPLOG_RELEASE,     /* the same; the holder stops believing that it holds at begin_ns */
    /* returned at end_ns; lease_end_ns is the new end of everything that the client holds */
    OPLOG_RENEWAL,
    OPLOG_STALL = 5, /* a thread or process stood still from begin_ns to end_ns */
    OPLOG_CUT,       /* an injection ended or cut connections from begin_ns to end_ns */
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
/* flag: of a release: the holder knew of the loss and left without writing, at begin_ns */
#define OPLOG_LEARNED 4
/* flag: of a release: the session that the grant lived by is over */
#define OPLOG_OVER 8
/* flag: of a release: the token of this grant was not greater than that of the holder before */
#define OPLOG_OLD_TOKEN 16
/* flag: of a release: the guarded store refused its token, though nobody entered after it */
#define OPLOG_REFUSED_TOKEN 32

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
    uint32_t permits;
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
 * size, which all processes must see at the same address. all: all operations are recorded, not only evidence. */
size_t oplog_bytes(int threads, bool all);
struct oplog *oplog_init(void *memory, int threads, bool all);

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
 * their number; 0 = there are no more, or none yet. */
size_t oplog_rest(const struct oplog_ring *ring, uint64_t *tail, const struct oplog_record **ret);

/* The number of records, in all rings, that were dropped because there was no room. */
uint64_t oplog_dropped(const struct oplog *oplog);

/* "ok", "busy", ...: the names of the drivers' outcomes. */
const char *oplog_outcome_name(enum oplog_outcome outcome);

/* An oplog on disk: a header, then records as the threads wrote them, in this machine's byte
 * order. results/README.md has the layout.
 *
 * A thread of the supervisor's process moves the records from the rings to the file, so that
 * neither a slow disk nor a busy supervisor makes workers drop records. When the file can't be
 * written any more, the writer stops and says why; records that then find no room in the rings are
 * dropped and counted. */

/* The rule by which holds exclude each other. The numbers are part of the file format. */
enum oplog_model {
    OPLOG_MUTEX,     /* one at a time */
    OPLOG_REENTRANT, /* the same, but the holder may take it again */
    OPLOG_RWLOCK,    /* readers together, or one writer */
    OPLOG_SEMAPHORE, /* at most `bound` permits */
    OPLOG_MODELS
};

struct oplog_rules {
    uint32_t model; /* enum oplog_model */
    uint32_t bound;
    uint32_t clients;
    /* Clients ran on several machines: the greatest error of a time of one against a time of
     * another; 0 = one clock. */
    uint32_t error_ns;
    int64_t lease_ns; /* the lease asked for; 0 = grants have no lease */
    /* a session, and what it holds, may end after this long without a heartbeat; 0 = nothing ends
     * for that reason */
    int64_t session_ns;
    /* a grant may end this long after its connection was cut; LB_NEVER = it does not end for that
     * reason */
    int64_t cut_ns;
    /* begin of the window; reported times count from here. Where the window never began, or the program was killed:
     * when the history began. */
    int64_t begin_ns;
    int64_t end_ns;
};

struct oplog_header {
    char magic[8];         /* OPLOG_MAGIC */
    uint32_t version;      /* 2 */
    uint32_t byte_order;   /* 0x01020304 in the writer's byte order */
    uint32_t header_bytes; /* offset of the first record */
    uint32_t record_bytes;
    /* 1 = closed properly; 0 = cut off: grants open at the end may have been released */
    uint32_t whole;
    uint32_t records; /* of a file that was closed */
    uint64_t dropped; /* operations that were not recorded for lack of room */
    struct oplog_rules rules;
    char lock[64]; /* its name, NUL-terminated */
};

_Static_assert(sizeof(struct oplog_header) == 160, "the file's layout");

#define OPLOG_MAGIC "LBHISTRY"
/* records of one file: 2 GB of memory are enough to judge so many */
#define OPLOG_RECORDS_MAX 24000000

struct oplog_writer;

/* Starts to write. path: NULL = a file without a name. rules and lock are written into the header at once, so that the
 * history can be judged even if the program is killed; oplog_writer_stop writes the rules again, because the window's
 * times are known only then. Returns NULL with err. */
struct oplog_writer *oplog_writer_start(struct oplog *oplog, const char *path,
                                        const struct oplog_rules *rules, const char *lock,
                                        struct lb_err *err);

/* Moves all records to the file, so that the rings are empty. To be called when no thread writes into the rings any
 * more; an error shows when the writer stops. */
void oplog_writer_flush(struct oplog_writer *writer);

/* Moves the remaining records and completes the file; to be called when no thread writes into the
 * rings any more. whole: no records are missing, for example of another machine. Errors go to err, and
 * records that the file could not take stay in the rings. The writer must be freed in any case. */
void oplog_writer_stop(struct oplog_writer *writer, const struct oplog_rules *rules, bool whole,
                       struct lb_err *err);
/* Adds records of another machine to the file, when no thread writes into the rings any more and
 * before oplog_writer_stop. dropped: how many records that machine dropped. 0, or -1 with err. */
int oplog_writer_add(struct oplog_writer *writer, const struct oplog_record *records, size_t count,
                     uint64_t dropped, struct lb_err *err);
/* Ends the writer's thread, which reads the rings, if oplog_writer_stop has not done so. */
void oplog_writer_free(struct oplog_writer *writer);

/* A file that is open for reading. */
struct oplog_file {
    struct oplog_header *header; /* read only */
    const struct oplog_record *records;
    size_t count;
    size_t map_bytes;
};

/* Opens what the writer has written so far; the writer stays open. 0, or -1 with err. */
int oplog_reopen(struct oplog_file *file, const struct oplog_writer *writer, struct lb_err *err);
void oplog_close(struct oplog_file *file);

const char *oplog_model_name(enum oplog_model model);

#endif
