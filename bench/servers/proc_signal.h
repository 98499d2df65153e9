/* proc_signal: sends a signal to a process and to all that it has started, including processes that lead a group of
 * their own.
 *
 * It does not wait for the end of killed processes: the caller does. */
#ifndef BENCH_SERVERS_PROC_SIGNAL_H
#define BENCH_SERVERS_PROC_SIGNAL_H

#include "bench/servers/proc.h"

/* Returns the processes of the tree, the root first, and their number. stand: stops the root before, so that it
 * can't start further processes meanwhile. The caller frees the array. NULL with errno if /proc can't be read; then the
 * root continues. */
struct proc *proc_hold_tree(pid_t root, bool stand, int *ret_count);

/* Sends the signal to each process; after SIGSTOP it waits, 1 s at most, until all of them stand still. */
void proc_signal_all(const struct proc *tree, int count, int signal);

/* proc_hold_tree and proc_signal_all, for the tree below root. Returns 0, or -1 with errno if /proc can't be read. */
int proc_signal_tree(pid_t root, int signal);

#endif
