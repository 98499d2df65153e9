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

/* The least share of the clients' time of waiting in the window that no percentile of acquire has: a wait
 * that began in the warm-up is in none. Waits that were recorded count with their whole length, with what
 * was after the window: so the share may be greater, never less. Opening an attempt's own session is no
 * part of acquire, nor of these waits. NAN = not known, or no closed loop. */
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
