/* entry: see entry.h. */
#include "bench/load/entry.h"

/* The entry of a grant that several holders may share. Nobody can tell which release enabled it, so it has no
 * previous holder and no handoff. */
static const struct entry shared_entry = {.run = 1};

static struct cell *enter_cell(struct client *client, uint32_t place, const struct holding *me,
                               struct entry *ret_entry) {
    struct shared *shared = client->worker->shared;
    struct cell *cell = &shared->cells[place];
    *ret_entry = cell_enter(cell, &shared->findings, place, me);
    return cell;
}

static bool is_writer(const struct client *client) {
    return client->worker->shared->entry == ENTRY_READERS && !client->request.shared;
}

void entry_enter_other(struct client *client, const struct holding *me) {
    struct shared *shared = client->worker->shared;
    uint32_t key = client->key_index;
    struct holding no_token = *me; /* a grant of several keys has the token of the first key only */
    no_token.token = 0;
    switch (client->worker->shared->entry) {
    case ENTRY_CELL:
        break;
    case ENTRY_CELLS:
        client->stats->inside = client->request.key_count;
        for (int i = client->request.key_count - 1; i > 0; i--) {
            enter_cell(client, client->request.keys[i].index, &no_token, &client->keys->entry[i]);
        }
        client->at.cell = enter_cell(client, key, me, &client->at.entry);
        /* The grant was possible only when the last of the keys was free. */
        for (int i = 1; i < client->request.key_count; i++) {
            int64_t releasing_ns = client->keys->entry[i].releasing_ns;
            if (releasing_ns > client->at.entry.releasing_ns)
                client->at.entry.releasing_ns = releasing_ns;
        }
        break;
    case ENTRY_SLOT:
        client->stats->inside = 1;
        client->at.cell =
            enter_cell(client, key * shared->slots + client->grant.slot % shared->slots, me,
                       &client->at.entry);
        break;
    case ENTRY_READERS:
        client->at.cell = &shared->cells[key];
        if (is_writer(client)) {
            client->stats->inside = 1;
            enter_cell(client, key, me, &client->at.entry);
        } else {
            client->at.entry = shared_entry;
        }
        crowd_enter(&shared->crowds, &shared->findings, key, is_writer(client) ? CROWD_ALL : 1,
                    CROWD_ALL, me);
        break;
    case ENTRY_PERMITS:
        client->at.cell = &shared->cells[key];
        client->at.entry = shared_entry;
        crowd_enter(&shared->crowds, &shared->findings, key, client->request.permits,
                    client->request.bound, me);
        break;
    }
}

void entry_leave_other(struct client *client, int64_t releasing_ns) {
    struct shared *shared = client->worker->shared;
    switch (client->worker->shared->entry) {
    case ENTRY_CELL:
        break;
    case ENTRY_CELLS:
        for (int i = 1; i < client->request.key_count; i++) {
            cell_leave(&shared->cells[client->request.keys[i].index], client->index,
                       &client->keys->entry[i], releasing_ns);
        }
        cell_leave(client->at.cell, client->index, &client->at.entry, releasing_ns);
        break;
    case ENTRY_SLOT:
        cell_leave(client->at.cell, client->index, &client->at.entry, releasing_ns);
        break;
    case ENTRY_READERS:
    case ENTRY_PERMITS:
        if (is_writer(client)) {
            cell_leave(client->at.cell, client->index, &client->at.entry, releasing_ns);
        } else {
            atomic_store_explicit(&client->at.cell->releasing_ns, releasing_ns,
                                  memory_order_relaxed);
        }
        crowd_leave(&shared->crowds, client->index, releasing_ns);
        break;
    }
    client->at.was_found = true; /* perhaps; entry_was_found looks */
    client->stats->inside = 0;
}

void entry_was_found(struct client *client, enum lb_outcome outcome) {
    struct shared *shared = client->worker->shared;
    struct found *found = &shared->findings.holders[client->index];
    uint32_t excused = atomic_load(&found->excused);
    if (outcome == LB_OK && excused != client->at.excused_at) {
        findings_untold(&shared->findings, client->index, excused - client->at.excused_at);
    }
    /* The next grant counts from here. */
    client->at.excused_at = excused;
    client->at.found_at = atomic_load(&found->doubled);
    client->at.was_found = false;
}

void entry_abandon(struct client *client) {
    struct shared *shared = client->worker->shared;
    uint32_t count = 1;
    if (client->worker->shared->entry == ENTRY_CELLS) {
        count = (uint32_t)client->request.key_count;
        for (uint32_t i = 1; i < count; i++) {
            cell_abandon(&shared->cells[client->request.keys[i].index], client->index);
        }
    }
    bool beside = client->worker->shared->entry == ENTRY_PERMITS ||
                  (client->worker->shared->entry == ENTRY_READERS && !is_writer(client));
    if (!beside) cell_abandon(client->at.cell, client->index);
    if (beside || client->worker->shared->entry == ENTRY_READERS)
        crowd_abandon(&shared->crowds, client->index, lb_now());
    client->stats->inside = 0;
    findings_detected(&shared->findings, client->index, client->at.found_at, count);
}

void entry_renewed(struct client *client) {
    struct shared *shared = client->worker->shared;
    int64_t end_ns = client->grant.lease_end_ns;
    bool crowd = client->worker->shared->entry == ENTRY_READERS ||
                 client->worker->shared->entry == ENTRY_PERMITS;
    if (crowd) crowd_renewed(&shared->crowds, client->index, end_ns);
    findings_renewed(&shared->findings, client->index, end_ns);
}
