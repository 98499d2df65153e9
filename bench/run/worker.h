/* worker: the threads that carry a stage's clients, in this process or in processes of their own. */
#ifndef BENCH_RUN_WORKER_H
#define BENCH_RUN_WORKER_H

#include "bench/run/shared.h"

struct workers;

/* Starts the stage's threads (processes = 1: in this process; else forked: call it while this process has one
 * thread only). They connect at once and then follow shared->phase. NULL with err. */
struct workers *workers_start(struct shared *shared, struct lb_err *err);

/* 0 while all run; -1 with err when a worker process ended before its time. */
int workers_check(struct workers *workers, struct lb_err *err);

/* For faults: whether a process lives; stops it or lets it go on (0, or -1 if it is gone); kills it, and
 * takes its clients out of all that others wait for. */
bool workers_alive(const struct workers *workers, int process);
int workers_pause(struct workers *workers, int process, bool stop);
void workers_kill(struct workers *workers, int process);

/* Waits until all threads have ended, after PHASE_CLOSE; processes that do not end by deadline_ns are killed.
 * Frees. */
void workers_join(struct workers *workers, int64_t deadline_ns);

#endif
