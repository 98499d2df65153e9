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

/* The cell of the client's key, where each key has one. */
static struct cell *cell_of(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    return &shared->cells[shared->own_cells ? client->index : client->key_index];
}

static bool is_writer(const struct client *client) {
    return client->at.kind == ENTRY_READERS && !client->request.shared;
}

/* Grants are numbered (turns) where each key has one cell. The cell of a reader/writer lock numbers the grants of writers
 * only. Notes the number of the present holder's grant among all grants of the key; without a holder that of the next grant.
 * It may note a greater number, never a smaller one: a holder's grant is counted before its owner word is seen. */
void entry_ask(struct client *client) {
    client->at.asked_ns = client->stamps.started_ns;
    if (client->at.kind == ENTRY_PERMITS) return;
    const struct cell *cell = cell_of(client);
    bool held = atomic_load_explicit(&cell->owner, memory_order_acquire) != 0;
    uint64_t turn = atomic_load_explicit(&cell->grants, memory_order_relaxed);
    client->at.asked_turn = held && turn > 0 ? turn - 1 : turn;
    client->at.asked_left_ns = atomic_load_explicit(&cell->releasing_ns, memory_order_relaxed);
}

/* The entry is marked. One that met a client that was killed is not. */
static void note_marks(struct client *client) {
    const struct entry *entry = &client->at.entry;
    bool met = entry->marks & MARK_MET;
    if (met && !atomic_load(&client->worker->shared->client[entry->found - 1].doomed))
        mark_met(client);
    /* Who stood still between its stamp and its entry may come in after its lease. */
    if ((entry->marks & MARK_OLD_TOKEN) && lb_now() < client->at.lease_end_ns)
        client->at.marks |= MARK_OLD_TOKEN;
}

static void enter_crowd(struct client *client) {
    bool permits = client->at.kind == ENTRY_PERMITS;
    uint32_t units = permits ? client->request.permits : is_writer(client) ? CROWD_ALL : 1;
    uint32_t bound = permits ? client->request.bound : CROWD_ALL;
    if (!crowd_enter(&client->worker->shared->crowds, client->index, client->key_index, units,
                     bound, client->stamps.acquired_ns))
        mark_met(client);
}

uint64_t entry_trials(const struct client *client) {
    const struct client_inside *at = &client->at;
    bool reader = at->kind == ENTRY_READERS && client->request.shared;
    bool beside = at->kind == ENTRY_PERMITS || reader; /* its entry is shared_entry */
    int64_t left_ns = beside ? atomic_load_explicit(&at->cell->releasing_ns, memory_order_relaxed)
                             : at->entry.releasing_ns;
    if (left_ns <= at->asked_ns) return 0;
    if (at->kind == ENTRY_PERMITS) return 1;
    uint64_t turn =
        reader ? atomic_load_explicit(&at->cell->grants, memory_order_relaxed) : at->entry.turn;
    /* No writer's grant has ended since, so if one has, it is a reader's. It keeps writers out, but no readers. */
    if (at->kind == ENTRY_READERS && turn == at->asked_turn)
        return !reader && left_ns != at->asked_left_ns;
    uint64_t first = at->asked_turn;
    uint64_t tried = atomic_load_explicit(&at->cell->tried, memory_order_relaxed);
    if (tried > first) first = tried;
    if (turn <= first) return 0;
    atomic_store_explicit(&at->cell->tried, turn, memory_order_relaxed);
    return turn - first;
}

void entry_enter(struct client *client) {
    struct client_inside *at = &client->at;
    bool crowd = at->kind != ENTRY_CELL;
    at->marks = 0;
    at->lease_end_ns = client->grant.lease_end_ns;
    at->cell = cell_of(client);
    if (__builtin_expect(!crowd || is_writer(client), 1)) {
        client->stats->inside = true;
        at->entry =
            cell_enter(at->cell, client->index, client->stamps.acquired_ns, client->grant.token);
        if (__builtin_expect(at->entry.marks != 0, 0)) note_marks(client);
    } else {
        at->entry = shared_entry;
    }
    if (__builtin_expect(crowd, 0)) enter_crowd(client);
    uint64_t trials = entry_trials(client);
    if (trials) client->stats->tested_grants += trials;
}

void entry_leave(struct client *client, int64_t releasing_ns) {
    struct client_inside *at = &client->at;
    bool crowd = at->kind != ENTRY_CELL, met = false;
    if (__builtin_expect(!crowd || is_writer(client), 1)) {
        met = !cell_leave(at->cell, client->index, &at->entry, releasing_ns);
    } else {
        atomic_store_explicit(&at->cell->releasing_ns, releasing_ns, memory_order_relaxed);
    }
    if (__builtin_expect(crowd, 0))
        met |= !crowd_leave(&client->worker->shared->crowds, client->index);
    if (__builtin_expect(met, 0)) {
        at->marks |= MARK_MET;
        /* It held until now, since release has not been called: so its time and that of the other one overlap in the
         * record, too. */
        at->left_ns = lb_now();
        client->stats->met = true;
    }
    client->stats->inside = false;
}

void entry_abandon(struct client *client) {
    struct shared *shared = client->worker->shared;
    bool crowd = client->at.kind != ENTRY_CELL, cell = !crowd || is_writer(client);
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
