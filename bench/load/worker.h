/* worker: the threads that carry a stage's clients, in this process or in processes of their
 * own. */
#ifndef BENCH_LOAD_WORKER_H
#define BENCH_LOAD_WORKER_H

#include <sys/types.h>

#include "bench/load/shared.h"

struct workers;

/* Starts the stage's threads (processes = 1: in this process; else forked: call it while this
 * process has one thread only). They connect at once and then follow shared->phase. NULL with
 * err. */
struct workers *workers_start(struct shared *shared, struct lb_err *err);

/* 0 while all run; -1 with err when a worker process ended before its time. */
int workers_check(struct workers *workers, struct lb_err *err);

/* For faults: whether a process lives; stops it or lets it go on (0, or -1 if it is gone); kills
 * it, and takes its clients out of all that others wait for. */
bool workers_alive(const struct workers *workers, int process);
int workers_pause(struct workers *workers, int process, bool stop);
/* Returns how it ended, as waitpid says. */
int workers_kill(struct workers *workers, int process);
/* Its process id; 0 = it has ended, or there is none. Where there is one process only, that is this
 * one. */
pid_t workers_pid(const struct workers *workers, int process);

/* Its threads, *ret_first to what is returned - 1, and their clients, what is returned to *ret_end
 * - 1. */
int workers_threads(const struct shared *shared, int process, int *ret_first);
uint32_t workers_clients(const struct shared *shared, int process, uint32_t *ret_end);
/* Which process carries the client. */
int workers_process_of(const struct shared *shared, uint32_t client);

/* Waits until all threads have ended, after PHASE_CLOSE; processes that do not end by deadline_ns
 * are killed. Frees. */
void workers_join(struct workers *workers, int64_t deadline_ns);

#endif
