/* steady: decides whether a stage has become steady, so that measuring longer would show nothing
 * new.
 *
 * It uses fio's rule (ss=iops_slope) over a rolling window of seconds: the least-squares line
 * through them changes from second to second by less than a given part of the mean. The figure is
 * one that the load does not fix: grants a second of a closed loop, the mean time from due to
 * granted of an open loop. */
#ifndef BENCH_RUN_STEADY_H
#define BENCH_RUN_STEADY_H

#include "bench/run/stage.h"

/* Seconds in the rolling window: a third of the planned window, at least 5 and at most 30. */
int steady_seconds(int64_t duration_ns);

/* Looks at the seconds so far and writes the result to stage->steady. True when the stage is
 * steady; false while there are too few seconds, or one of an open loop without a grant. */
bool steady_look(struct stage *stage, const struct plan *plan, int64_t elapsed_ns);

#endif
