/* kinds: the load of locks that are not simply held. */
#ifndef BENCH_LOAD_KINDS_H
#define BENCH_LOAD_KINDS_H

#include "bench/load/client.h"

/* Optimistic locks: reads, works, writes if nobody else has written, and again from the read until
 * it is written or its time is up. */
void update_attempt(struct client *client, int64_t due_ns, int64_t started_ns, bool measured);

/* Latches: rounds until the window's end. */
void latch_rounds(struct client *client);

#endif
