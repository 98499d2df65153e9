/* awake: keeps this machine's processors from going to sleep while locks are measured.
 *
 * A processor with nothing to do halts. In a virtual machine it goes on when the host finds time for it:
 * where all was idle, sleeps of 1 ms ended 0.4 to 1 ms late at p99, and 0.08 ms with this (two processors
 * under KVM, Linux 6.18). Real machines have /dev/cpu_dma_latency for it; a virtual one without idle states
 * has nothing but work. So there is a process for each processor that computes nothing, in the class that
 * gives way to all others at once (SCHED_IDLE). It refuses where a container's CPU quota would be spent on
 * it.
 */
#ifndef BENCH_RUN_AWAKE_H
#define BENCH_RUN_AWAKE_H

#include <stdbool.h>

#include "bench/base/err.h"

struct awake;

/* Of the processors that this program may run on. NULL with err (LB_EXIT_MACHINE). They end with awake_end,
 * and with the thread that called this, however it ends. */
struct awake *awake_begin(struct lb_err *err);
void awake_end(struct awake *awake); /* takes NULL */

/* Whether the text of a cgroup's cpu.max ("max 100000"), or cpu.cfs_quota_us ("-1"), sets a limit. */
bool awake_is_quota(const char *text);

#endif
