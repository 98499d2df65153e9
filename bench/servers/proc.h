/* proc: reads /proc about processes: trees of them, and what they use (processor time, memory, writes).
 *
 * It only reads. Every answer is a snapshot: processes may start and end meanwhile. */
#ifndef BENCH_SERVERS_PROC_H
#define BENCH_SERVERS_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
    pid_t pid, parent, group;
    char state; /* as ps shows it; 'Z' = ended, but not yet reaped */
    /* when it started, in clock ticks after the boot: with its pid its identity */
    uint64_t start_ticks;
    int64_t used_ns;   /* user and system time of its threads, in clock ticks */
    int64_t reaped_ns; /* the same of its children that were reaped */
};

/* Returns the processes of the trees below roots, the roots first, and their number. The caller
 * frees the array. NULL on failure. */
struct proc *proc_tree(const pid_t *roots, int count, int *ret_count);

/* Processor time in ns of the trees below roots; -1 if /proc can't be read. */
int64_t proc_cpu_ns(const pid_t *roots, int count);

/* Bytes that the trees below roots have made the kernel write to disk since they started, including
 * children that were reaped (write_bytes of /proc/PID/io). The kernel counts whole pages, when they are
 * changed and not when they are written, and a large folio as a whole; files in memory (tmpfs) do not
 * count. by_calls: instead the bytes that the processes passed to write calls (wchar); for processes that
 * write to sockets by send only, these are the bytes that they wrote to files. -1 if the count can't be
 * read, for example because the processes belong to another account. */
int64_t proc_written_bytes(const pid_t *roots, int count, bool by_calls);

/* Memory in bytes that the trees below roots take now: their private memory, and their share of the memory
 * that they share with other processes (Pss of /proc/PID/smaps_rollup). -1 if it can't be read. */
int64_t proc_memory_bytes(const pid_t *roots, int count);

/* Whether the process has mapped a file whose path ends with `end`, for example a library that should be
 * loaded into it; false if its mappings can't be read. */
bool proc_has_mapped(pid_t pid, const char *end);

/* The number after a name at the beginning of a line, as /proc writes "write_bytes: 4096" and
 * "Pss: 12 kB", in bytes where it has a kB. -1 = there is none. */
int64_t proc_number_of(const char *text, const char *name);

/* Returns the processes of the group, also those that ended but were not reaped, and their number.
 * The caller frees the array. NULL, and 0, if /proc can't be read. */
struct proc *proc_group(pid_t group, int *ret_count);

/* When the process started, in clock ticks after the boot; 0 = there is no such process. */
uint64_t proc_start_ticks(pid_t pid);

/* Whether any process of the group still runs; processes that ended but were not reaped do not
 * count. */
bool proc_group_runs(pid_t group);

/* Whether the process exists and has not ended; a process that ended but was not reaped does not
 * count. */
bool proc_runs(pid_t pid);

/* Whether every thread of the process is stopped by a signal or has ended. */
bool proc_stands(pid_t pid);

/* Sends a signal to a process and to all that it has started, including processes that lead a group of
 * their own.
 *
 * It does not wait for the end of killed processes: the caller does. */

/* Returns the processes of the tree, the root first, and their number. stand: stops the root before, so that it
 * can't start further processes meanwhile. The caller frees the array. NULL with errno if /proc can't be read; then the
 * root continues. */
struct proc *proc_hold_tree(pid_t root, bool stand, int *ret_count);

/* Sends the signal to each process; after SIGSTOP it waits, 1 s at most, until all of them stand still. */
void proc_signal_all(const struct proc *tree, int count, int signal);

/* proc_hold_tree and proc_signal_all, for the tree below root. Returns 0, or -1 with errno if /proc can't be read. */
int proc_signal_tree(pid_t root, int signal);

#endif
