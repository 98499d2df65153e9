/* recovery: combines the oplog of a stage with its log of injections. It computes how long it took until a victim's key
 * was granted again, how many grants were lost, and which grants a fault put to the test. */
#ifndef BENCH_EVIDENCE_RECOVERY_H
#define BENCH_EVIDENCE_RECOVERY_H

#include "bench/faults/faults.h"
#include "bench/load/shared.h"
#include "bench/oplog/book.h"
#include "bench/oplog/judge.h"

struct times {
    int64_t *ns;
    int count, room;
};

struct recovery {
    /* The time from the begin of a fault to the first grant of the victim's key to another client that
     * the victim's grant kept out (not to another reader, beside a reader); for a fault of servers or of
     * all connections, to the first grant of any key. */
    struct times trials;
    struct times crashes; /* of the trials, those of clients that were killed */
    int unrecovered;      /* victims' keys that no client got any more */
    /* victims' keys that were granted again, but may have been free for long, since no client asked for them: no
     * trials */
    int unasked;
    int64_t theory_max_ns; /* by when the lock should be free; -1 = not known, or there is no end */
    uint64_t grants_lost;  /* grants whose holder was told that they were lost */
    bool wakeups_known;
    uint64_t lost_wakeups; /* waits for a free key that lasted longer than half a lease */
};

/* What a stage leaves to be looked at, and what is made of it. */
struct aftermath {
    const struct book *book;
    const uint32_t *order;    /* the book's holds by key and begin */
    struct fault_log *faults; /* their trials are filled in, too */
    const struct shared *shared;
    struct recovery *recovery; /* filled in */
    struct lb_err *err;
    uint32_t
        *tries; /* recovery_compute: by key and the time of their return; NULL without a fault */
};

/* 0, or -1 with err when out of memory. */
int recovery_compute(struct aftermath *after);
void recovery_done(struct recovery *recovery);

/* ---- for trials.c ---- */

static inline const struct hold *hold_at(const struct aftermath *after, size_t nth) {
    return &after->book->holds[after->order[nth]];
}

/* The number behind the last hold of the key whose first hold is there. */
size_t key_end(const struct aftermath *after, size_t begin);

/* A fault that hit a hold, by its number; the key was granted again by number `next`; end: it was not. */
struct hit {
    const struct fault_event *fault;
    uint32_t first, last; /* the clients that the fault hit: without the last */
    size_t nth, next, end;
};

/* The latest time by until_ns, and after the fault, at which another client that the hold kept out is known to have
 * asked for the key; the fault's begin if none did. The grant at hit->next does not count. */
int64_t asked_ns(const struct aftermath *after, const struct hit *hit, int64_t until_ns);

/* Whether the client held when the fault began. A killed holder's last stamp is the end of its hold. */
bool fault_hits_hold(const struct fault_event *fault, const struct hold *hold);

/* The clients that a fault hit: first .. *ret_end - 1. False where it hit no particular client. */
bool fault_victims(const struct fault_event *fault, const struct shared *shared,
                   uint32_t *ret_first, uint32_t *ret_end);

/* fault_trial: which grants a fault put to the test. A fault that hit a holder is a trial of exclusion only if somebody
 * could have met that holder:
 *   - A killed client: another client asked for its key afterwards (it must get it).
 *   - Any other fault of one process, or of its connections: another client asked while the holder was still inside.
 *   - A fault of servers, or of all connections: the servers answered while the holder was still inside and another
 *     client asked (if the fault took them away, or promoted a replica: they granted something since, or had been back
 *     for 100 ms); or they said later, by a release that succeeded, that they still knew the grant.
 *   - Servers that lose their majority, or the others of their cluster: the servers that are left must refuse, so it is
 *     enough that another client asked for a while when the holder was inside.
 * A holder that was told of its loss counts as inside for as long as the plan's mean hold. bench/CHECK.md says the same
 * to users. */

/* Fills in held, outlasted and tested of each fault. */
void fault_trials_count(const struct aftermath *after);

#endif
