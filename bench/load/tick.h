/* tick: a job once a tick (load.tick): every client tries at each tick of one clock, and what counts is how many of
 * them ran the job of that tick. A grant is a run. A lock can exclude without fault and the job run twice all the
 * same: the first holder was done before a client that was late asked. */
#ifndef BENCH_LOAD_TICK_H
#define BENCH_LOAD_TICK_H

#include "bench/load/observe.h"

/* How often the jobs of the ticks ran that lie in the window as a whole. */
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
