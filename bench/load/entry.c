/* entry: see entry.h. */
#include "bench/load/entry.h"

/* The entry of a grant that several holders may share. It is not known which release enabled this grant, so it has no
 * previous holder and no handoff. */
static const struct entry shared_entry = {.run = 1};

static void mark_met(struct client *client) {
    if (client->at.marks & MARK_MET) return;
    atomic_fetch_add(&client->worker->shared->findings.met, 1);
    client->at.marks |= MARK_MET;
    client->at.left_ns = 0;
    client->stats->met = true;
}

void entry_met(struct client *client, const struct entry *entry) {
    struct shared *shared = client->worker->shared;
    bool met = entry->marks & MARK_MET;
    if (met && !atomic_load(&shared->client[entry->found - 1].doomed)) mark_met(client);
    /* Who stood still between its stamp and its entry may come in after its lease. */
    if ((entry->marks & MARK_OLD_TOKEN) && lb_now() < client->at.lease_end_ns)
        client->at.marks |= MARK_OLD_TOKEN;
}

/* It held until now, since release has not been called: so its time and that of the other one overlap in the record,
 * too. */
void entry_was_met(struct client *client) {
    client->at.marks |= MARK_MET;
    client->at.left_ns = lb_now();
    client->stats->met = true;
}

static struct cell *enter_cell(struct client *client, uint32_t key, const struct holding *me,
                               struct entry *ret_entry) {
    struct cell *cell = &client->worker->shared->cells[key];
    *ret_entry = cell_enter(cell, me);
    if (ret_entry->marks) entry_met(client, ret_entry);
    return cell;
}

static bool is_writer(const struct client *client) {
    return client->worker->shared->entry == ENTRY_READERS && !client->request.shared;
}

static void enter_crowd(struct client *client, uint32_t units, uint32_t bound,
                        const struct holding *me) {
    struct shared *shared = client->worker->shared;
    if (!crowd_enter(&shared->crowds, client->key_index, units, bound, me)) mark_met(client);
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
    case ENTRY_READERS:
        client->at.cell = &shared->cells[key];
        if (is_writer(client)) {
            client->stats->inside = 1;
            enter_cell(client, key, me, &client->at.entry);
        } else {
            client->at.entry = shared_entry;
        }
        enter_crowd(client, is_writer(client) ? CROWD_ALL : 1, CROWD_ALL, me);
        break;
    case ENTRY_PERMITS:
        client->at.cell = &shared->cells[key];
        client->at.entry = shared_entry;
        enter_crowd(client, (uint32_t)client->request.permits, (uint32_t)client->request.bound, me);
        break;
    }
}

static void leave_cell(struct client *client, struct cell *cell, const struct entry *entry,
                       int64_t releasing_ns) {
    if (!cell_leave(cell, client->index, entry, releasing_ns)) entry_was_met(client);
}

void entry_leave_other(struct client *client, int64_t releasing_ns) {
    struct shared *shared = client->worker->shared;
    switch (client->worker->shared->entry) {
    case ENTRY_CELL:
        break;
    case ENTRY_CELLS:
        for (int i = 1; i < client->request.key_count; i++) {
            leave_cell(client, &shared->cells[client->request.keys[i].index],
                       &client->keys->entry[i], releasing_ns);
        }
        leave_cell(client, client->at.cell, &client->at.entry, releasing_ns);
        break;
    case ENTRY_READERS:
    case ENTRY_PERMITS:
        if (is_writer(client)) {
            leave_cell(client, client->at.cell, &client->at.entry, releasing_ns);
        } else {
            atomic_store_explicit(&client->at.cell->releasing_ns, releasing_ns,
                                  memory_order_relaxed);
        }
        if (!crowd_leave(&shared->crowds, client->index)) entry_was_met(client);
        break;
    }
    client->stats->inside = 0;
}

static void abandon_cell(struct client *client, struct cell *cell) {
    if (!cell_abandon(cell, client->index)) client->at.marks |= MARK_MET;
}

void entry_abandon(struct client *client) {
    struct shared *shared = client->worker->shared;
    uint32_t count = 1;
    if (shared->entry == ENTRY_CELLS) {
        count = (uint32_t)client->request.key_count;
        for (uint32_t i = 1; i < count; i++) {
            abandon_cell(client, &shared->cells[client->request.keys[i].index]);
        }
    }
    bool beside =
        shared->entry == ENTRY_PERMITS || (shared->entry == ENTRY_READERS && !is_writer(client));
    if (!beside) abandon_cell(client, client->at.cell);
    bool crowd = beside || shared->entry == ENTRY_READERS;
    if (crowd && !crowd_abandon(&shared->crowds, client->index)) client->at.marks |= MARK_MET;
    atomic_fetch_add(&shared->findings.detected, count);
    client->stats->inside = 0;
}

void entry_renewed(struct client *client) {
    struct client_place *at = &client->at;
    int64_t now_ns = lb_now(), end_ns = client->grant.lease_end_ns;
    if (now_ns > at->lease_end_ns && end_ns > at->lease_end_ns) {
        if (!(at->marks & MARK_LAPSED)) at->lapsed_ns = at->lease_end_ns;
        at->marks |= MARK_LAPSED;
        at->renewed_ns = now_ns;
    }
    at->lease_end_ns = end_ns;
}
