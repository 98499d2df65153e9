/* hold: what a client does with a grant: it passes the hold time, and takes the key again inside it
 * where the plan asks for re-entry. */
#ifndef BENCH_LOAD_HOLD_H
#define BENCH_LOAD_HOLD_H

#include "bench/load/client.h"

/* Lasts from the grant until the last release is due; request.held is 1 before and after. Returns LB_OK,
 * or the outcome that ended the hold early; then the caller must not release. *ret_inner: the outcome of
 * an inner acquire that was not granted; untouched if there is none. */
enum lb_outcome hold(struct client *client, int64_t acquired_ns, enum lb_outcome *ret_inner);

#endif
