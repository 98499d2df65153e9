/* client: one simulated user of a lock: a fiber that connects, makes attempts until the window ends, and disconnects.
 *
 * life.c is the course of a client, attempt.c one attempt, account.c its figures. A client calls its lock through
 * session.h. With a grant it enters the guarded memory and holds (attempt.c). Attempts of optimistic locks are
 * tries (attempt.c). */
#ifndef BENCH_LOAD_CLIENT_H
#define BENCH_LOAD_CLIENT_H

#include "bench/load/shared.h"
#include "bench/workload/schedule.h"
#include "drivers/gate.h"
#include "drivers/wait.h"

struct session;

#define CLIENTS_OPENING 128 /* the most clients of a thread that open sessions at the same time */

/* The data that the clients of one thread share. */
struct worker {
    struct shared *shared;
    struct worker_stats *stats;
    int thread;
    /* open loop: the next due slot, for the next client that is free; NULL in closed loop */
    struct schedule *schedule;
    /* The last slot was taken late, so slots wait for a client. If the delay began with a stall of the thread, slots
     * that fall due before ours_until_ns wait because of that stall, and not because of the lock. */
    bool behind;
    int64_t ours_until_ns;
    /* At each of these gates one client at a time opens its first session. Without the gates thousands of connections
     * would be opened at once, each of them would be silent for seconds, and servers close a new connection that is
     * silent for a second or two. */
    struct gate opening[CLIENTS_OPENING];
};

/* The memory that the client has entered, or had entered last. */
struct client_inside {
    enum entry_kind kind; /* the stage's: a copy, for the hot path */
    struct cell *cell;
    struct entry entry;
    uint32_t marks;  /* enum mark: of the grant that it has, or had last */
    int64_t left_ns; /* with MARK_MET, on leaving: when it had left; 0 = it was met on entry only */
    int64_t lease_end_ns;
    /* with MARK_LAPSED: the first end of its lease that had passed when it was renewed, and its last renewal of
     * that kind */
    int64_t lapsed_ns, renewed_ns;
    /* when the client began to want the key, and the number of the cell's grant and the cell's releasing_ns at that
     * time (entry_ask); of several tries in a row, those of the first try */
    int64_t asked_ns;
    uint64_t asked_turn;
    int64_t asked_left_ns;
};

/* The stamps of an attempt, of which its figures are made (account.h). */
struct stamps {
    bool measured; /* it belongs to the window */
    bool granted;
    bool
        released; /* the release was called, and answered with success or with the loss of the grant */
    int64_t due_ns;
    int64_t began_ns;   /* before it opened its own session */
    int64_t stood_ns;   /* for how long its thread had stood still until then */
    int64_t started_ns; /* the wait for the lock began */
    /* The acquire call returned, granted or not. Of an update: the read that its write was based on. */
    int64_t acquired_ns;
    int64_t releasing_ns; /* of a grant: the hold ended */
    int64_t ended_ns;     /* it stays until the next attempt ends */
};

/* The state of a client while it holds. A renewal, or the end of its session, may tell the client that it
 * does not hold any more (client_tell). */
struct client_hold {
    bool on;
    bool asleep;          /* its fiber sleeps for the hold; client_tell must wake the fiber */
    enum lb_outcome told; /* the outcome given to client_tell; LB_OK = it was not called */
    int64_t told_ns;
    struct gate gate; /* its releases and renewals pass one at a time */
};

struct client {
    struct worker *worker;
    struct client_stats *stats;
    struct session *session;
    struct lb_fiber *fiber; /* to be woken when the phase moves on */
    /* it sleeps between two attempts; it must be woken if the window ends early */
    bool resting;
    uint32_t index; /* over all threads and processes */
    uint32_t key_index;
    struct lb_request request;
    struct lb_grant grant;
    struct client_inside at;
    struct client_hold hold;
    struct visit visit; /* to the guarded store */
    bool recorded;      /* its grant is, in the stage's oplog */
    int64_t next_ns;    /* closed loop: when the next attempt is due; 0 = at once */
    uint32_t tick;      /* load.tick: the tick of the attempt */
    struct stamps stamps;
    int64_t state_since_ns; /* until then its time is counted, see client_spent */
    /* An attempt's outcome is unknown, so something of it may still be held, at the latest until
     * its lease ends. 0 = nothing is unsettled. */
    int64_t unsettled_until_ns;
    struct lb_rng rng; /* keys, hold, think */
    char key[KEY_TEXT_MAX];
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

/* Of a counter that one thread writes: no locked instruction is needed. */
static inline void count_by(_Atomic uint64_t *counter, uint64_t by) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* attempt.c: acquires the key of client->request, holds, and releases. Returns the outcome, and fills client->stamps in
 * from acquired_ns on. */
enum lb_outcome attempt(struct client *client);

/* The same for optimistic locks: reads, works, writes if no other client has written, and again from the read until the
 * write succeeds or its time is up. */
enum lb_outcome update_attempt(struct client *client);

#endif
