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

/* Latches: rounds until the window's end. */
void latch_rounds(struct client *client);

/* hold: what a client does with a grant: it passes the hold time, and takes the key again inside it
 * where the plan asks for re-entry. */

/* Lasts from the grant until the last release is due; request.held is 1 before and after. Returns LB_OK,
 * or the outcome that ended the hold early; then the caller must not release. *ret_inner: the outcome of
 * an inner acquire that was not granted; untouched if there is none. */
enum lb_outcome hold(struct client *client, int64_t acquired_ns, enum lb_outcome *ret_inner);

#endif
