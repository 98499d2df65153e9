/* entry: a client with a grant enters the memory that the lock guards, and leaves it before the release; both steps
 * check exclusion, and mark a grant that failed a check (client->at.marks). The memory is one cell, or a crowd of shared
 * holders. To be called on the client's fiber only. */
#ifndef BENCH_LOAD_ENTRY_H
#define BENCH_LOAD_ENTRY_H

#include "bench/load/client.h"

/* The entry is marked. One that met a client that was killed is not. */
void entry_met(struct client *client, const struct entry *entry);
/* Another client entered while this one was inside. */
void entry_was_met(struct client *client);

/* Enter and leave for entries other than one cell. */
void entry_enter_other(struct client *client, const struct holding *me);
void entry_leave_other(struct client *client, int64_t releasing_ns);

/* The cell of the client's key, where each key has one. */
static inline struct cell *entry_cell(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    return &shared->cells[shared->own_cells ? client->index : client->key_index];
}

/* The client enters; to be called right after acquire returned. Fills client->at.entry. */
static inline void entry_enter(struct client *client, const struct holding *me) {
    client->at.marks = 0;
    client->at.lease_end_ns = me->lease_end_ns;
    if (__builtin_expect(client->at.kind != ENTRY_CELL, 0)) {
        entry_enter_other(client, me);
        return;
    }
    client->at.cell = entry_cell(client);
    client->stats->inside = true;
    client->at.entry = cell_enter(client->at.cell, me);
    if (__builtin_expect(client->at.entry.marks != 0, 0)) entry_met(client, &client->at.entry);
}

/* Whether grants are numbered (turns): where each key has one cell. The cell of a reader/writer lock numbers the
 * grants of writers only. */
static inline bool entry_has_turns(enum entry_kind kind) {
    return kind == ENTRY_CELL || kind == ENTRY_READERS;
}

/* The client begins to want the key at asked_ns. Notes the number of the present holder's grant among all grants of the
 * key; without a holder that of the next grant. It may note a greater number, never a smaller one: a holder's grant is
 * counted before its owner word is seen. */
static inline void entry_ask(struct client *client, int64_t asked_ns) {
    client->at.asked_ns = asked_ns;
    if (!entry_has_turns(client->at.kind)) return;
    const struct cell *cell = entry_cell(client);
    bool held = atomic_load_explicit(&cell->owner, memory_order_acquire) != 0;
    uint64_t turn = atomic_load_explicit(&cell->grants, memory_order_relaxed);
    client->at.asked_turn = held && turn > 0 ? turn - 1 : turn;
    client->at.asked_left_ns = atomic_load_explicit(&cell->releasing_ns, memory_order_relaxed);
}

/* The grants that ended while this client waited for the key, without those that another waiter has counted. During
 * each of them the lock had to keep this client out, so each is a trial of exclusion. The true count may be greater:
 * of permits, and of the readers' grants that a writer waited for, only the last one is counted. */
static inline uint64_t entry_trials(const struct client *client) {
    const struct client_inside *at = &client->at;
    bool reader = at->kind == ENTRY_READERS && client->request.shared;
    bool beside = at->kind == ENTRY_PERMITS || reader; /* its entry is shared_entry */
    int64_t left_ns = beside ? atomic_load_explicit(&at->cell->releasing_ns, memory_order_relaxed)
                             : at->entry.releasing_ns;
    if (left_ns <= at->asked_ns) return 0;
    if (!entry_has_turns(at->kind)) return 1;
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

/* The client writes and leaves; to be called right before it calls release at releasing_ns. */
static inline void entry_leave(struct client *client, int64_t releasing_ns) {
    if (__builtin_expect(client->at.kind != ENTRY_CELL, 0)) {
        entry_leave_other(client, releasing_ns);
        return;
    }
    if (__builtin_expect(
            !cell_leave(client->at.cell, client->index, &client->at.entry, releasing_ns), 0))
        entry_was_met(client);
    client->stats->inside = false;
}

/* The client leaves without writing, because it has learned that it lost the grant. */
void entry_abandon(struct client *client);

/* A renewal moved grant.lease_end_ns. */
void entry_renewed(struct client *client);

#endif
