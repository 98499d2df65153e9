/* entry: a client with a grant enters the memory that the lock guards, and leaves it before the release; both steps
 * check exclusion, and mark a grant that failed a check (client->at.marks). The memory is one cell, or a crowd of shared
 * holders. To be called on the client's fiber only. */
#ifndef BENCH_LOAD_ENTRY_H
#define BENCH_LOAD_ENTRY_H

#include "bench/load/client.h"

/* The client begins to want the key, at stamps.started_ns. */
void entry_ask(struct client *client);

/* The client enters; to be called right after acquire returned, at stamps.acquired_ns. Fills client->at.entry,
 * and counts the trials. */
void entry_enter(struct client *client);

/* The grants that ended while this client waited for the key, without those that another waiter has counted. During
 * each of them the lock had to keep this client out, so each is a trial of exclusion. The true count may be greater:
 * of permits, and of the readers' grants that a writer waited for, only the last one is counted. */
uint64_t entry_trials(const struct client *client);

/* The client writes and leaves; to be called right before it calls release at releasing_ns. */
void entry_leave(struct client *client, int64_t releasing_ns);

/* The client leaves without writing, because it has learned that it lost the grant. */
void entry_abandon(struct client *client);

/* A renewal moved grant.lease_end_ns. */
void entry_renewed(struct client *client);

#endif
