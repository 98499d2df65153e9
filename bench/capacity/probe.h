/* probe: what one stage says of a promise at its load.
 *
 * All that was due counts: an operation that never started, timed out or failed is over the limit.
 * Waits for one lock queue behind each other, so they are not independent samples: the interval of
 * the quantile is by the spread between parts of the window (results/stats/quantile.h), counted at
 * the limit. Near the edge even these parts depend on each other, so the verdict is for the eye and
 * the search takes a probe as one sample. Where far fewer than allowed are over the limit, nothing is
 * known of the spread at the quantile, and there is no interval. A probe decides nothing about a
 * search. */
#ifndef BENCH_CAPACITY_PROBE_H
#define BENCH_CAPACITY_PROBE_H

#include "bench/capacity/search.h"
#include "bench/run/stage.h"
#include "results/format/capacity_read.h"

/* Which limit of the load generator may have caused the verdict. */
enum probe_limit { PROBE_NOT_LIMITED, PROBE_LATE, PROBE_STOLEN, PROBE_BUSY, PROBE_POOL };

struct probe {
    char stage[96]; /* the stage's id */
    double load;    /* arrivals a second, or clients */
    enum promise_verdict verdict;
    /* LATE and STOLEN also where the promise was kept in spite of it */
    enum probe_limit limit;
    bool measured; /* the figures below are known */
    double quantile_ns, low_ns,
        high_ns; /* NAN: not known; the upper ones also: beyond what was granted. The
                                            interval is NAN where the quantile is far below the limit */
    /* samples: due in the window, or begun in it in a closed loop */
    uint64_t samples, over, missed;
    double wait_mean_ns, hold_mean_ns, handoff_mean_ns; /* NAN where there is none */
    double throughput_per_s;
    /* Open loop. The backlog grew in the window by more than chance explains; grants a second before
     * the window's end, 0 = not known */
    bool grew;
    double served_per_s;
    double span_s; /* warm-up and window together */
};

#define PROBE_LEVEL 0.95

/* Of a stage that was run with ask->promise. */
struct probe probe_read(const struct stage *stage, const struct stage_ask *ask, double load);

/* Whether this machine was so slow that a stage says too little of the lock, and is better run again. */
bool probe_is_spoilt(const struct stage *stage, const struct stage_ask *ask);

/* The same for a search. allowed: the share that may be over the limit. */
struct search_result probe_result(const struct probe *probe, double allowed);

/* In words, for users; NULL for PROBE_NOT_LIMITED. */
const char *probe_limit_text(enum probe_limit limit);

#endif
