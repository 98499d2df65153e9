/* entry: what a grant lets its client into, and so the checks of a stage: a cell, several, a slot's,
 * or a crowd of shared holders. On the client's fiber only. */
#ifndef BENCH_LOAD_ENTRY_H
#define BENCH_LOAD_ENTRY_H

#include "bench/load/client.h"

/* The ways in and out for entries other than one cell. */
void entry_enter_other(struct client *client, const struct holding *me);
void entry_leave_other(struct client *client, int64_t releasing_ns);

/* The client has been granted the key (client->at.entry is filled): right after acquire returned. */
static inline void entry_enter(struct client *client, const struct holding *me) {
    struct shared *shared = client->worker->shared;
    if (__builtin_expect(client->at.kind != ENTRY_CELL, 0)) {
        entry_enter_other(client, me);
        return;
    }
    uint32_t place = shared->own_cells ? client->index : client->key_index;
    client->at.cell = &shared->cells[place];
    client->stats->inside = 1;
    client->at.entry = cell_enter(client->at.cell, &shared->findings, place, me);
}

/* It writes and goes, right before it calls release at releasing_ns. */
static inline void entry_leave(struct client *client, int64_t releasing_ns) {
    if (__builtin_expect(client->at.kind != ENTRY_CELL, 0)) {
        entry_leave_other(client, releasing_ns);
        return;
    }
    if (__builtin_expect(
            !cell_leave(client->at.cell, client->index, &client->at.entry, releasing_ns), 0)) {
        client->at.was_found = true;
    }
    client->stats->inside = 0;
}

/* Afterwards, if it was found there: its release said this. */
void entry_was_found(struct client *client, enum lb_outcome outcome);

/* It goes without writing: it has learned that it lost the grant. */
void entry_abandon(struct client *client);

/* A renewal moved grant.lease_end_ns. */
void entry_renewed(struct client *client);

#endif
