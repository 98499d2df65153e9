/* tick: a job that should run once at each tick (load.tick). Every client tries at each tick of one clock; each client
 * that is granted runs the job. The figure is the number of runs for each tick. A job can run twice although the lock
 * excludes correctly: a late client asks for the lock after the first holder has released it. */
#ifndef BENCH_LOAD_TICK_H
#define BENCH_LOAD_TICK_H

#include "bench/load/observe.h"

/* The number of ticks that lie wholly in the window, and how many of them had no run of the job, one run, or
 * several. */
struct tick_counts {
    uint64_t ticks, none, once, more;
};

/* The number of ticks that a stage of this plan has, from the begin of the load; 0 = the plan has no ticks. */
uint32_t tick_count(const struct plan *plan);

/* Set when the client's next attempt is due: tick_first at the first tick, tick_next at the first tick after the
 * client's last attempt. A client that is busy at a tick leaves the tick out. */
void tick_first(struct client *client);
void tick_next(struct client *client);

/* Counts grants as runs of the job of the client's tick. */
extern const struct observer tick_observer;

/* After the load. */
struct tick_counts tick_sum(const struct shared *shared);

#endif
