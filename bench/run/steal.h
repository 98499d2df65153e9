/* steal: the processor time that a virtual machine wanted and that its host gave to others. The
 * client or server that was to run then stood still, and the latencies look as if the lock had
 * caused it.
 *
 * The kernel counts steal for all processors together, in ticks of about 10 ms, and only while a
 * process wants to run: an idle machine has almost none. On real machines it is 0, and also under a
 * host that does not report it. */
#ifndef BENCH_RUN_STEAL_H
#define BENCH_RUN_STEAL_H

#include <stdbool.h>
#include <stdint.h>

/* Since the machine started, over all processors; -1 = not known. */
int64_t steal_now_ns(void);

/* The same from the first line of /proc/stat, "cpu USER NICE ...", which counts in ticks_per_s. */
int64_t steal_read_ns(const char *line, long ticks_per_s);

/* Between two readings; -1 where one is not known. */
int64_t steal_between_ns(int64_t begin_ns, int64_t end_ns);

/* Whether this much in this time affects latencies: 2 % of one processor, whichever, because it may
 * have hit the one that all others waited for, and one moment in 100 decides a p99; but at least a
 * few ticks. */
bool steal_shows(int64_t stolen_ns, int64_t took_ns);

#endif
