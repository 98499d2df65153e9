/* account: how attempts of all kinds are counted and recorded, and what follows one that failed.
 *
 * Attempts in the window are accounted so: attempts = ok + busy + timeout + lost + unknown + refused
 * + broken. On the client's fiber only. */
#ifndef BENCH_LOAD_ACCOUNT_H
#define BENCH_LOAD_ACCOUNT_H

#include "bench/engine/loop.h"
#include "bench/load/client.h"

#define CLIENT_PAUSE_NS (20 * LB_MS_NS) /* after an attempt that could not even ask */

/* When an attempt that started then has to give up. */
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

/* Records a grant in the window that was waited for. */
static inline void client_granted(struct client *client, int64_t waited_ns) {
    struct client_stats *stats = client->stats;
    recorder_add(&client->worker->stats->recorder, METRIC_ACQUIRE, waited_ns);
    stats->grants++;
    if (client->request.shared) stats->shared_grants++;
    if (waited_ns > stats->max_wait_ns) stats->max_wait_ns = waited_ns;
}

/* Records an attempt in the window that ended without a grant. */
void client_failed(struct client *client, int64_t waited_ns);

/* After an attempt that ended otherwise than well: keeps the error, gives up the session, or marks
 * the client as one that has to settle. */
void client_mend(struct client *client, enum lb_outcome outcome);

/* After an attempt that could not even ask: rests. */
static inline void client_pause(enum lb_outcome outcome) {
    if (__builtin_expect(outcome == LB_REFUSED || outcome == LB_BROKEN, 0))
        lb_sleep_until(lb_now() + CLIENT_PAUSE_NS);
}

/* Takes the thread's processor time at the window's two ends; now_ns: a fresh stamp. Costs two
 * comparisons. */
void worker_mark(struct worker *worker, int64_t now_ns);

/* Between two attempts: lets the supervisor have its figures, and other fibers run. */
static inline void client_turn(struct client *client) {
    worker_mark(client->worker, client->ended_ns);
    recorder_turn(&client->worker->stats->recorder);
    loop_breathe(client->ended_ns);
}

#endif
