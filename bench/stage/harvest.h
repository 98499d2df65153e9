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

/* Makes the histograms, the stage's too, and opens the log, which a part of a stage has not. 0, or -1 with err when out
 * of memory. */
int harvest_begin(struct harvest *harvest, struct stage *stage, struct shared *shared,
                  struct lb_err *err);

/* Closes an interval, which began at stage->harvested_ns (the supervisor sets the first one): a line of the log for each
 * metric, a point of the series. */
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

#endif
