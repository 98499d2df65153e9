/* store: see store.h. */
#include "bench/load/store.h"

#include "bench/load/session.h"

void store_shape(struct shared *shape) {
    const struct lb_lock *lock = shape->lock->lock;
    bool exclusive = shape->guard != GUARD_PERMITS && !(lock->caps & LB_CAP_BASELINE) &&
                     (lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK ||
                      (lock->caps & LB_CAP_SLOTS));
    if (shape->plan->store == STORE_NONE || !exclusive) return;
    shape->has_store = true;
    /* Of several keys a grant's token is the first one's. */
    shape->store_fenced = (lock->caps & LB_CAP_FENCE) && shape->guard != GUARD_CELLS;
    if (shape->plan->store == STORE_BACKEND && shape->store_fenced && shape->slots == 1) {
        shape->store_backend = lock->store;
    }
    if (shape->store_backend) {
        shape->no_hold = false; /* the store's calls are part of it */
    } else if (shape->guard == GUARD_CELL) {
        shape->guard = GUARD_STORE;
    }
}

static uint32_t cell_index(const struct client *client) {
    return (uint32_t)(client->cell - client->worker->shared->cells);
}

/* The store's key of the i-th key of the grant. */
static struct guarded *key_of(const struct client *client, int i) {
    struct shared *shared = client->worker->shared;
    return &shared->store[i == 0 ? cell_index(client) : client->request.keys[i].index];
}

static int key_count(const struct client *client) {
    return client->guard == GUARD_CELLS ? client->request.key_count : 1;
}

void store_come(struct client *client) {
    const struct shared *shared = client->worker->shared;
    for (int i = 0; i < key_count(client); i++) {
        store_enter(key_of(client, i), client->grant.token, shared->store_fenced,
                    &client->visits[i]);
    }
}

void store_go(struct client *client) {
    struct shared *shared = client->worker->shared;
    for (int i = 0; i < key_count(client); i++) {
        store_leave(key_of(client, i), &shared->store_counts, &client->visits[i]);
    }
}

/* What the backend said, as the visit's fence. A session that is over ends the hold. */
static enum lb_outcome take_word(struct visit *visit, enum lb_outcome outcome) {
    visit->fence = outcome == LB_OK     ? FENCE_ACCEPTED
                   : outcome == LB_LOST ? FENCE_REJECTED
                                        : FENCE_UNSURE;
    return outcome == LB_LOST ? LB_OK : outcome;
}

enum lb_outcome store_install(struct client *client) {
    const struct lb_store *store = client->worker->shared->store_backend;
    struct visit *visit = client->visits;
    enum lb_outcome outcome = LB_OK;
    *visit = (struct visit){.token = client->grant.token};
    client_calls(client);
    if (client->told == LB_OK) {
        outcome =
            store->install(&client->session->lb, &client->request, visit->token, &visit->fenced);
        outcome = take_word(visit, outcome);
    }
    client_called(client);
    store_enter_beside(key_of(client, 0), visit);
    return client->told != LB_OK ? client->told : outcome;
}

enum lb_outcome store_save(struct client *client) {
    struct shared *shared = client->worker->shared;
    const struct lb_store *store = shared->store_backend;
    struct visit *visit = client->visits;
    enum lb_outcome outcome = LB_OK;
    client_calls(client);
    bool writes = client->told == LB_OK;
    if (writes) store_write_beside(key_of(client, 0), visit);
    if (writes && visit->fence == FENCE_ACCEPTED) {
        outcome =
            store->write(&client->session->lb, &client->request, visit->token, visit->fenced + 1);
        outcome = take_word(visit, outcome);
    }
    client_called(client);
    if (writes) store_count(key_of(client, 0), &shared->store_counts, visit);
    return client->told != LB_OK ? client->told : outcome;
}

int store_collect(struct shared *shared, struct lb_session *session, struct lb_err *err) {
    const struct lb_store *store = shared->store_backend;
    for (uint32_t i = 0; i < shared->key_count; i++) {
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, i, name);
        if (store->read(session, &request, &shared->store_values[i]) != LB_OK) {
            return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
        }
        if (store->drop(session, &request, err) != 0) return -1;
    }
    shared->store_collected = true;
    return 0;
}

void store_sum(struct stage *stage, const struct shared *shared) {
    if (!shared->store) return;
    stage->store = (struct stage_store){
        .where = shared->store_backend ? "backend" : "memory",
        .fenced = shared->store_fenced,
        .fenced_known = shared->store_fenced && (!shared->store_backend || shared->store_collected),
        .sum = store_judge(shared->store, shared->cell_count, &shared->store_counts,
                           shared->store_values)};
}
