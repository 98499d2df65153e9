/* wall: notices steps of this machine's wall clock during a stage (by time synchronisation, a suspend, or a
 * user who sets it). Servers that time leases by this clock, as Redis does, then end leases early or keep
 * them too long, and a correct lock looks broken.
 *
 * CLOCK_REALTIME is compared with CLOCK_MONOTONIC: if the difference of the two has changed by WALL_STEP_NS or
 * more between two looks, the wall clock has stepped. The usual steering of the clock (by at most 0.05 %) changes
 * less. Steps of servers' clocks by a fault section are not seen: they are offsets in the servers' own
 * processes. */
#ifndef BENCH_RUN_WALL_H
#define BENCH_RUN_WALL_H

#include <stdint.h>

#define WALL_STEP_NS INT64_C(10000000) /* less between two looks is steering, or a late look */

struct wall {
    int64_t offset_ns;  /* wall clock minus monotonic clock at the last look; 0 = none yet */
    int64_t step_ns;    /* the sum of all steps; above 0: forward */
    int64_t largest_ns; /* the greatest step, without its sign: steps may cancel out */
};

/* Notes two readings of the clocks that were taken together. */
void wall_note(struct wall *wall, int64_t monotonic_ns, int64_t wall_ns);

/* Reads both clocks and notes them; three readings, some 100 ns. Leaves a pair out that was torn
 * apart because the thread lost its processor between its readings. */
void wall_look(struct wall *wall);

#endif
