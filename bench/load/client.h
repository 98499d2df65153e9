/* client: one simulated user of a lock: a fiber that connects, loads, drains and goes.
 *
 * life.c has its course and attempt.c the attempt. A client calls its lock through session.h; entry.h has what a
 * grant lets the client into, and hold.h what the client does with the grant. Latches go in rounds (latch.c),
 * optimistic locks in tries (update.c). */
#ifndef BENCH_LOAD_CLIENT_H
#define BENCH_LOAD_CLIENT_H

#include "bench/load/shared.h"
#include "bench/workload/schedule.h"
#include "drivers/gate.h"
#include "drivers/wait.h"

struct session;

#define CLIENTS_OPENING 128 /* of a thread, at the same time, before the load */

/* What the clients of one thread have in common. */
struct worker {
    struct shared *shared;
    struct worker_stats *stats;
    int thread;
    /* open loop: the next due slot, for the next client that is free; NULL in closed loop */
    struct schedule *schedule;
    /* Slots wait for a client: the last slot was taken late. If the delay began with a stall of the thread, slots
     * that fall due before ours_until_ns wait because of the stall. */
    bool behind;
    int64_t ours_until_ns;
    /* Clients open their first session one after the other at each of these gates. Servers give up on a new connection
     * that says nothing for a second or two, and that is what thousands at once would do. */
    struct gate opening[CLIENTS_OPENING];
};

/* What an attempt that takes several keys at once needs besides. */
struct client_keys {
    struct lb_key key[LB_KEYS_MAX];
    struct entry entry[LB_KEYS_MAX]; /* of the second and later ones */
    char name[LB_KEYS_MAX][KEY_TEXT_MAX];
};

/* Where the client is, or was last. */
struct client_place {
    enum entry_kind kind; /* the stage's: a copy, for the hot path */
    struct cell *cell;
    struct entry entry;
    /* findings.holders[].doubled and .excused when its grant began */
    uint32_t found_at, excused_at;
    bool was_found;    /* another client came in while it was there, or perhaps did */
    uint32_t replaced; /* how often another client has replaced its owner word, in all its grants */
    uint32_t abandoned; /* cells that it left without writing; 0 = it called release */
    /* since when it wants the key, and which of the cell's grants it was then (entry_turn); of several
     * tries in a row, the first one's */
    int64_t asked_ns;
    uint64_t asked_turn;
};

/* Its grant while it holds: a renewal or the session's end may tell the client that it holds no
 * more. */
struct client_hold {
    bool on;
    bool asleep;          /* holding, and to be woken when told */
    enum lb_outcome told; /* LB_OK = nothing */
    int64_t told_ns;
    struct gate gate; /* its releases and renewals pass one at a time */
};

struct client {
    struct worker *worker;
    struct client_stats *stats;
    struct session *session;
    struct lb_fiber *fiber; /* to be woken when the phase moves on */
    /* between two attempts, and to be woken when the window ends earlier than it was to */
    bool resting;
    uint32_t index; /* over all threads and processes */
    uint32_t key_index;
    struct lb_request request;
    struct lb_grant grant;
    struct client_place at;
    struct client_hold hold;
    struct reacquire *reacquire; /* NULL = not kept */
    int64_t next_ns;             /* closed loop: when the next attempt is due; 0 = at once */
    uint32_t tick;               /* load.tick: the tick of the attempt */
    int64_t began_ns;            /* when the attempt began, before it opened its own session */
    int64_t stood_ns;            /* for how long its thread had stood still by then */
    int64_t ended_ns;            /* the last stamp taken */
    int64_t state_since_ns;      /* until then its time is counted, see client_spent */
    /* An attempt's outcome is unknown, so something of it may still be held, at the latest until
     * its lease ends. 0 = nothing is unsettled. */
    int64_t unsettled_until_ns;
    struct lb_rng rng; /* keys, hold, think */
    char key[KEY_TEXT_MAX];
    struct client_keys *keys;       /* NULL = one at a time */
    void *observing[OBSERVERS_MAX]; /* the observers' own; observe.h */
};

static inline int64_t stage_begin_ns(const struct shared *shared) {
    return atomic_load_explicit(&shared->window_begin_ns, memory_order_relaxed);
}

static inline int64_t stage_end_ns(const struct shared *shared) {
    return atomic_load_explicit(&shared->window_end_ns, memory_order_relaxed);
}

/* When the last arrival may start. */
static inline int64_t stage_last_start_ns(const struct shared *shared) {
    return lb_after(stage_end_ns(shared), shared->patience_ns);
}

#endif
