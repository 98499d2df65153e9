/* steal: the processor time that a virtual machine wanted and its host gave to others.
 *
 * Whoever was to run then, client or server, stood still, and the latencies show it as if it were the lock's.
 * The kernel counts it for all processors together, in ticks of 10 ms or so: only of whole seconds is it
 * worth anything. On real machines it is 0; a host that does not tell leaves it 0 too.
 */
#ifndef BENCH_RUN_STEAL_H
#define BENCH_RUN_STEAL_H

#include <stdint.h>

#define STEAL_SHOWS 0.02 /* from this share on: a p99 is made by one moment of 100 */

/* Since the machine started, of all processors; -1 = not known. */
int64_t steal_now_ns(void);

/* The same from the first line of /proc/stat, "cpu  USER NICE ...", by the ticks a second that it counts in.
 */
int64_t steal_read_ns(const char *line, long ticks_per_s);

/* As a part of what all processors had from one reading to the next; -1 where a reading is not known. */
double steal_share(int64_t begin_ns, int64_t end_ns, int64_t took_ns, long processors);

#endif
