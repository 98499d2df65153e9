/* steady: has a stage come to rest, so that measuring on would tell no more?
 *
 * fio's rule (ss=iops_slope) over a rolling window of seconds: the least-squares line through them
 * changes from second to second by less than so many per cent of the mean. Looked at is what the
 * load does not fix by itself: grants a second of a closed loop, the mean time from due to granted
 * of an open one. */
#ifndef BENCH_RUN_STEADY_H
#define BENCH_RUN_STEADY_H

#include "bench/run/stage.h"

/* Seconds in the rolling window: a third of the longest run, 5 to 30. */
int steady_seconds(int64_t duration_ns);

/* Looks at the seconds so far and notes what it sees in stage->steady. True when the stage is
 * steady; false while there are too few seconds, or one of an open loop in which nobody was
 * granted. */
bool steady_look(struct stage *stage, const struct plan *plan, int64_t elapsed_ns);

#endif
