/* worker: the threads that carry a stage's clients, in this process or in processes of their
 * own. */
#ifndef BENCH_LOAD_WORKER_H
#define BENCH_LOAD_WORKER_H

#include <sys/types.h>

#include "bench/load/client.h"
#include "bench/load/shared.h"

struct workers;

/* Starts the stage's threads: in this process if processes = 1, else in forked processes. Call it while
 * this process has one thread only. The clients connect at once and then follow shared->phase. NULL with
 * err. */
struct workers *workers_start(struct shared *shared, struct lb_err *err);

/* Returns 0 while all run; -1 with err when a worker process ended too early. */
int workers_check(struct workers *workers, struct lb_err *err);

/* For injections. workers_alive: whether a process is alive. workers_pause: stops a process (SIGSTOP) or lets it
 * continue (SIGCONT): 0, or -1 if the process is gone. */
bool workers_alive(const struct workers *workers, int process);
int workers_pause(struct workers *workers, int process, bool stop);
/* Kills a process, and removes its clients from all counts that other clients or the supervisor wait for.
 * Returns the process's wait status. */
int workers_kill(struct workers *workers, int process);
/* Returns its process id; 0 = it has ended, or there is none. With only one process, that is this
 * process. */
pid_t workers_pid(const struct workers *workers, int process);

/* The process that carries the client. */
int workers_process_of(const struct shared *shared, uint32_t client);

/* Waits until all threads have ended, after PHASE_CLOSE; processes that do not end by deadline_ns
 * are killed. Frees. 0, or -1 with err when a process ended otherwise than by its own end or by this call. */
int workers_join(struct workers *workers, int64_t deadline_ns, struct lb_err *err);

/* Reads the thread's processor time at the begin and at the end of the window; now_ns: the present time. At any other time
 * it costs two comparisons. */
void worker_mark(struct worker *worker, int64_t now_ns);

/* life: the course of a client from its first connection to its last. */

/* Prepares client `index` of a session; fiber comes later. 0, or -1 when out of memory. */
int client_init(struct client *client, struct worker *worker, struct session *session,
                uint32_t index);
void client_done(struct client *client);

/* The fiber's body; client: a struct client. */
void client_run(void *client);

#endif
