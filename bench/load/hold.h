/* hold: what a client does with a grant: it passes the hold time, and takes the key again inside it
 * where the plan asks for re-entry. */
#ifndef BENCH_LOAD_HOLD_H
#define BENCH_LOAD_HOLD_H

#include "bench/load/client.h"

/* From the grant until the last release is due; request.held is 1 before and after. Returns LB_OK,
 * or the outcome that ended the hold before its time; then nothing is to be released. ret_inner:
 * how an inner acquire ended that was not granted, else untouched. */
enum lb_outcome hold(struct client *client, int64_t acquired_ns, enum lb_outcome *ret_inner);

#endif
