/* order: see order.h. */
#include "bench/load/order.h"

bool order_applies(const struct lb_lock *lock) {
    return (lock->caps & LB_CAP_FAIR) && lock->primitive != LB_SEMAPHORE;
}

static void note_order(struct client *client, void *mine, int64_t started_ns, int64_t acquired_ns) {
    (void)mine, (void)acquired_ns;
    if (client->request.shared) return;
    _Atomic int64_t *latest = &client->worker->shared->latest_started[client->key_index];
    if (started_ns < atomic_load_explicit(latest, memory_order_relaxed)) {
        client->stats->inversions++;
    } else {
        atomic_store_explicit(latest, started_ns, memory_order_relaxed);
    }
}

const struct observer order_observer = {.entered = note_order};
