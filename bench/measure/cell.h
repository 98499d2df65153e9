/* cell: the data that a lock guards: one cell for each key, in memory that all clients share. Each use of a
 * cell checks that the lock excludes. Texts for users call it the guarded counter: their cells are those of a check
 * (bench/tools/check/matrix.h).
 *
 * There are three checks, because each of them misses errors that another check finds:
 *   owner word: an atomic exchange on entry must find the word free. Sees every overlap while it
 *               happens.
 *   counter:    read plainly on entry, written plainly plus one on leaving; at the end it must
 *               equal the number of grants. Shows damage, also from overlaps that the owner word
 *               missed.
 *   token:      a fencing token must be greater than the previous one.
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

/* One of the two clients of an overlap. */
struct holding {
    uint32_t client;
    int64_t acquired_ns, lease_end_ns;
    uint64_t token;
};

/* A worker thread's heartbeat. If the thread stands still for longer than a session lasts, the
 * sessions of its clients end, and so do the grants that live as long as a session. */
struct heartbeat {
    _Alignas(64) _Atomic int64_t beat_ns;
    /* the last gap that was longer than a session; 0 = there was none */
    _Atomic int64_t gap_ns, gap_end_ns;
};

/* When an injection cut a client off from its servers or ended its connections. A grant that the
 * client had at that time ends with its session. */
struct cut {
    _Atomic int64_t from_ns; /* 0 = there was none */
    _Atomic int64_t to_ns;   /* LB_NEVER = it still lasts */
};

#define FOUND_CUTS 4 /* cuts of a client that are kept, see findings_cut */

/* The facts about one client that another client needs when it finds this client in a cell: its grant, and how often
 * that has happened. */
struct found {
    /* The latest grant. The client publishes it before its owner word is in a cell, so that another client
     * never judges an overlap by the lease of an earlier grant. */
    _Alignas(64) _Atomic int64_t acquired_ns, lease_end_ns;
    _Atomic uint64_t token;
    /* how often another client entered a cell while this client was in it */
    _Atomic uint32_t doubled, expired;
    /* the part of `expired` that is excused only if the holder's release says that the grant was
     * lost: the holder's session had ended, or, in a cell, its lease and not the intruder's */
    _Atomic uint32_t excused;
    /* How many clients that replaced this client's owner word have judged that overlap. Until all have, the next
     * grant must not be published: see findings_judged. */
    _Atomic uint32_t judged;
    /* its thread's heartbeat, if its grants end with its session; else NULL */
    const struct heartbeat *heartbeat;
    /* the client was killed, or will be killed now: overlaps with this client are no fault of the lock any
     * more */
    _Atomic bool gone;
    /* its cuts, used if its grants end with its session; the supervisor writes them */
    struct cut cuts[FOUND_CUTS];
    /* When the client asked for the grant that it has. Stored only if its grants end with its
     * session: the session may have ended before the client learned of its grant. 0 = not stored */
    _Atomic int64_t asked_ns;
    /* when the client was told that it lost the grant that it has; 0 = it was not, or the grant has no lease */
    _Atomic int64_t told_ns;
};

/* The findings of the checks over all cells of a stage; in shared memory. */
struct findings {
    _Atomic uint64_t double_holders; /* entries while another client was inside its lease */
    /* entries while another client was inside, where the lease or session of one of the two had ended */
    _Atomic uint64_t expired_holders;
    _Atomic uint64_t token_errors; /* tokens that were not greater than the previous one */
    /* holders that learned of the loss of their grant and left without writing */
    _Atomic uint64_t detected;
    /* grants that were gone while their lease and session lasted; grants whose session the server ended. Neither is
     * counted in a stage with planned faults, which explain both. */
    _Atomic uint64_t revoked, ended;
    /* latches: awaiters that returned before the count was zero, or that the latch kept waiting
     * after it had opened */
    _Atomic uint64_t early;
    _Atomic int first_state; /* 0 = none, 1 = being written, 2 = complete */
    uint32_t first_key;
    struct holding first_holder, first_intruder;
    int64_t session_ns; /* a session lasts at least this long after its thread's last heartbeat */
    /* a session lasts at least this long after a cut; 0 = it ends with its connection */
    int64_t cut_grace_ns;
    struct found *holders; /* one for each client */
    bool by_session;       /* grants end with their client's session: found.asked_ns is stored */
};

/* The facts that a client saw when it entered, for its own figures. */
struct entry {
    uint64_t seen; /* the counter's value */
    uint64_t turn; /* grants of the cell before this one, without those that were given back */
    int64_t releasing_ns; /* when the previous holder called release; 0 = there was none */
    uint32_t run;         /* grants in a row to this client, including this one */
};

/* The kinds of overlap. FOUND_DOUBLED: both clients were inside their leases and sessions. FOUND_EXPIRED: the lease or
 * session of one of them had ended, or the holder had been told of its loss. FOUND_EXCUSED: the same, but the overlap
 * is excused only if the holder's release says that the grant was lost; counted in found.excused, too. */
enum how { FOUND_DOUBLED, FOUND_EXPIRED, FOUND_EXCUSED };

/* Decides by the leases of both, by the heartbeats of their threads, and by the injections that cut
 * them off. A session that ended while its client waited for the grant counts too, because the
 * client learns of that end only after the grant. */
enum how findings_how(const struct findings *findings, const struct holding *holder,
                      const struct holding *intruder);

/* Counts that the intruder entered while the holder was inside. */
void findings_note(struct findings *findings, enum how how, uint32_t key,
                   const struct holding *holder, const struct holding *intruder);

/* Notes that a client is cut off from from_ns on (to_ns = LB_NEVER: until findings_cut_over), or
 * that its connections ended between the two times. The supervisor calls this before another client
 * can get a key that the cut frees. A new cut takes the place of the oldest one that is over; while
 * FOUND_CUTS cuts last, a further one is not noted. */
void findings_cut(struct findings *findings, uint32_t client, int64_t from_ns, int64_t to_ns);
/* Ends the cut that began at from_ns. */
void findings_cut_over(struct findings *findings, uint32_t client, int64_t from_ns, int64_t to_ns);

/* The intruder found the owner's word in the cell of this key. Judges the overlap and counts it. */
void cell_overlap(struct findings *findings, uint32_t key, uint64_t owner,
                  const struct holding *intruder);

/* Whether the lease or the session of this client's grant may have ended by when_ns. */
bool findings_ended(const struct findings *findings, const struct holding *me, int64_t when_ns);

/* Judges a token that is not greater than the last one: an error of the lock, unless the lease or the session of
 * this client has ended by now. The token of a late client may be old; it is for such clients that fencing exists. */
void cell_old_token(struct findings *findings, const struct holding *me);

/* Whether the intruders have judged all overlaps with this client. replaced: how often its owner word was replaced so
 * far (cell_leave or cell_abandon returned false). The client must not publish its next grant before that: an intruder
 * that stood still after it had replaced the owner word would judge the overlap by the wrong grant. */
static inline bool findings_judged(const struct findings *findings, uint32_t client,
                                   uint32_t replaced) {
    const struct found *found = &findings->holders[client];
    return (int32_t)(atomic_load_explicit(&found->judged, memory_order_acquire) - replaced) >= 0;
}

/* Publishes a grant to the clients that may meet its holder; to be called before the holder
 * enters. */
static inline void findings_publish(struct findings *findings, const struct holding *me) {
    struct found *mine = &findings->holders[me->client];
    atomic_store_explicit(&mine->acquired_ns, me->acquired_ns, memory_order_relaxed);
    atomic_store_explicit(&mine->lease_end_ns, me->lease_end_ns, memory_order_relaxed);
    atomic_store_explicit(&mine->token, me->token, memory_order_relaxed);
}

/* The holder enters; to be called right after its acquire returned. */
static inline struct entry cell_enter(struct cell *cell, struct findings *findings, uint32_t key,
                                      const struct holding *me) {
    findings_publish(findings, me);
    uint64_t turn = atomic_fetch_add_explicit(&cell->grants, 1, memory_order_relaxed);
    /* Release: a client that reads this owner word sees the grant, and that the grant is counted. */
    uint64_t owner =
        atomic_exchange_explicit(&cell->owner, (uint64_t)me->client + 1, memory_order_acq_rel);
    if (__builtin_expect(owner != 0, 0)) cell_overlap(findings, key, owner, me);
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
    if (me->token) {
        uint64_t last = atomic_load_explicit(&cell->token, memory_order_relaxed);
        if (__builtin_expect(me->token <= last, 0)) {
            cell_old_token(findings, me);
        } else {
            atomic_store_explicit(&cell->token, me->token, memory_order_relaxed);
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
    /* If another client has replaced our owner word, that client has counted the overlap. */
    uint64_t mine = (uint64_t)client + 1;
    return atomic_compare_exchange_strong_explicit(&cell->owner, &mine, 0, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* The holder learned that it lost the grant: it leaves without writing and without calling
 * release. Returns as cell_leave does. */
bool cell_abandon(struct cell *cell, uint32_t client);

/* Other clients entered `count` times while an excused holder was inside, and the holder's release reported success.
 * So the lock did not notice that the lease or session had ended, and these overlaps are not excused. */
void findings_untold(struct findings *findings, uint32_t client, uint32_t count);

/* A renewal moved the end of the lease. */
static inline void findings_renewed(struct findings *findings, uint32_t client,
                                    int64_t lease_end_ns) {
    atomic_store_explicit(&findings->holders[client].lease_end_ns, lease_end_ns,
                          memory_order_relaxed);
}

/* A client whose grant has no lease learned that its session is over. Only the server knows when the session ended. So
 * the overlaps with this client since its count was `doubled` are counted as expired. Do not call this for a grant with
 * a lease: a client that enters before the lease's end violates exclusion. */
void findings_excuse_told(struct findings *findings, uint32_t client, uint32_t doubled);

/* The sums at the end of a stage, when every client has left. For a lock that admits one holder at
 * a time: grants = counter + lost_updates + detected. */
struct exclusion {
    enum verdict verdict;
    uint64_t grants, counter, lost_updates;
    uint64_t double_holders, expired_holders, token_errors;
    /* keys that were free but that no client got any more; the supervisor fills this in */
    uint64_t stuck;
    /* waits that the drain limit ended, and for which the lock is the only explanation; the supervisor fills
     * this in, too */
    uint64_t starved;
    /* grants whose holder learned, before it wrote, that it had lost them */
    uint64_t detected;
    uint64_t revoked, ended; /* as in struct findings */
    uint64_t early;          /* latches only: see struct findings */
};

/* The verdict that follows from the counts. */
enum verdict exclusion_verdict(const struct exclusion *exclusion);

struct exclusion cells_judge(const struct cell *cells, uint32_t count,
                             const struct findings *findings);

/* Takes the effects of a killed client off the sums. The client never left the cells that it was in (several, if it
 * took several keys at once), so its update is missing in them, and the next holder found its owner word. Takes off at
 * most one lost update and one overlap for each cell. */
void exclusion_excuse(struct exclusion *exclusion, const struct findings *findings, uint32_t client,
                      uint32_t cells);

#endif
