/* store: the guarded store; see observe.h. */
#include "bench/load/observe.h"

#include "bench/load/session.h"

void store_shape(struct shared *shape) {
    const struct lb_lock *lock = shape->lock->lock;
    bool exclusive = !(lock->caps & LB_CAP_BASELINE) &&
                     (lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK);
    /* A store in one machine's memory does not see the writes of the others. */
    shape->store.kept = shape->plan->store && exclusive && shape->part.count == 0;
    shape->store.fenced = lock->caps & LB_CAP_FENCE;
}

/* The guarded value of the grant's key. */
static struct guarded *value_of(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    return &shared->store.keys[client->at.cell - shared->cells];
}

static void enter_store(struct client *client, void *mine, int64_t started_ns,
                        int64_t acquired_ns) {
    bool fenced = client->worker->shared->store.fenced;
    (void)started_ns, (void)acquired_ns;
    if (!client->request.shared) store_enter(value_of(client), client->grant.token, fenced, mine);
}

static void leave_store(struct client *client, void *mine) {
    struct shared *shared = client->worker->shared;
    if (!client->request.shared && store_leave(value_of(client), &shared->store.counts, mine))
        client->at.marks |= MARK_REFUSED;
}

const struct observer store_observer = {
    .client_bytes = sizeof(struct visit), .entered = enter_store, .leaving = leave_store};
