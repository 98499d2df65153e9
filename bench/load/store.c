/* store: the guarded store; see observe.h. */
#include "bench/load/observe.h"

#include "bench/load/session.h"

void store_shape(struct shared *shape) {
    const struct lb_lock *lock = shape->lock->lock;
    bool exclusive = shape->entry != ENTRY_PERMITS && !(lock->caps & LB_CAP_BASELINE) &&
                     (lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK ||
                      (lock->caps & LB_CAP_SLOTS));
    if (shape->plan->store == STORE_NONE || !exclusive) return;
    shape->store.kept = true;
    /* A grant of several keys has the token of the first key only. */
    shape->store.fenced = (lock->caps & LB_CAP_FENCE) && shape->entry != ENTRY_CELLS;
    if (shape->plan->store == STORE_BACKEND && shape->store.fenced)
        shape->store.backend = lock->store;
    /* A store in one machine's memory does not see the writes of the others. */
    if (shape->split && !shape->store.backend) shape->store = (struct shared_store){.kept = false};
    if (shape->store.backend) {
        shape->no_hold = false; /* the calls of the store happen during the hold */
    }
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

static void enter_in_memory(struct client *client, void *mine, int64_t started_ns,
                            int64_t acquired_ns) {
    const struct shared *shared = client->worker->shared;
    struct visit *visits = mine;
    (void)started_ns, (void)acquired_ns;
    for (int i = 0; i < key_count(client) && !client->request.shared; i++) {
        store_enter(key_of(client, i), client->grant.token, shared->store.fenced, &visits[i]);
    }
}

static void leave_in_memory(struct client *client, void *mine) {
    struct shared *shared = client->worker->shared;
    struct visit *visits = mine;
    for (int i = 0; i < key_count(client) && !client->request.shared; i++) {
        if (store_leave(key_of(client, i), &shared->store.counts, &visits[i]))
            client->at.marks |= MARK_REFUSED;
    }
}

const struct observer store_in_memory = {.client_bytes = LB_KEYS_MAX * sizeof(struct visit),
                                         .entered = enter_in_memory,
                                         .leaving = leave_in_memory};

/* Notes the backend's answer. A rejected token is an answer too; another failure ends the hold. */
static enum lb_outcome note_answer(struct visit *visit, enum lb_outcome outcome) {
    visit->fence = outcome == LB_OK     ? FENCE_ACCEPTED
                   : outcome == LB_LOST ? FENCE_REJECTED
                                        : FENCE_UNSURE;
    return outcome == LB_LOST ? LB_OK : outcome;
}

static enum lb_outcome install_token(struct client *client, void *mine) {
    const struct shared *shared = client->worker->shared;
    const struct lb_store *store = shared->store.backend;
    struct visit *visit = mine;
    enum lb_outcome outcome = LB_OK;
    if (client->request.shared) return LB_OK;
    *visit = (struct visit){.token = client->grant.token};
    client_calls(client);
    if (client->hold.told == LB_OK) {
        /* The backend keeps one value for each cell, named like the key with the cell's number. */
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, cell_index(client), name);
        outcome = store->install(&client->session->lb, &request, visit->token, &visit->fenced);
        outcome = note_answer(visit, outcome);
        visit->refused = visit->fence == FENCE_REJECTED;
    }
    client_called(client);
    store_enter_beside(key_of(client, 0), visit);
    return client->hold.told != LB_OK ? client->hold.told : outcome;
}

static enum lb_outcome write_value(struct client *client, void *mine) {
    struct shared *shared = client->worker->shared;
    const struct lb_store *store = shared->store.backend;
    struct visit *visit = mine;
    enum lb_outcome outcome = LB_OK;
    if (client->request.shared) return LB_OK;
    client_calls(client);
    bool writes = client->hold.told == LB_OK;
    if (writes) store_write_beside(key_of(client, 0), visit);
    if (writes && visit->fence == FENCE_ACCEPTED) {
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, cell_index(client), name);
        outcome = store->write(&client->session->lb, &request, visit->token, visit->fenced + 1);
        outcome = note_answer(visit, outcome);
    }
    client_called(client);
    if (writes && store_count(key_of(client, 0), &shared->store.counts, visit))
        client->at.marks |= MARK_REFUSED;
    return client->hold.told != LB_OK ? client->hold.told : outcome;
}

const struct observer store_in_backend = {
    .client_bytes = sizeof(struct visit), .begin_hold = install_token, .end_hold = write_value};

int store_prepare(const struct shared *shared, struct lb_session *session, struct lb_err *err) {
    const struct lb_store *store = shared->store.backend;
    return store->setup ? store->setup(session, err) : 0;
}

int store_collect(struct shared *shared, struct lb_session *session, struct lb_err *err) {
    const struct lb_store *store = shared->store.backend;
    for (uint32_t i = 0; i < shared->cell_count; i++) {
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, i, name);
        if (store->read(session, &request, &shared->store.values[i]) != LB_OK)
            return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
        if (store->drop(session, &request, err) != 0) return -1;
    }
    shared->store.collected = true;
    return 0;
}
