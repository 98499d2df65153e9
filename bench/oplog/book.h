/* book: who held what and when, put together from the records of an oplog: holds and tries.
 *
 * Of each grant the book has the time for which its client certainly held it (from the return of
 * acquire to the call of release), and how much of that time lay inside its lease and its session:
 * all of it where the release reported success.
 * A client that was killed held until its last stamp; a client that never released holds for ever.
 * If records were dropped, a grant whose end is missing ends where it began, so that no overlap is
 * invented. */
#ifndef BENCH_OPLOG_BOOK_H
#define BENCH_OPLOG_BOOK_H

#include "bench/oplog/oplog.h"

enum {
    HOLD_SHARED = 1 << 0,
    /* never inside: the lease had ended before acquire returned (LATE too), or the holder of a grant without a lease
     * learned of the loss and wrote nothing (LEARNED too) */
    HOLD_OUTSIDE = 1 << 1,
    HOLD_LATE = 1 << 2,
    HOLD_LEARNED = 1 << 3,
    HOLD_DEAD = 1 << 4, /* the client was killed */
    HOLD_OPEN = 1 << 5, /* never released */
    /* continues a grant whose lease had ended before it was renewed */
    HOLD_PIECE = 1 << 6,
    /* an acquire whose outcome is unknown: perhaps granted, but the client does not believe that it
     * holds */
    HOLD_GHOST = 1 << 7,
    HOLD_CONTINUED = 1 << 8,  /* a piece follows */
    HOLD_MISORDERED = 1 << 9, /* set by the judge: its token is not greater than an earlier one */
    /* in an oplog of several machines: too short for their clocks to say when it was held */
    HOLD_UNSURE = 1 << 10,
    HOLD_OVER = 1 << 11, /* the holder's driver said that the session was over */
    /* the holder learned of the loss, or of the end of its session, while lease and session lasted by all that is
     * known */
    HOLD_TAKEN = 1 << 12,
    HOLD_OLD_TOKEN =
        1
        << 13, /* its token was not greater than that of the grant before, which may not be here */
    HOLD_REFUSED =
        1 << 14,       /* the guarded store refused its token, though nobody entered after it */
    HOLD_MET = 1 << 15 /* set by the judge: another one began while it was held */
};

/* A grant, or a piece of one. */
struct hold {
    int64_t called_ns;      /* when acquire was called */
    int64_t from_ns, to_ns; /* the client certainly held from .. to; to_ns: LB_NEVER = still open */
    /* when release returned, or the client learned of the loss; LB_NEVER = open */
    int64_t released_ns;
    int64_t lease_end_ns; /* with the renewals; LB_NEVER = no lease */
    int64_t inside_ns;    /* the holder's lease and session lasted until then; at most to_ns */
    uint64_t token;
    uint32_t client, key, permits;
    uint16_t flags;
    uint8_t ended; /* enum oplog_outcome of the release */
};

/* An attempt that ended without a grant. */
struct try {
    int64_t called_ns, returned_ns;
    uint32_t client, key;
    uint8_t outcome;
    bool shared;
};

/* An event that clients first .. first + count - 1 suffered: OPLOG_STALL, OPLOG_CUT or OPLOG_DEATH. */
struct mishap {
    uint8_t kind;
    uint32_t first, count;
    int64_t begin_ns, end_ns;
};

struct book {
    struct oplog_rules rules;
    uint64_t dropped;
    bool whole; /* the record of operations is complete to its end */
    bool narrowed;
    uint64_t ops;
    struct hold *holds;
    struct try *tries;
    struct mishap *mishaps;
    size_t hold_count, hold_room, try_count, try_room, mishap_count, mishap_room;
    struct book_client *clients; /* used while records are added */
};

/* Each returns 0, or -1 with err when out of memory. The records of one client must be added in
 * their order. book_done may be called after a failure, too. */
int book_begin(struct book *book, const struct oplog_rules *rules, struct lb_err *err);
int book_add(struct book *book, const struct oplog_record *records, size_t count,
             struct lb_err *err);
/* Adds all records of a file. The pages of the mapped file are released after they were read. */
int book_add_file(struct book *book, const struct oplog_file *file, struct lb_err *err);
/* Adds the records that the writer could not store, because they are still in the rings. */
int book_add_rings(struct book *book, const struct oplog *oplog, struct lb_err *err);
/* No more records come. Completes the holds. */
void book_end(struct book *book, uint64_t dropped, bool whole);
void book_done(struct book *book);

/* To be called once, after book_end. Makes each hold shorter at both ends by the error of the machines'
 * clocks (rules.error_ns), and each call longer at both ends. So operations that still contradict each
 * other do so for every possible offset of the clocks. No effect on an oplog of one clock. */
void book_narrow(struct book *book);

/* Return the indices of all holds (or tries), sorted by key and then by a time; entries equal in both stay in the order of
 * the array. The caller frees the result. NULL with err when out of memory. order_holds: by their begin, and where that is
 * equal by their end, then by the token; or by the call. */
uint32_t *order_holds(const struct book *book, bool by_call, struct lb_err *err);
uint32_t *order_tries_returned(const struct book *book, struct lb_err *err);

/* The first place, among tries in the order of order_tries_returned, of those of the key or of a greater one. */
size_t order_first_try(const struct book *book, const uint32_t *tries, uint32_t key);

#endif
