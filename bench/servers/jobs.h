/* jobs: runs this program itself in child processes, several at once up to a total weight.
 *
 * Each child leads a process group of its own, so that Ctrl-C at a terminal reaches only processes
 * that may pass it on. The kernel kills it when this process ends in any way, and its own janitor
 * then stops its servers. A child that takes too long is asked to end (SIGINT to its group), then
 * killed. The thread that starts jobs must live as long as they do. */
#ifndef BENCH_SERVERS_JOBS_H
#define BENCH_SERVERS_JOBS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"

#define JOBS_MAX 256     /* at once */
#define JOB_ARGS_MAX 400 /* of one */
/* from the request to end until the kill; long enough for the drain of a run */
#define JOBS_GRACE_S 20

/* The time limit of a run with so much load: a fixed time for starting servers and so on, and a multiple of the load,
 * because a busy machine may be slower. */
#define JOB_LIMIT_NS(load_ns) (60 * LB_S_NS + 3 * (load_ns))
#define JOBS_LOOK_NS (200 * LB_MS_NS) /* between two looks for Ctrl-C */

struct job {
    /* the arguments without the program; ends with NULL; borrowed for jobs_start */
    const char *const *argv;
    const char *log; /* file for both of its outputs */
    int weight;
    int64_t limit_ns; /* the time limit, counted from its start: JOB_LIMIT_NS, LB_NEVER */
    int tag;          /* for the caller's use */
};

struct job_end {
    int tag;
    int exit_code;  /* 128 + signal when it was killed by one */
    bool timed_out; /* it was asked to end, or killed, because it took too long */
    int64_t took_ns;
};

struct jobs_slot {
    pid_t pid; /* 0 = free */
    struct job_end end;
    int weight;
    int64_t begin_ns, limit_ns, kill_ns;
};

struct jobs {
    const char *program; /* the path of the program; borrowed */
    int weight_max;      /* the most weight that runs at once */
    int64_t grace_ns;    /* JOBS_GRACE_S */
    int busy, count;     /* the weight and the number of the jobs that run */
    struct jobs_slot slot[JOBS_MAX];
};

/* program: NULL = this one, /proc/self/exe. */
void jobs_init(struct jobs *jobs, const char *program, int weight_max);

/* Makes the folder in which jobs leave their results, unless it is there and no link. 0, or -1 with err. */
int jobs_make_folder(const char *path, struct lb_err *err);

/* True if a job of this weight may start now: there is room for it, or no other job runs. */
bool jobs_fit(const struct jobs *jobs, int weight);

/* 0, or -1 with err (LB_EXIT_MACHINE). */
int jobs_start(struct jobs *jobs, const struct job *job, struct lb_err *err);

/* Waits up to timeout_ns for a job to end, and ends jobs whose time is over. Returns true with
 * *ret_end. */
bool jobs_wait(struct jobs *jobs, int64_t timeout_ns, struct job_end *ret_end);

/* Runs one job to its end; a first Ctrl-C is passed on to it. 0, or -1 with err: it could not be started. */
int jobs_run(struct jobs *jobs, const struct job *job, const volatile sig_atomic_t *interrupts,
             struct job_end *ret_end, struct lb_err *err);

/* Writes how a job ended that did not end by itself. False, and text is untouched: it did. */
bool job_was_cut(const struct job_end *end, char *text, size_t size);

/* Asks all jobs to end, as Ctrl-C does; jobs_wait kills those that do not end within
 * JOBS_GRACE_S. */
void jobs_interrupt(struct jobs *jobs);

/* Kills all jobs at once and waits for them. */
void jobs_kill(struct jobs *jobs);

/* The last problem that the log of a child reports, or else its last line; "" if the log is
 * empty. */
void jobs_last_words(const char *log, char *text, size_t size);

#endif
