/* response: the response time of an open loop, from when a request was due until it was granted.
 *
 * Every request that fell due counts. One that was never granted (missed, timed out, failed) waited
 * longer than any that was: it ranks behind all of them, so a quantile may be "never". A histogram
 * alone has only the requests that were granted, and would reward a lock for giving up.
 *
 * This code records nothing and knows no clock. Any thread may call it. */
#ifndef RESULTS_FORMAT_RESPONSE_H
#define RESULTS_FORMAT_RESPONSE_H

#include "results/format/hist.h"

/* The quantile (0..1) of `asked` requests, in ns. `granted` has the times of those that were
 * granted within its range; NULL = none was. INFINITY (never) if the quantile is among the requests
 * that were not granted; NAN if there was no request. If asked is below the histogram's count, that
 * count is used. */
double response_quantile(const struct hist *granted, double asked, double quantile);

/* The same, but NAN also if fewer than QUANTILE_ABOVE requests are beyond the quantile, because it would be one of the
 * last few. */
double response_supported_quantile(const struct hist *granted, double asked, double quantile);

#endif
