/* harvest: collects the values that the workers of a stage have recorded, interval by interval: into the stage's
 * totals, its series and its .hlog.
 *
 * Only the supervisor's thread calls these functions; the supervisor decides when an interval is over. Values that a
 * worker does not hand over in time count for the next interval. */
#ifndef BENCH_STAGE_HARVEST_H
#define BENCH_STAGE_HARVEST_H

#include <stdio.h>

#include "bench/load/shared.h"
#include "bench/stage/stage.h"
#include "bench/workload/plan.h"
#include "results/format/run_read.h"

/* harvest_done may also be called on a zeroed struct. */
struct harvest {
    struct stage *stage;
    struct shared *shared;
    struct hist *interval[METRICS];
    FILE *hlog;             /* NULL = none is kept, or it was lost: stage->log_err */
    int64_t wall_offset_ns; /* wall clock minus monotonic */
    bool window_over;       /* the series has the last second of the window */
    int64_t told_grants;    /* grants in the window that the series has so far */
    int64_t new_grants;     /* grants of the last point of the series */
};

/* Makes the histograms, the stage's too, and opens the log, which a part of a stage has not. 0, or -1 with err when out of memory. */
int harvest_begin(struct harvest *harvest, struct stage *stage, struct shared *shared,
                  struct lb_err *err);

/* Closes an interval, which began at stage->harvested_ns (the supervisor sets the first one): a line of the log for each metric, a point of the series. */
void harvest_interval(struct harvest *harvest, int64_t end_ns);
/* At the window's end: adds the last point of the series that belongs to the window. The interval goes on, because
 * the log's lines tell their own lengths. */
void harvest_window_end(struct harvest *harvest);
/* The last interval, after the drain. The grants of the drain become a point of their own in the series. alive: no
 * worker process has ended, so all will answer. */
void harvest_last(struct harvest *harvest, int64_t end_ns, bool alive);

/* To be called after the workers' end: adds the values that they did not hand over to the totals. */
void harvest_rest(struct harvest *harvest);

/* Closes the log. */
void harvest_done(struct harvest *harvest);

/* stage_tidy: removes from the server what was created for the stage's keys, and asks the lock what is left, where that
 * is known to be nothing: that figure. At --url all keys of the stage are removed, also keys that would end by themselves,
 * but keys that the user named stay as they are. */
void stage_tidy(struct stage *stage);

/* stage_sum: adds up the figures that clients and workers left in a stage's shared memory, after
 * they have ended. */

/* Fills all members of stage that are sums. The supervisor fills the others: histograms, series, status and times. */
void stage_sum(struct stage *stage, const struct shared *shared);

/* stage_cause: names the figures of a stage that have a known cause in the lock's algorithm (lb_known_cause). A
 * figure that was not measured, or that is within its bound, has no cause; nor has any figure of a stage with faults,
 * or of a stage where no client waited for another. */

/* run.json's .stages[].causes, a text a figure: "Jain: known cause: ...; the option poll_max changes it". New
 * reference, NULL when out of memory. The stage's figures are filled in. */
json_t *stage_causes(const struct run_stage *result, const struct lb_lock *lock);

#endif
