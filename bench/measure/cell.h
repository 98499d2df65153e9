/* cell: what a lock guards, one cell a key, in memory that all clients share; and so the check that
 * it excludes.
 *
 * Three checks, each blind where another sees:
 *   owner word: an atomic exchange on entry must find it free. Sees any overlap while it happens.
 *   counter: plainly read on entry, plainly written plus one on leaving; at the end it must equal the grants.
 * Shows damage done, and overlaps whose owner words crossed. token: a fencing token must be greater
 * than the one before it. "Plain" is a relaxed load and a relaxed store: the same instructions, but
 * a defined race. It never accuses wrongly: entry and leaving lie inside the time for which the
 * client believes that it holds. */
#ifndef BENCH_MEASURE_CELL_H
#define BENCH_MEASURE_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/base/clock.h"

struct cell {
    _Alignas(64) _Atomic uint64_t owner; /* client + 1; 0 = free */
    _Atomic uint64_t counter;            /* the guarded value */
    _Atomic uint64_t grants;             /* entries, counted atomically */
    /* Written by the holder only; relaxed atomics, since a broken lock makes two holders. */
    _Atomic int64_t releasing_ns; /* when the last holder called release */
    _Atomic int64_t acquired_ns, lease_end_ns;
    _Atomic uint64_t token;
    _Atomic uint32_t last_client, run; /* the last holder and its grants in a row */
};

/* One party of an overlap. */
struct holding {
    uint32_t client;
    int64_t acquired_ns, lease_end_ns;
    uint64_t token;
};

/* A thread's sign of life. While it stands still longer than a session lasts without one, the
 * sessions of its clients end, and with them the grants that live as long as a session. */
struct pulse {
    _Alignas(64) _Atomic int64_t beat_ns;
    /* when the last gap began that was longer than a session; 0 = there was none */
    _Atomic int64_t gap_ns;
};

/* When a fault that was done on purpose cut a client off from its servers, or ended its
 * connections: a grant that it had then ends with its session. */
struct cut {
    _Atomic int64_t from_ns; /* 0 = there was none */
    _Atomic int64_t to_ns;   /* LB_NEVER = it lasts */
};

#define FOUND_CUTS 4 /* the last ones are kept */

/* How often a client was found in a cell by another. */
struct found {
    _Atomic uint32_t doubled, expired;
    /* of the expired: its thread stood still, so its session had ended */
    _Atomic uint32_t stalled;
    const struct pulse *pulse; /* its thread's, if its grants end with its session; else NULL */
    /* it was killed, or is about to be: being found no more accuses the lock */
    _Atomic bool gone;
    struct cut cuts[FOUND_CUTS]; /* if its grants end with its session; the supervisor writes */
};

/* What was found, over all cells; shared. */
struct findings {
    _Atomic uint64_t double_holders;  /* entered while another was inside its lease */
    _Atomic uint64_t expired_holders; /* entered while another was there past its lease's end */
    _Atomic uint64_t token_errors;    /* a token that was not greater than the one before */
    /* left without writing, since the holder had learned its loss */
    _Atomic uint64_t detected;
    _Atomic uint64_t early;  /* latches: awaiters that returned before the count was down, or that a
                                         latch kept waiting after it had opened */
    _Atomic int first_state; /* 0 none, 1 being written, 2 there */
    uint32_t first_key;
    struct holding first_holder, first_intruder;
    int64_t session_ns; /* a session lasts so long after its thread's last beat, at least */
    /* so long after a cut a session ends, at least; 0 = with its connection */
    int64_t cut_grace_ns;
    struct found *holders; /* a client each, so that the dead can be excused; NULL = not kept */
};

/* What an entry saw, for the client's own figures. */
struct entry {
    uint64_t seen;        /* the counter */
    uint64_t turn;        /* grants of the cell before this one, but those that were given back */
    int64_t releasing_ns; /* the previous holder's; 0 = there was none */
    uint32_t run;         /* grants in a row to this client, with this one */
};

/* How a client was found by another that came in. */
enum how { FOUND_DOUBLED, FOUND_EXPIRED, FOUND_STALLED };

/* By the lease of either of them, by the pulse of the holder's session, and by what cut it off. */
enum how findings_how(const struct findings *findings, const struct holding *holder,
                      const struct holding *intruder);

/* Notes that the intruder came in while the holder was there. */
void findings_note(struct findings *findings, enum how how, uint32_t key,
                   const struct holding *holder, const struct holding *intruder);

/* A client is cut off from from_ns on (to_ns = LB_NEVER: until findings_cut_over), or its
 * connections ended between the two. By the supervisor, before anybody else can get what that
 * frees. More than FOUND_CUTS that last at the same time are not kept. */
void findings_cut(struct findings *findings, uint32_t client, int64_t from_ns, int64_t to_ns);
/* The one that began at from_ns. */
void findings_cut_over(struct findings *findings, uint32_t client, int64_t from_ns, int64_t to_ns);

void cell_overlap(struct cell *cell, struct findings *findings, uint32_t key, uint64_t owner,
                  const struct holding *intruder);

/* The holder comes in, right after its acquire returned. */
static inline struct entry cell_enter(struct cell *cell, struct findings *findings, uint32_t key,
                                      const struct holding *me) {
    uint64_t owner =
        atomic_exchange_explicit(&cell->owner, (uint64_t)me->client + 1, memory_order_acq_rel);
    if (__builtin_expect(owner != 0, 0)) cell_overlap(cell, findings, key, owner, me);
    uint64_t turn = atomic_fetch_add_explicit(&cell->grants, 1, memory_order_relaxed);
    struct entry entry = {
        .turn = turn,
        .releasing_ns = atomic_load_explicit(&cell->releasing_ns, memory_order_relaxed),
        .seen = atomic_load_explicit(&cell->counter, memory_order_relaxed),
        .run = 1,
    };
    if (atomic_load_explicit(&cell->last_client, memory_order_relaxed) == me->client) {
        entry.run += atomic_load_explicit(&cell->run, memory_order_relaxed);
    } else {
        atomic_store_explicit(&cell->last_client, me->client, memory_order_relaxed);
    }
    atomic_store_explicit(&cell->run, entry.run, memory_order_relaxed);
    atomic_store_explicit(&cell->acquired_ns, me->acquired_ns, memory_order_relaxed);
    atomic_store_explicit(&cell->lease_end_ns, me->lease_end_ns, memory_order_relaxed);
    /* Who comes in after the end of its own lease may well come after a later token: what fencing
     * is for. */
    if (me->token && me->acquired_ns < me->lease_end_ns) {
        uint64_t last = atomic_load_explicit(&cell->token, memory_order_relaxed);
        if (__builtin_expect(me->token <= last, 0)) {
            atomic_fetch_add_explicit(&findings->token_errors, 1, memory_order_relaxed);
        }
        atomic_store_explicit(&cell->token, me->token, memory_order_relaxed);
    }
    return entry;
}

/* The holder goes, right before it calls release at releasing_ns. False if somebody has found it
 * there. */
static inline bool cell_leave(struct cell *cell, uint32_t client, const struct entry *entry,
                              int64_t releasing_ns) {
    atomic_store_explicit(&cell->counter, entry->seen + 1, memory_order_relaxed);
    atomic_store_explicit(&cell->releasing_ns, releasing_ns, memory_order_relaxed);
    /* If it is not ours any more, whoever took it has found us there. */
    uint64_t mine = (uint64_t)client + 1;
    return atomic_compare_exchange_strong_explicit(&cell->owner, &mine, 0, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* The holder has learned that it lost the grant: it goes without writing and without calling
 * release. */
void cell_abandon(struct cell *cell, uint32_t client);

/* A client that stood still was found `count` times, and its release said that all was well: its
 * lock does not notice the end of its session, which excuses nothing. */
void findings_untold(struct findings *findings, uint32_t client, uint32_t count);

/* A renewal moved the lease's end. */
static inline void cell_renewed(struct cell *cell, int64_t lease_end_ns) {
    atomic_store_explicit(&cell->lease_end_ns, lease_end_ns, memory_order_relaxed);
}

/* A client learned its loss before it wrote anything, in `count` cells. It may have been found
 * there since its own findings were `doubled`, but no harm can have come of that, and it knows:
 * those become as if it had outlived a lease. */
void findings_detected(struct findings *findings, uint32_t client, uint32_t doubled,
                       uint32_t count);

/* From good to bad. Expired: the lock did what a lease does, to a holder that outlived it. Stuck: a
 * free key that nobody got any more, which nothing excuses, but which harmed nothing that was
 * guarded. Violated: what was guarded was open to two. */
enum verdict { VERDICT_UNCHECKED, VERDICT_CLEAN, VERDICT_EXPIRED, VERDICT_STUCK, VERDICT_VIOLATED };

/* The end of a stage: everybody has left. grants = counter + lost_updates + detected, where a lock
 * lets one in at a time. */
struct exclusion {
    enum verdict verdict;
    uint64_t grants, counter, lost_updates;
    uint64_t double_holders, expired_holders, token_errors;
    /* keys that were free, but that nobody got any more; filled by the supervisor */
    uint64_t stuck;
    /* grants whose holder learned in time, before it wrote, that it had lost them */
    uint64_t detected;
    uint64_t early;    /* of latches: see findings */
    uint64_t oversold; /* goods that were sold but not there, or whose count does not add up */
};

/* The verdict from the counts. */
enum verdict exclusion_verdict(const struct exclusion *exclusion);

struct exclusion cells_judge(const struct cell *cells, uint32_t count,
                             const struct findings *findings);

/* Takes back what the death of a client, killed with its process, may have done to a judgement: it
 * never left the cells that it was in, several if it took several keys at once, so its update is
 * missing there and the next holder met its ghost. At most one of each a cell. */
void exclusion_excuse(struct exclusion *exclusion, const struct findings *findings, uint32_t client,
                      uint32_t cells);

#endif
