/* client: one simulated user of a lock: a fiber that connects, loads, drains and goes.
 *
 * client.c has its life and the attempt; session.c what it calls the lock through, guard.c what it
 * enters with a grant, hold.c what it does with it. Latches go in rounds (latch.c), optimistic
 * locks in tries (update.c). */
#ifndef BENCH_LOAD_CLIENT_H
#define BENCH_LOAD_CLIENT_H

#include "bench/load/shared.h"
#include "bench/workload/schedule.h"
#include "drivers/gate.h"
#include "drivers/wait.h"

#define CLIENT_PAUSE_NS (20 * LB_MS_NS) /* after an attempt that could not even ask */

struct session;

/* What the clients of one thread have in common. */
struct worker {
    struct shared *shared;
    struct worker_stats *stats;
    int thread;
    /* open loop: the next due slot, for whoever is free; NULL in closed loop */
    struct schedule *schedule;
};

/* What an attempt that takes several keys at once needs besides. */
struct client_keys {
    struct lb_key key[LB_KEYS_MAX];
    struct entry entry[LB_KEYS_MAX]; /* of the second and later ones */
    char name[LB_KEYS_MAX][KEY_TEXT_MAX];
};

struct client {
    struct worker *worker;
    struct client_stats *stats;
    struct turns *turns; /* NULL = not kept */
    struct session *session;
    uint32_t index; /* over all threads and processes */
    struct lb_request request;
    struct lb_grant grant;
    struct lb_fiber *fiber; /* to be woken when the phase moves on */
    enum guard guard;       /* what its grants let it into */
    struct cell *cell;      /* that it is in, or was in last */
    struct entry entry;

    /* While it holds: a renewal or the session's end may tell it that it does no more. */
    bool holding;
    bool asleep;          /* holding, and to be woken when told */
    enum lb_outcome told; /* LB_OK = nothing */
    int64_t told_ns;
    struct gate gate; /* its releases and renewals pass one at a time */
    /* findings.holders[].doubled and .stalled when its grant began */
    uint32_t found_at, stalled_at;
    bool was_found; /* somebody came in while it was there */
    /* of its grant's keys, those whose grant the history has: a bit each */
    uint8_t recorded;
    uint8_t went; /* how it went, for the history: OPLOG_UNCALLED ... */

    /* an attempt's outcome is unknown: something of it may still be held ... */
    bool unsettled;
    int64_t unsettled_until_ns; /* ... until its lease ends at the latest */
    int64_t next_ns;            /* closed loop: when the next attempt is due; 0 = at once */
    int64_t ended_ns;           /* the last stamp taken */
    struct lb_rng rng;          /* keys, hold, think */
    uint32_t key_index;
    char key[KEY_TEXT_MAX];
    struct client_keys *keys; /* NULL = one at a time */
    /* of the guarded store, one a key of the grant; NULL = there is none */
    struct visit *visits;
};

/* Prepares client `index` of a session; fiber comes later. 0, or -1 when out of memory. */
int client_init(struct client *client, struct worker *worker, struct session *session,
                uint32_t index);
void client_done(struct client *client);

/* The fiber's body. */
void client_run(void *client);

/* Takes the thread's processor time at the window's two ends; now_ns: a fresh stamp. Costs two
 * comparisons. */
void worker_mark(struct worker *worker, int64_t now_ns);

/* ---- for the attempts of all kinds ---- */

static inline int64_t stage_begin_ns(const struct shared *shared) {
    return atomic_load_explicit(&shared->window_begin_ns, memory_order_relaxed);
}

static inline int64_t stage_end_ns(const struct shared *shared) {
    return atomic_load_explicit(&shared->window_end_ns, memory_order_relaxed);
}

/* Draws the attempt's key, or keys. */
void client_choose(struct client *client);

/* When an attempt that started then has to give up. */
int64_t client_deadline_ns(const struct client *client, int64_t started_ns);

static inline void client_count_one(_Atomic uint64_t *counter) {
    /* One writer: no locked instruction is needed. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* Counts the outcome of an attempt in the window. */
static inline void client_count(struct client *client, enum lb_outcome outcome) {
    struct worker_stats *stats = client->worker->stats;
    client_count_one(&stats->attempts);
    client_count_one(&stats->outcomes[outcome]);
}

/* Records a grant that was waited for, and an attempt that was given none. */
static inline void client_granted(struct client *client, int64_t waited_ns) {
    struct client_stats *stats = client->stats;
    recorder_add(&client->worker->stats->recorder, METRIC_ACQUIRE, waited_ns);
    stats->grants++;
    if (client->request.shared) stats->shared_grants++;
    if (waited_ns > stats->max_wait_ns) stats->max_wait_ns = waited_ns;
}

void client_failed(struct client *client, int64_t waited_ns);

/* What follows an attempt that ended otherwise than well: the error is kept, the session given up
 * or the client told to settle. */
void client_mend(struct client *client, enum lb_outcome outcome);

/* Between two attempts: lets the supervisor have its figures, and other fibers their turn. */
void client_turn(struct client *client);

#endif
