/* guard: see guard.h. */
#include "bench/load/guard.h"

#include "bench/load/store.h"

enum guard guard_of(const struct plan *plan, const struct lb_lock *lock) {
    if (lock->caps & LB_CAP_BASELINE) return GUARD_CELL;
    if (lock->caps & LB_CAP_SLOTS) return GUARD_SLOT;
    if (lock->primitive == LB_SEMAPHORE) return GUARD_PERMITS;
    if (lock->primitive == LB_RWLOCK) return GUARD_READERS;
    return plan->keys_at_once > 1 && (lock->caps & LB_CAP_MULTI) ? GUARD_CELLS : GUARD_CELL;
}

/* Readers take the previous holder's release time but record none, because they share the cell. */
static struct entry entry_beside(const struct cell *cell) {
    return (struct entry){
        .releasing_ns = atomic_load_explicit(&cell->releasing_ns, memory_order_relaxed),
        .run = 1,
    };
}

static struct cell *enter_cell(struct client *client, uint32_t place, const struct holding *me,
                               struct entry *ret_entry) {
    struct shared *shared = client->worker->shared;
    struct cell *cell = &shared->cells[place];
    *ret_entry = cell_enter(cell, &shared->findings, place, me);
    return cell;
}

static bool is_writer(const struct client *client) {
    return client->guard == GUARD_READERS && !client->request.shared;
}

/* Whether it goes into a guarded store in memory. */
static bool is_stored(const struct client *client) {
    return client->visits && !client->worker->shared->store_backend &&
           (client->guard != GUARD_READERS || is_writer(client));
}

void guard_enter_other(struct client *client, const struct holding *me) {
    struct shared *shared = client->worker->shared;
    uint32_t key = client->key_index;
    struct holding no_token = *me; /* of several keys, a grant's token is the first one's */
    no_token.token = 0;
    switch (client->guard) {
    case GUARD_CELL:
        break;
    case GUARD_STORE:
        client->stats->inside = 1;
        client->cell = enter_cell(client, key, me, &client->entry);
        break;
    case GUARD_CELLS:
        client->stats->inside = client->request.key_count;
        for (int i = client->request.key_count - 1; i > 0; i--) {
            enter_cell(client, client->request.keys[i].index, &no_token, &client->keys->entry[i]);
        }
        client->cell = enter_cell(client, key, me, &client->entry);
        break;
    case GUARD_SLOT:
        client->stats->inside = 1;
        client->cell = enter_cell(client, key * shared->slots + client->grant.slot % shared->slots,
                                  me, &client->entry);
        break;
    case GUARD_READERS:
        client->cell = &shared->cells[key];
        if (is_writer(client)) {
            client->stats->inside = 1;
            enter_cell(client, key, me, &client->entry);
        } else {
            client->entry = entry_beside(client->cell);
        }
        crowd_enter(&shared->crowds, &shared->findings, key, is_writer(client) ? CROWD_ALL : 1,
                    CROWD_ALL, me);
        break;
    case GUARD_PERMITS:
        client->cell = &shared->cells[key];
        client->entry = entry_beside(client->cell);
        crowd_enter(&shared->crowds, &shared->findings, key, client->request.permits,
                    client->request.bound, me);
        break;
    }
    if (is_stored(client)) store_come(client);
}

void guard_leave_other(struct client *client, int64_t releasing_ns) {
    struct shared *shared = client->worker->shared;
    if (is_stored(client)) store_go(client);
    switch (client->guard) {
    case GUARD_CELL:
        break;
    case GUARD_CELLS:
        for (int i = 1; i < client->request.key_count; i++) {
            cell_leave(&shared->cells[client->request.keys[i].index], client->index,
                       &client->keys->entry[i], releasing_ns);
        }
        cell_leave(client->cell, client->index, &client->entry, releasing_ns);
        break;
    case GUARD_STORE:
    case GUARD_SLOT:
        cell_leave(client->cell, client->index, &client->entry, releasing_ns);
        break;
    case GUARD_READERS:
    case GUARD_PERMITS:
        if (is_writer(client)) {
            cell_leave(client->cell, client->index, &client->entry, releasing_ns);
        } else {
            atomic_store_explicit(&client->cell->releasing_ns, releasing_ns, memory_order_relaxed);
        }
        crowd_leave(&shared->crowds, client->index, releasing_ns);
        break;
    }
    client->was_found = true; /* perhaps: a look tells */
    client->stats->inside = 0;
}

void guard_was_found(struct client *client, enum lb_outcome outcome) {
    struct shared *shared = client->worker->shared;
    struct found *found = &shared->findings.holders[client->index];
    uint32_t stalled = atomic_load(&found->stalled);
    if (outcome == LB_OK && stalled != client->stalled_at) {
        findings_untold(&shared->findings, client->index, stalled - client->stalled_at);
    }
    /* What it was found at until now is not the next grant's. */
    client->stalled_at = stalled;
    client->found_at = atomic_load(&found->doubled);
    client->was_found = false;
}

void guard_abandon(struct client *client) {
    struct shared *shared = client->worker->shared;
    uint32_t count = 1;
    if (client->guard == GUARD_CELLS) {
        count = (uint32_t)client->request.key_count;
        for (uint32_t i = 1; i < count; i++) {
            cell_abandon(&shared->cells[client->request.keys[i].index], client->index);
        }
    }
    bool beside =
        client->guard == GUARD_PERMITS || (client->guard == GUARD_READERS && !is_writer(client));
    if (!beside) cell_abandon(client->cell, client->index);
    if (beside || client->guard == GUARD_READERS)
        crowd_abandon(&shared->crowds, client->index, lb_now());
    client->stats->inside = 0;
    findings_detected(&shared->findings, client->index, client->found_at, count);
}

void guard_renewed(struct client *client) {
    struct shared *shared = client->worker->shared;
    int64_t end_ns = client->grant.lease_end_ns;
    bool crowd = client->guard == GUARD_READERS || client->guard == GUARD_PERMITS;
    if (crowd) crowd_renewed(&shared->crowds, client->index, end_ns);
    if (!crowd || is_writer(client)) cell_renewed(client->cell, end_ns);
    for (int i = 1; client->guard == GUARD_CELLS && i < client->request.key_count; i++) {
        cell_renewed(&shared->cells[client->request.keys[i].index], end_ns);
    }
}
