/* file: an oplog on disk: a header, then records as the threads wrote them, in this machine's byte
 * order. results/README.md has the layout.
 *
 * A thread of the supervisor's process moves the records from the rings to the file, so that
 * neither a slow disk nor a busy supervisor makes workers drop records. When the file can't be
 * written any more, the writer stops and says why; records that then find no room in the rings are
 * dropped and counted. */
#ifndef BENCH_OPLOG_FILE_H
#define BENCH_OPLOG_FILE_H

#include "bench/base/err.h"
#include "bench/oplog/oplog.h"

/* The rule by which holds exclude each other. The numbers are part of the file format. */
enum oplog_model {
    OPLOG_MUTEX,     /* one at a time */
    OPLOG_REENTRANT, /* the same, but the holder may take it again */
    OPLOG_RWLOCK,    /* readers together, or one writer */
    /* at most `bound` permits; with by_slot: one holder in each of `bound` slots */
    OPLOG_SEMAPHORE,
    OPLOG_MODELS
};

struct oplog_rules {
    uint32_t model; /* enum oplog_model */
    uint32_t bound;
    uint32_t by_slot;
    uint32_t clients;
    uint32_t many_keys; /* one attempt takes several keys */
    /* Clients ran on several hosts: the greatest error of a time of one host against a time of
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
    uint32_t version;      /* 1 */
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

_Static_assert(sizeof(struct oplog_header) == 168, "the file's layout");

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
 * rings any more. whole: no records are missing, for example of another host. Errors go to err, and
 * records that the file could not take stay in the rings. The writer must be freed in any case. */
void oplog_writer_stop(struct oplog_writer *writer, const struct oplog_rules *rules,
                       const char *lock, bool whole, struct lb_err *err);
/* Adds records of another host to the file, when no thread writes into the rings any more and
 * before oplog_writer_stop. dropped: how many records that host dropped. 0, or -1 with err. */
int oplog_writer_add(struct oplog_writer *writer, const struct oplog_record *records, size_t count,
                     uint64_t dropped, struct lb_err *err);
/* Ends the writer's thread, which reads the rings, if oplog_writer_stop has not done so. */
void oplog_writer_free(struct oplog_writer *writer);

/* A file that is open for reading. */
struct oplog_file {
    struct oplog_header header;
    const struct oplog_record *records;
    size_t count;
    void *map;
    size_t map_bytes;
};

/* Returns 0, or -1 with err: LB_EXIT_USAGE if the file is not an oplog, LB_EXIT_MACHINE if it can't
 * be read. */
int oplog_open(struct oplog_file *file, const char *path, struct lb_err *err);
/* Opens what the writer has written so far; the writer stays open. */
int oplog_reopen(struct oplog_file *file, const struct oplog_writer *writer, struct lb_err *err);
void oplog_close(struct oplog_file *file);

const char *oplog_model_name(enum oplog_model model);

#endif
