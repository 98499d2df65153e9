/* store: the guarded store; see observe.h. */
#include "bench/load/observe.h"

#include "bench/load/session.h"

void store_shape(struct shared *shape) {
    const struct lb_lock *lock = shape->lock->lock;
    bool exclusive = !(lock->caps & LB_CAP_BASELINE) &&
                     (lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK);
    /* A store in one machine's memory does not see the writes of the others. */
    shape->store.kept = shape->plan->store && exclusive && !shape->split;
    /* A grant of several keys has the token of the first key only. */
    shape->store.fenced = (lock->caps & LB_CAP_FENCE) && shape->entry != ENTRY_CELLS;
}

static uint32_t cell_index(const struct client *client) {
    return (uint32_t)(client->at.cell - client->worker->shared->cells);
}

/* The guarded value of the i-th key of the grant. */
static struct guarded *key_of(const struct client *client, int i) {
    struct shared *shared = client->worker->shared;
    return &shared->store.keys[i == 0 ? cell_index(client) : client->request.keys[i].index];
}

static int key_count(const struct client *client) {
    return client->worker->shared->entry == ENTRY_CELLS ? client->request.key_count : 1;
}

static void enter_store(struct client *client, void *mine, int64_t started_ns,
                        int64_t acquired_ns) {
    const struct shared *shared = client->worker->shared;
    struct visit *visits = mine;
    (void)started_ns, (void)acquired_ns;
    for (int i = 0; i < key_count(client) && !client->request.shared; i++) {
        store_enter(key_of(client, i), client->grant.token, shared->store.fenced, &visits[i]);
    }
}

static void leave_store(struct client *client, void *mine) {
    struct shared *shared = client->worker->shared;
    struct visit *visits = mine;
    for (int i = 0; i < key_count(client) && !client->request.shared; i++) {
        if (store_leave(key_of(client, i), &shared->store.counts, &visits[i]))
            client->at.marks |= MARK_REFUSED;
    }
}

const struct observer store_observer = {.client_bytes = LB_KEYS_MAX * sizeof(struct visit),
                                        .entered = enter_store,
                                        .leaving = leave_store};
