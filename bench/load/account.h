/* account: counts and records attempts of all kinds, and handles failed attempts.
 *
 * Each attempt in the window has one outcome: attempts = ok + busy + timeout + lost + unknown + refused
 * + broken. Call these functions only on the client's fiber. */
#ifndef BENCH_LOAD_ACCOUNT_H
#define BENCH_LOAD_ACCOUNT_H

#include <stdint.h>

#include "bench/engine/loop.h"
#include "bench/load/client.h"

/* The least and the greatest pause. A recovery is measured late by one pause at most. */
#define CLIENT_PAUSE_NS (20 * LB_MS_NS)
#define CLIENT_PAUSE_MOST_NS (50 * LB_MS_NS)

/* The deadline of an attempt that started at started_ns. */
static inline int64_t client_deadline_ns(const struct client *client, int64_t started_ns) {
    const struct plan *plan = client->worker->shared->plan;
    return plan->mode == MODE_WAIT  ? LB_NEVER
           : plan->mode == MODE_TRY ? 0
                                    : started_ns + plan->timeout_ns;
}

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

/* Counts a grant when it begins, if its attempt belongs to the window. by: 1; or -1, to take back a grant that turned
 * out not to be held. */
static inline void client_count_grant(struct client *client, int64_t by) {
    _Atomic int64_t *granted = &client->worker->stats->granted; /* one writer, as above */
    atomic_store_explicit(granted, atomic_load_explicit(granted, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* Counts a grant by its time. measured: the attempt began in the window. */
static inline void client_count_by_time(struct client *client, int64_t granted_ns, bool measured) {
    const struct shared *shared = client->worker->shared;
    struct worker_stats *stats = client->worker->stats;
    if (granted_ns < stage_begin_ns(shared)) return;
    if (granted_ns < stage_end_ns(shared)) {
        client_count_one(&stats->window_grants);
    } else if (measured) {
        client_count_one(&stats->drain_grants);
    }
}

/* Adds the time since the last such call to the time of one state in client_stats, as far as it lies in the
 * window. The client was in this state for the whole time. until_ns: the present time, by a stamp of the caller. */
static inline void client_spent(struct client *client, int64_t *state_ns, int64_t until_ns) {
    const struct shared *shared = client->worker->shared;
    int64_t begin_ns = stage_begin_ns(shared), end_ns = stage_end_ns(shared);
    int64_t from_ns = client->state_since_ns;
    client->state_since_ns = until_ns;
    if (from_ns < begin_ns) from_ns = begin_ns;
    if (until_ns > end_ns) until_ns = end_ns;
    if (until_ns > from_ns) *state_ns += until_ns - from_ns;
}

/* Notes the end of a wait, granted or not. A wait that began in the warm-up and ends in the window counts with its
 * whole length, because the longest waits are the likeliest to begin before the window. */
static inline void client_waited(struct client *client, int64_t started_ns, int64_t ended_ns) {
    if (ended_ns < stage_begin_ns(client->worker->shared)) return;
    struct client_stats *stats = client->stats;
    if (ended_ns - started_ns > stats->max_wait_ns) stats->max_wait_ns = ended_ns - started_ns;
}

/* Notes that an attempt begins at now_ns. */
static inline void client_begin(struct client *client, int64_t now_ns) {
    client->began_ns = now_ns;
    client->stood_ns = stalls_sum(&client->worker->stats->stalls, now_ns);
}

/* Notes a wait that the drain limit ended, if the attempt had no deadline (MODE_WAIT). outcome: of the acquire call.
 * LB_UNKNOWN counts, too: the client waited for an answer that did not come. */
static inline void client_note_cut_off(struct client *client, enum lb_outcome outcome,
                                       int64_t waited_ns) {
    const struct worker *worker = client->worker;
    struct client_stats *stats = client->stats;
    if (outcome != LB_TIMEOUT && outcome != LB_UNKNOWN) return;
    if (worker->shared->plan->mode != MODE_WAIT || !lb_stopping()) return;
    stats->cut_off_ns = waited_ns;
    stats->cut_off_at_ns = client->ended_ns;
    /* Waits of a driver that blocks its thread by design can't be told from stalls of the thread. */
    if (!(worker->shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD))
        stats->cut_off_stood_ns =
            stalls_sum(&worker->stats->stalls, client->ended_ns) - client->stood_ns;
}

/* Records the wait of an attempt in the window that was granted. */
static inline void client_granted(struct client *client, int64_t waited_ns) {
    struct client_stats *stats = client->stats;
    struct recorder *recorder = &client->worker->stats->recorder;
    recorder_add(recorder, METRIC_ACQUIRE, waited_ns);
    if (__builtin_expect(client->worker->shared->readers > 0, 0)) {
        recorder_add(recorder,
                     client->request.shared ? METRIC_ACQUIRE_SHARED : METRIC_ACQUIRE_EXCLUSIVE,
                     waited_ns);
    }
    stats->grants++;
    if (client->request.shared) stats->shared_grants++;
}

/* Records how late an attempt in the window began, granted or not. */
static inline void client_lagged(struct client *client, int64_t due_ns) {
    if (client->worker->shared->due_apart)
        recorder_add(&client->worker->stats->recorder, METRIC_LAG, client->began_ns - due_ns);
}

/* Records an attempt in the window that ended without a grant. */
static inline void client_failed(struct client *client, int64_t waited_ns) {
    recorder_add(&client->worker->stats->recorder, METRIC_WAIT_FAILED, waited_ns);
}

/* Rests after an attempt that could send no request: for nine times what it took to connect in vain. */
static inline void client_pause(enum lb_outcome outcome, int64_t connecting_ns) {
    if (__builtin_expect(outcome != LB_REFUSED && outcome != LB_BROKEN, 1)) return;
    int64_t pause_ns = 9 * connecting_ns < CLIENT_PAUSE_NS ? CLIENT_PAUSE_NS : 9 * connecting_ns;
    lb_sleep_until(lb_now() + (pause_ns < CLIENT_PAUSE_MOST_NS ? pause_ns : CLIENT_PAUSE_MOST_NS));
}

/* Reads the thread's processor time at the begin and at the end of the window (worker.c); now_ns: the present time. At
 * any other time it costs two comparisons. */
void worker_mark(struct worker *worker, int64_t now_ns);

/* Between two attempts: hands figures to the supervisor, and lets other fibers run. Other fibers run also if the
 * client has just waited for an answer: its next request would otherwise overtake the clients whose messages came
 * together with that answer. (redis-reentrant, 16 clients, one key: the longest run was 367 and 412 grants instead of
 * 17 and 18.) */
static inline void client_turn(struct client *client) {
    worker_mark(client->worker, client->ended_ns);
    recorder_turn(&client->worker->stats->recorder);
    loop_breathe(client->ended_ns);
}

#endif
