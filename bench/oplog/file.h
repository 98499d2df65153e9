/* file: a history on disk: a header, then records as the threads wrote them, in this machine's byte
 * order. results/README.md has the layout.
 *
 * A thread of the supervisor's process carries the rings to the file, so that neither a slow disk
 * nor a busy supervisor makes workers drop. When the file can't be written any more it stops, says
 * why, and what then finds no room in the rings is dropped and counted. */
#ifndef BENCH_OPLOG_FILE_H
#define BENCH_OPLOG_FILE_H

#include "bench/base/err.h"
#include "bench/oplog/oplog.h"

/* What holds must not do; the numbers are the file's. */
enum oplog_model {
    OPLOG_MUTEX,     /* one at a time */
    OPLOG_REENTRANT, /* the same; its holder may take it again */
    OPLOG_RWLOCK,    /* readers together, or one writer */
    /* at most `bound` permits; with by_slot: one at a time in each of `bound` slots */
    OPLOG_SEMAPHORE,
    OPLOG_MODELS
};

struct oplog_rules {
    uint32_t model; /* enum oplog_model */
    uint32_t bound;
    uint32_t by_slot;
    uint32_t clients;
    uint32_t many_keys; /* an attempt takes several keys */
    uint32_t reserved;
    int64_t lease_ns; /* that was asked for; 0 = grants have no lease */
    int64_t
        session_ns; /* after so long without a sign of life a session, and what it holds, may have ended;
                           0 = nothing ends for that */
    int64_t
        cut_ns; /* so long after its connection was cut a grant may have ended; LB_NEVER = it does
                           not end for that */
    int64_t begin_ns; /* of the window; times are told from here */
    int64_t end_ns;
};

struct oplog_header {
    char magic[8];         /* OPLOG_MAGIC */
    uint32_t version;      /* 1 */
    uint32_t byte_order;   /* 0x01020304, as the writer has it */
    uint32_t header_bytes; /* records begin there */
    uint32_t record_bytes;
    /* 1 = closed in order; 0 = cut off: what was open then may have been released */
    uint32_t whole;
    uint32_t reserved;
    uint64_t dropped; /* operations that found no room */
    struct oplog_rules rules;
    char lock[64]; /* its name, NUL-terminated */
};

_Static_assert(sizeof(struct oplog_header) == 168, "the file's layout");

#define OPLOG_MAGIC "LBHISTRY"
#define OPLOG_RECORDS_MAX 24000000 /* of a file: what can be judged within 2 GB */

struct oplog_writer;

/* Begins to write. path: NULL = a file without a name. The header's rules may still change: stop
 * takes them anew. NULL with err. */
struct oplog_writer *oplog_writer_start(struct oplog *history, const char *path,
                                        struct lb_err *err);

/* Takes what is left and ends the file; nobody writes into the rings any more. Errors go to err,
 * and what the file could not take stays in the rings. The writer is to be freed all the same. */
void oplog_writer_stop(struct oplog_writer *writer, const struct oplog_rules *rules,
                       const char *lock, struct lb_err *err);
void oplog_writer_free(struct oplog_writer *writer);

/* A file to be read. */
struct oplog_file {
    struct oplog_header header;
    const struct oplog_record *records;
    size_t count;
    void *map;
    size_t map_bytes;
};

/* 0, or -1 with err: LB_EXIT_USAGE for what is not a history, LB_EXIT_MACHINE for what can't be
 * read. */
int oplog_open(struct oplog_file *file, const char *path, struct lb_err *err);
/* What the writer has written; the writer stays open. */
int oplog_reopen(struct oplog_file *file, const struct oplog_writer *writer, struct lb_err *err);
void oplog_close(struct oplog_file *file);

const char *oplog_model_name(enum oplog_model model);

#endif
