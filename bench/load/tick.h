/* tick: a job once a tick (load.tick): every client tries at each tick of one clock, and what counts is how many of
 * them ran the job of that tick. A grant is a run. A job can run twice although the lock excludes without fault: a
 * client that was late asked for the lock after the first holder had released it. */
#ifndef BENCH_LOAD_TICK_H
#define BENCH_LOAD_TICK_H

#include "bench/load/observe.h"

/* How often the jobs ran, of the ticks that lie wholly in the window: never, once, more than once. */
struct tick_counts {
    uint64_t ticks, none, once, more;
};

/* How many ticks a stage of this plan has, from the begin of the load; 0 = it has none. */
uint32_t tick_count(const struct plan *plan);

/* Sets when the client's next attempt is due: at the first tick, or at the first one that begins after its last
 * attempt. A client that is busy at a tick leaves the tick out. */
void tick_first(struct client *client);
void tick_next(struct client *client);

/* Counts grants as runs of the job of the client's tick. */
extern const struct observer tick_observer;

/* After the load. */
struct tick_counts tick_sum(const struct shared *shared);

#endif
