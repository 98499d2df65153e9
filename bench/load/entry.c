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

static bool is_writer(const struct client *client) {
    return client->worker->shared->entry == ENTRY_READERS && !client->request.shared;
}

void entry_enter_other(struct client *client, const struct holding *me) {
    struct shared *shared = client->worker->shared;
    bool permits = shared->entry == ENTRY_PERMITS, writes = is_writer(client);
    uint32_t units = permits ? client->request.permits : writes ? CROWD_ALL : 1;
    uint32_t bound = permits ? client->request.bound : CROWD_ALL;
    client->at.cell = &shared->cells[client->key_index];
    client->at.entry = shared_entry;
    if (writes) {
        client->stats->inside = true;
        client->at.entry = cell_enter(client->at.cell, me);
        if (client->at.entry.marks) entry_met(client, &client->at.entry);
    }
    if (!crowd_enter(&shared->crowds, client->key_index, units, bound, me)) mark_met(client);
}

void entry_leave_other(struct client *client, int64_t releasing_ns) {
    struct client_inside *at = &client->at;
    bool met = false;
    if (is_writer(client)) {
        met = !cell_leave(at->cell, client->index, &at->entry, releasing_ns);
    } else {
        atomic_store_explicit(&at->cell->releasing_ns, releasing_ns, memory_order_relaxed);
    }
    if (!crowd_leave(&client->worker->shared->crowds, client->index) || met) entry_was_met(client);
    client->stats->inside = false;
}

void entry_abandon(struct client *client) {
    struct shared *shared = client->worker->shared;
    bool crowd = shared->entry != ENTRY_CELL, cell = !crowd || is_writer(client);
    if (cell && !cell_abandon(client->at.cell, client->index)) client->at.marks |= MARK_MET;
    if (crowd && !crowd_abandon(&shared->crowds, client->index)) client->at.marks |= MARK_MET;
    atomic_fetch_add(&shared->findings.detected, 1);
    client->stats->inside = false;
}

void entry_renewed(struct client *client) {
    struct client_inside *at = &client->at;
    int64_t now_ns = lb_now(), end_ns = client->grant.lease_end_ns;
    if (now_ns > at->lease_end_ns && end_ns > at->lease_end_ns) {
        if (!(at->marks & MARK_LAPSED)) at->lapsed_ns = at->lease_end_ns;
        at->marks |= MARK_LAPSED;
        at->renewed_ns = now_ns;
    }
    at->lease_end_ns = end_ns;
}
