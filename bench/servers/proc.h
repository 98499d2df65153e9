/* proc: what Linux's /proc tells of processes: trees, their processor time, who listens on a port.
 *
 * It reads only. Everything is a snapshot: processes come and go while it looks. */
#ifndef BENCH_SERVERS_PROC_H
#define BENCH_SERVERS_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
    pid_t pid, parent, group;
    char state;        /* as ps shows it; 'Z' = ended, not yet waited for */
    int64_t used_ns;   /* user and system time of its threads, to a clock tick */
    int64_t reaped_ns; /* the same of its children that ended and were waited for */
};

/* The processes of the trees below roots, the roots first. Returns an array (free it) and its
 * length, or NULL. */
struct proc *proc_tree(const pid_t *roots, int count, int *ret_count);

/* Processor time of the trees below roots, in ns; -1 if /proc can't be read. */
int64_t proc_cpu_ns(const pid_t *roots, int count);

/* Whether any process of the group still runs; ended ones that nobody has waited for do not
 * count. */
bool proc_group_runs(pid_t group);

/* Whether the process is there and has not ended; an ended one that nobody has waited for does not
 * count. */
bool proc_runs(pid_t pid);

/* Whether every thread of the process stands still (stopped by a signal) or has ended. */
bool proc_stands(pid_t pid);

/* Whether a process of the tree below root listens on the loopback TCP port. Where another user's
 * files can't be looked into (root in a container), a listener of the same user as root counts. */
bool proc_listens(pid_t root, int port);

#endif
