/* book: what a history says of who held what and when: its records put together to holds and tries.
 *
 * Of each grant it keeps the time for which its client held it for certain (from the return of
 * acquire to the call of release), and how much of that lay inside its lease and its session. A
 * client that was killed held until its last stamp; one that never released, for ever. Where room
 * was short nothing is made up: a grant whose end was not kept ends where it began. */
#ifndef BENCH_OPLOG_BOOK_H
#define BENCH_OPLOG_BOOK_H

#include "bench/oplog/file.h"

enum {
    HOLD_SHARED = 1 << 0,
    HOLD_OUTSIDE =
        1 << 1, /* it was never inside: its lease had ended before acquire returned (LATE too), or
                              its holder learned the loss and wrote nothing (LEARNED too) */
    HOLD_LATE = 1 << 2,
    HOLD_LEARNED = 1 << 3,
    HOLD_DEAD = 1 << 4, /* its client was killed */
    HOLD_OPEN = 1 << 5, /* never released */
    /* goes on where a renewal came after the lease's end: the same grant as before */
    HOLD_PIECE = 1 << 6,
    HOLD_GHOST = 1 << 7, /* an acquire whose outcome is unknown: perhaps held, by nobody's belief */
    HOLD_CONTINUED = 1 << 8, /* a piece follows */
    HOLD_MISORDERED = 1 << 9 /* the judge's: its token is not greater than one before it */
};

/* A grant, or a piece of one. */
struct hold {
    int64_t called_ns;      /* acquire */
    int64_t from_ns, to_ns; /* held for certain; to: LB_NEVER = open */
    int64_t released_ns;    /* release returned, or the loss was learned; LB_NEVER = open */
    int64_t lease_end_ns;   /* as extended; LB_NEVER = none */
    int64_t inside_ns;      /* until then it was inside; at most to_ns */
    uint64_t token;
    uint32_t client, key; /* by_slot: key * bound + slot */
    uint16_t permits, flags;
    uint8_t ended; /* how: enum oplog_outcome of its release */
    uint8_t depth; /* the deepest re-entry */
};

/* An attempt that was granted nothing. */
struct try {
    int64_t called_ns, returned_ns;
    uint32_t client, key;
    uint16_t permits;
    uint8_t outcome;
    bool shared, inner; /* inner: of a key that it held already */
};

/* Something that happened to clients first .. first + count - 1. */
struct mishap {
    uint8_t kind;
    uint32_t first, count;
    int64_t begin_ns, end_ns;
};

struct book {
    struct oplog_rules rules;
    uint64_t dropped;
    bool whole; /* nothing was cut off at its end */
    uint64_t ops;
    struct hold *holds;
    struct try *tries;
    struct mishap *mishaps;
    size_t hold_count, hold_room, try_count, try_room, mishap_count, mishap_room;
    struct book_client *clients; /* while records come in */
};

/* 0, or -1 with err when out of memory. Records of a client come in their order; book_done may be
 * called after a failure, too. */
int book_begin(struct book *book, const struct oplog_rules *rules, struct lb_err *err);
int book_add(struct book *book, const struct oplog_record *records, size_t count,
             struct lb_err *err);
/* All that is in a file; its pages are given back as they have been read. */
int book_add_file(struct book *book, const struct oplog_file *file, struct lb_err *err);
/* What the writer could not take. */
int book_add_rings(struct book *book, const struct oplog *history, struct lb_err *err);
/* No more records come. */
void book_end(struct book *book, uint64_t dropped, bool whole);
void book_done(struct book *book);

/* Until when a grant may have been held, by anybody's knowledge. */
int64_t hold_gone_ns(const struct book *book, const struct hold *hold);

#endif
