/* cell: the data that a lock guards: one cell for each key, in memory that all clients share. Each use of a
 * cell checks that the lock excludes. Texts for users call it the guarded counter: their cells are those of a check
 * (bench/tools/check/matrix.h).
 *
 * There are three checks, because each of them misses errors that another check finds:
 *   owner word: an atomic exchange on entry must find the word free, and the word must still be there
 *               on leaving. Sees every overlap while it happens.
 *   counter:    read plainly on entry, written plainly plus one on leaving; at the end it must
 *               equal the number of grants. Shows damage, also from overlaps that the owner word
 *               missed.
 *   token:      a fencing token must be greater than the previous one.
 *
 * Nothing is judged here. A grant that fails a check is marked, and its holder records it when it is over; what
 * the grants of an overlap were is decided after the stage.
 *
 * "Plain" means a relaxed load and a relaxed store: the same instructions as plain ones, but a race
 * between them is defined. The checks never accuse a correct lock, because entry and leaving lie
 * inside the time for which the client believes that it holds. */
#ifndef BENCH_MEASURE_CELL_H
#define BENCH_MEASURE_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/base/clock.h"
#include "bench/base/verdict.h"

struct cell {
    _Alignas(64) _Atomic uint64_t owner; /* client + 1; 0 = free */
    _Atomic uint64_t counter;            /* the guarded value */
    _Atomic uint64_t grants;             /* entries, counted atomically */
    /* Only the holder writes these. They are relaxed atomics, because a broken lock makes two
     * holders. */
    _Atomic int64_t releasing_ns; /* when the last holder called release */
    _Atomic int64_t acquired_ns;
    _Atomic uint64_t token;
    _Atomic uint64_t tried; /* the grants before this number are counted as trials: entry_trials */
    _Atomic uint32_t last_client, run; /* the last holder, and how many grants in a row it had */
};

/* What the clients of a stage count while it runs; in shared memory. */
struct findings {
    /* entries while another client was inside: a holder, or one that outlived its lease */
    _Atomic uint64_t met;
    /* cells that holders left without writing, because they had learned of the loss of their grant */
    _Atomic uint64_t detected;
};

/* What makes a grant evidence, which is judged after the stage (bench/oplog/judge.h). */
enum mark {
    MARK_MET = 1 << 0,       /* another client was inside at the same time */
    MARK_OLD_TOKEN = 1 << 1, /* its token was not greater than that of the holder before */
    MARK_REFUSED = 1 << 2,   /* the guarded store refused its token, and nobody entered after it */
    MARK_LAPSED = 1 << 3 /* its lease had ended before it was renewed; alone it is no evidence */
};

/* The facts that a client saw when it entered, for its own figures. */
struct entry {
    uint64_t seen; /* the counter's value */
    uint64_t turn; /* grants of the cell before this one, without those that were given back */
    int64_t releasing_ns; /* when the previous holder called release; 0 = there was none */
    uint32_t run;         /* grants in a row to this client, including this one */
    uint32_t marks;       /* enum mark */
    uint32_t found;       /* who was inside: client + 1; 0 = nobody */
};

/* The holder enters; to be called right after its acquire returned. token: 0 = the grant has none. */
static inline struct entry cell_enter(struct cell *cell, uint32_t client, int64_t acquired_ns,
                                      uint64_t token) {
    uint64_t turn = atomic_fetch_add_explicit(&cell->grants, 1, memory_order_relaxed);
    /* Release: a client that reads this owner word sees that the grant is counted. */
    uint64_t owner =
        atomic_exchange_explicit(&cell->owner, (uint64_t)client + 1, memory_order_acq_rel);
    struct entry entry = {
        .turn = turn,
        .releasing_ns = atomic_load_explicit(&cell->releasing_ns, memory_order_relaxed),
        .seen = atomic_load_explicit(&cell->counter, memory_order_relaxed),
        .run = 1,
        .marks = owner != 0 ? MARK_MET : 0,
        .found = (uint32_t)owner,
    };
    if (atomic_load_explicit(&cell->last_client, memory_order_relaxed) == client) {
        entry.run += atomic_load_explicit(&cell->run, memory_order_relaxed);
    } else {
        atomic_store_explicit(&cell->last_client, client, memory_order_relaxed);
    }
    atomic_store_explicit(&cell->run, entry.run, memory_order_relaxed);
    atomic_store_explicit(&cell->acquired_ns, acquired_ns, memory_order_relaxed);
    if (token) {
        uint64_t last = atomic_load_explicit(&cell->token, memory_order_relaxed);
        if (__builtin_expect(token <= last, 0)) {
            entry.marks |= MARK_OLD_TOKEN;
        } else {
            atomic_store_explicit(&cell->token, token, memory_order_relaxed);
        }
    }
    return entry;
}

/* The holder leaves; to be called right before it calls release at releasing_ns. Returns false if
 * another client entered while the holder was inside. */
static inline bool cell_leave(struct cell *cell, uint32_t client, const struct entry *entry,
                              int64_t releasing_ns) {
    atomic_store_explicit(&cell->counter, entry->seen + 1, memory_order_relaxed);
    atomic_store_explicit(&cell->releasing_ns, releasing_ns, memory_order_relaxed);
    uint64_t mine = (uint64_t)client + 1;
    return atomic_compare_exchange_strong_explicit(&cell->owner, &mine, 0, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* The holder learned that it lost the grant: it leaves without writing and without calling
 * release. Returns as cell_leave does. */
static inline bool cell_abandon(struct cell *cell, uint32_t client) {
    atomic_fetch_sub_explicit(&cell->grants, 1, memory_order_relaxed);
    uint64_t mine = (uint64_t)client + 1;
    return atomic_compare_exchange_strong(&cell->owner, &mine, 0);
}

/* The sums at the end of a stage, when every client has left. For a lock that admits one holder at
 * a time: grants = counter + lost_updates + detected. The judge of the evidence adds the second group. */
struct exclusion {
    enum verdict verdict;
    uint64_t grants, counter, lost_updates;
    /* grants whose holder learned, before it wrote, that it had lost them */
    uint64_t detected;

    /* grants that began while another was inside its lease and session; the same, past one of them */
    uint64_t double_holders, expired_holders;
    uint64_t token_errors; /* tokens that were not greater than an earlier one */
    /* grants that were gone while their lease and session lasted; grants whose session the server ended. Neither is
     * counted in a stage with planned faults, which explain both. */
    uint64_t revoked, ended;

    /* keys that were free but that no client got any more; the supervisor fills this in */
    uint64_t stuck;
    /* waits that the drain limit ended, and for which the lock is the only explanation; the supervisor fills
     * this in, too */
    uint64_t starved;
};

/* The verdict that follows from the counts. */
enum verdict exclusion_verdict(const struct exclusion *exclusion);

struct exclusion cells_sum(const struct cell *cells, uint32_t count,
                           const struct findings *findings);

/* crowd: the check for locks that admit several holders: readers beside readers, permits up to a
 * bound.
 *
 * Each grant has units: a permit has one, a writer has all of them, a reader has one. One word for each key has the
 * sum of the units inside, and the number of alarms: an entry that makes the sum too great raises the alarm in the
 * same step. A holder that finds another number of alarms on leaving than on entry was inside at that moment. So
 * everybody who was inside is marked. */

/* A writer's units, and the bound for readers; more than there are clients. */
#define CROWD_ALL (UINT32_C(1) << 22)
#define CROWD_ALARM (UINT64_C(1) << 48) /* the sum of the units is below it */

/* One for each key. */
struct crowd {
    _Alignas(64) _Atomic uint64_t inside; /* units, and alarms above them */
    _Atomic uint64_t grants;              /* without those of writers, which the cell counts */
};

/* One client's last holding. The client writes it. */
struct presence {
    _Alignas(64) _Atomic int64_t acquired_ns; /* 0 = it is not inside */
    _Atomic uint32_t key, units;
    uint64_t alarms; /* when it had entered */
};

/* The crowds of a stage, in memory that all clients share. */
struct crowds {
    /* one for each key; NULL = the lock admits one holder, and only cells are used */
    struct crowd *crowd;
    struct presence *presence; /* one for each client */
    uint32_t clients;
};

/* The holder enters; to be called right after its acquire returned. bound: CROWD_ALL for readers
 * and writers. Returns false if there are too many now. */
bool crowd_enter(const struct crowds *crowds, uint32_t client, uint32_t key, uint32_t units,
                 uint32_t bound, int64_t acquired_ns);

/* The holder leaves; to be called right before it calls release. Returns false if there were too many at any time
 * while it was inside. */
bool crowd_leave(const struct crowds *crowds, uint32_t client);

/* The holder leaves because it learned that the grant is lost. Returns as crowd_leave does. */
bool crowd_abandon(const struct crowds *crowds, uint32_t client);

/* Takes the units of a killed client out of the crowd; the supervisor calls this. A client that was killed between two
 * stores may leave its units behind: that marks grants, but accuses nobody. */
void crowd_bury(const struct crowds *crowds, uint32_t client);

/* True if any client is inside. */
bool crowd_inside(const struct crowds *crowds, uint32_t key);

/* Adds the crowds' grants to the sums. Crowds guard no counter. */
void crowds_sum(struct exclusion *exclusion, const struct crowds *crowds, uint32_t keys);

/* versions: the check for optimistic locks, which hold nothing: every successful write makes a
 * version of its own. If two writes made the same version, the second one overwrote a value that it
 * had never read. */

/* One for each key. */
struct versions {
    _Alignas(32) _Atomic uint64_t writes;
    _Atomic uint64_t least, greatest; /* 0 = none yet */
};

/* A write succeeded and made this version; 0 = the lock does not say which one, and the write is
 * not checked. */
void versions_add(struct versions *versions, uint64_t version);

/* Adds the writes to the sums, and counts as lost updates the writes that can't have made a version
 * of their own: those beyond the number of versions from the least to the greatest. */
void versions_sum(struct exclusion *exclusion, const struct versions *versions, uint32_t keys);

#endif
