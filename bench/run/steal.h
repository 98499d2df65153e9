/* steal: the processor time that a virtual machine wanted and its host gave to others.
 *
 * Whoever was to run then, client or server, stood still, and the latencies show it as if it were
 * the lock's. The kernel counts it for all processors together, in ticks of 10 ms or so, and only
 * while something wanted to run: a machine that does nothing has hardly any. On real machines it is
 * 0; a host that does not tell leaves it 0 too. */
#ifndef BENCH_RUN_STEAL_H
#define BENCH_RUN_STEAL_H

#include <stdbool.h>
#include <stdint.h>

/* Since the machine started, of all processors; -1 = not known. */
int64_t steal_now_ns(void);

/* The same from the first line of /proc/stat, "cpu  USER NICE ...", by the ticks a second that it counts in. */
int64_t steal_read_ns(const char *line, long ticks_per_s);

/* Between two readings; -1 where one is not known. */
int64_t steal_between_ns(int64_t begin_ns, int64_t end_ns);

/* Whether so much in so long shows in latencies: 2 % of one processor, wherever, since whom it hit
 * was perhaps the one that all waited for, and a p99 is made by one moment of 100; but no less than
 * a few ticks. */
bool steal_shows(int64_t stolen_ns, int64_t took_ns);

#endif
