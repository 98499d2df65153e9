/* metric: the times that are recorded as histograms, their names in results, and their quantiles over all requests.
 * Any thread may call it. */
#ifndef RESULTS_FORMAT_METRIC_H
#define RESULTS_FORMAT_METRIC_H

#include "results/format/hist.h"

enum metric {
    METRIC_ACQUIRE,     /* started to acquired */
    METRIC_ACQUIRE_DUE, /* due to acquired */
    /* started to acquired, of clients that asked as readers, and of those that asked as writers, in
     * stages with readers */
    METRIC_ACQUIRE_SHARED,
    METRIC_ACQUIRE_EXCLUSIVE,
    METRIC_RELEASE, /* releasing to released */
    METRIC_HOLD,    /* acquired to releasing */
    /* from the previous holder's release to this grant, if this client was already waiting; in a
     * read-write lock for writers, after the last holder has left; not for permits */
    METRIC_HANDOFF,
    METRIC_LAG,         /* due to started */
    METRIC_WAIT_FAILED, /* started to the end of an attempt that was not granted */
    METRIC_PING,        /* an empty round trip */
    METRIC_CONNECT,     /* opening a session for an attempt */
    METRIC_HICCUP,      /* how late the engine's own 1 ms timer was */
    METRICS
};

/* "acquire", as in run.json and in tags of .hlog files. */
const char *metric_name(enum metric metric);
/* METRICS if it is no metric's name. */
enum metric metric_named(const char *name);

/* --- the response time of an open loop, from when a request was due until it was granted ---
 *
 * Every request that fell due counts. One that was never granted (missed, timed out, failed) waited
 * longer than any that was: it ranks behind all of them, so a quantile may be "never". A histogram
 * alone has only the requests that were granted, and would reward a lock for giving up. */

/* The quantile (0..1) of `asked` requests, in ns. `granted` has the times of those that were
 * granted within its range; NULL = none was. INFINITY (never) if the quantile is among the requests
 * that were not granted; NAN if there was no request. If asked is below the histogram's count, that
 * count is used. */
double response_quantile(const struct hist *granted, double asked, double quantile);

/* The same, but NAN also if fewer than QUANTILE_ABOVE requests are beyond the quantile, because it would be one of the
 * last few. */
double response_supported_quantile(const struct hist *granted, double asked, double quantile);

#endif
