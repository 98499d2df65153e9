/* file: a history on disk: a header, then records as the threads wrote them, in this machine's byte
 * order. results/README.md has the layout.
 *
 * A thread of the supervisor's process carries the rings to the file, so that neither a slow disk
 * nor a busy supervisor makes workers drop. When the file can't be written any more it stops, says
 * why, and what then finds no room in the rings is dropped and counted. */
#ifndef BENCH_HISTORY_FILE_H
#define BENCH_HISTORY_FILE_H

#include "bench/base/err.h"
#include "bench/history/history.h"

/* What holds must not do; the numbers are the file's. */
enum history_model {
    HISTORY_MUTEX,     /* one at a time */
    HISTORY_REENTRANT, /* the same; its holder may take it again */
    HISTORY_RWLOCK,    /* readers together, or one writer */
    /* at most `bound` permits; with by_slot: one at a time in each of `bound` slots */
    HISTORY_SEMAPHORE,
    HISTORY_MODELS
};

struct history_rules {
    uint32_t model; /* enum history_model */
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

struct history_header {
    char magic[8];         /* HISTORY_MAGIC */
    uint32_t version;      /* 1 */
    uint32_t byte_order;   /* 0x01020304, as the writer has it */
    uint32_t header_bytes; /* records begin there */
    uint32_t record_bytes;
    /* 1 = closed in order; 0 = cut off: what was open then may have been released */
    uint32_t whole;
    uint32_t reserved;
    uint64_t dropped; /* operations that found no room */
    struct history_rules rules;
    char lock[64]; /* its name, NUL-terminated */
};

_Static_assert(sizeof(struct history_header) == 168, "the file's layout");

#define HISTORY_MAGIC "LBHISTRY"
#define HISTORY_RECORDS_MAX 24000000 /* of a file: what can be judged within 2 GB */

struct history_writer;

/* Begins to write. path: NULL = a file without a name. The header's rules may still change: stop
 * takes them anew. NULL with err. */
struct history_writer *history_writer_start(struct history *history, const char *path,
                                            struct lb_err *err);

/* Takes what is left and ends the file; nobody writes into the rings any more. Errors go to err,
 * and what the file could not take stays in the rings. The writer is to be freed all the same. */
void history_writer_stop(struct history_writer *writer, const struct history_rules *rules,
                         const char *lock, struct lb_err *err);
void history_writer_free(struct history_writer *writer);

/* A file to be read. */
struct history_file {
    struct history_header header;
    const struct history_record *records;
    size_t count;
    void *map;
    size_t map_bytes;
};

/* 0, or -1 with err: LB_EXIT_USAGE for what is not a history, LB_EXIT_MACHINE for what can't be
 * read. */
int history_open(struct history_file *file, const char *path, struct lb_err *err);
/* What the writer has written; the writer stays open. */
int history_reopen(struct history_file *file, const struct history_writer *writer,
                   struct lb_err *err);
void history_close(struct history_file *file);

const char *history_model_name(enum history_model model);

#endif
