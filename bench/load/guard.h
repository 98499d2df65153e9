/* guard: what a grant lets its client into, and so the checks of a stage: a cell, several, a
 * slot's, or a crowd. */
#ifndef BENCH_LOAD_GUARD_H
#define BENCH_LOAD_GUARD_H

#include "bench/load/client.h"

/* By what is checked that a lock does what it says, for this plan. */
enum guard guard_of(const struct plan *plan, const struct lb_lock *lock);

/* The ways in and out for guards other than one cell. */
void guard_enter_other(struct client *client, const struct holding *me);
void guard_leave_other(struct client *client, int64_t releasing_ns);

/* The client has been granted the key (client->entry is filled): right after acquire returned. */
static inline void guard_enter(struct client *client, const struct holding *me) {
    struct shared *shared = client->worker->shared;
    if (__builtin_expect(client->guard != GUARD_CELL, 0)) {
        guard_enter_other(client, me);
        return;
    }
    uint32_t place = shared->own_cells ? client->index : client->key_index;
    client->cell = &shared->cells[place];
    client->stats->inside = 1;
    client->entry = cell_enter(client->cell, &shared->findings, place, me);
}

/* It writes and goes, right before it calls release at releasing_ns. */
static inline void guard_leave(struct client *client, int64_t releasing_ns) {
    if (__builtin_expect(client->guard != GUARD_CELL, 0)) {
        guard_leave_other(client, releasing_ns);
        return;
    }
    if (__builtin_expect(!cell_leave(client->cell, client->index, &client->entry, releasing_ns),
                         0)) {
        client->was_found = true;
    }
    client->stats->inside = 0;
}

/* Afterwards, if it was found there: its release said this. */
void guard_was_found(struct client *client, enum lb_outcome outcome);

/* It goes without writing: it has learned that it lost the grant. */
void guard_abandon(struct client *client);

/* A renewal moved grant.lease_end_ns. */
void guard_renewed(struct client *client);

#endif
