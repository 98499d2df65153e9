/* attempt: one attempt of a client, for each kind of lock. */
#ifndef BENCH_LOAD_ATTEMPT_H
#define BENCH_LOAD_ATTEMPT_H

#include "bench/load/client.h"

/* Acquires, holds, releases, and records. due_ns: when the attempt was due. measured: it belongs to
 * the window. */
void attempt(struct client *client, int64_t due_ns, int64_t started_ns, bool measured);

/* Optimistic locks: reads, works, writes if no other client has written, and again from the read
 * until the write succeeds or its time is up. */
void update_attempt(struct client *client, int64_t due_ns, int64_t started_ns, bool measured);

#endif
