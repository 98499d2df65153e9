/* unrecorded: the waits of a stage that its percentiles of acquire lack. */
#ifndef RESULTS_FORMAT_UNRECORDED_H
#define RESULTS_FORMAT_UNRECORDED_H

#include <math.h>
#include <string.h>

#include "results/format/run_read.h"

#define UNRECORDED_SHARE 0.1 /* of the time waited: so much changes the mean, and most of all p99 */

static inline double unrecorded_sum_ns(const struct run_latency *latency) {
    return latency->count > 0 ? latency->count * latency->mean : 0;
}

/* The share of the clients' waiting time in the window that is in no percentile of acquire, because a wait that began
 * in the warm-up is not recorded. It is the least possible share: recorded waits count with their whole length,
 * including the part after the window. The time to open an attempt's own session is not part of these waits. NAN = not
 * known, or no closed loop. */
static inline double unrecorded_share(const struct run_stage *stage) {
    double waited_ns = stage->state_waiting_ns;
    if (!stage->arrival || strcmp(stage->arrival, "closed") != 0) return NAN;
    double recorded_ns = unrecorded_sum_ns(&stage->latency[METRIC_ACQUIRE]) +
                         unrecorded_sum_ns(&stage->latency[METRIC_WAIT_FAILED]);
    return waited_ns > 0 ? 1 - recorded_ns / waited_ns : NAN;
}

/* "at least N %": never rounded up. */
static inline double unrecorded_per_cent(double share) {
    return floor(100 * share + 1e-6);
}

#endif
