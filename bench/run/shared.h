/* shared: one stage's common memory: what clients, worker threads or processes and the supervisor have
 * between them.
 *
 * One mapping, made before the workers start, so that it is the same for threads and for forked processes,
 * and what a killed worker measured is still there. Each part has one writer, or is atomic.
 */
#ifndef BENCH_RUN_SHARED_H
#define BENCH_RUN_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "bench/measure/cell.h"
#include "bench/measure/recorder.h"
#include "bench/plan/keys.h"
#include "bench/plan/plan.h"
#include "drivers/driver.h"

/* A stage's course. The supervisor moves it on; clients wait at PING and at CLOSE. */
enum phase {
    PHASE_CONNECT, /* every client opens its session */
    PHASE_PING,    /* the first client pings, alone */
    PHASE_GO,      /* load: warm-up, window, drain: by the clock */
    PHASE_PING2,   /* all have drained: the first client pings again */
    PHASE_CLOSE    /* sessions end */
};

/* One client's own figures; the client writes, others read at the end. */
struct client_stats {
    _Alignas(64) uint64_t grants; /* in the window */
    uint64_t longest_run;
    int64_t max_wait_ns;
    int64_t connect_ns; /* opening the first session; -1 = never opened */
    bool inside; /* in a cell, or about to be, or hardly out of it: what a killed client leaves is excused */
    bool dead;   /* its process was killed; the supervisor writes this one */
    uint64_t commands, bytes; /* of the attempts in the window */
    bool bytes_known;
};

/* One worker thread's; it writes, the supervisor looks at the atomic ones while it runs. */
struct worker_stats {
    _Alignas(64) struct recorder recorder;
    _Atomic uint64_t outcomes[LB_OUTCOMES]; /* of attempts in the window */
    _Atomic uint64_t attempts;
    uint64_t due, started, missed; /* open loop: slots of the window */
    int64_t cpu_begin_ns, cpu_end_ns;
    bool cpu_began, cpu_ended;
    int64_t blocked_max_ns;
    size_t stack_bytes_max;
    struct lb_err err;       /* could not start */
    struct lb_err first_err; /* the first operation that failed */
};

struct shared {
    size_t bytes; /* of the mapping */

    /* The stage's shape; constant once workers run. */
    const struct plan *plan;
    const struct plan_lock *lock;
    struct lb_server *server;
    struct keypicker keys;
    int clients, threads, processes;
    uint32_t cell_count;
    char key_prefix[48];
    uint64_t key_salt;
    uint64_t seed; /* the stage's own */
    int64_t connect_deadline_ns;

    /* Its course. */
    _Alignas(64) _Atomic int phase;
    int64_t go_ns; /* when the load begins; set before PHASE_GO */
    _Atomic int64_t window_begin_ns, window_end_ns;
    _Atomic int64_t cutoff_ns; /* no wait lasts longer; the engine looks at it */
    _Atomic int connected, failed, pinged, drained, closed;
    _Atomic int adrift; /* clients that could not reach the server any more when the load ended */

    struct findings findings;
    struct cell *cells;
    struct client_stats *client; /* clients */
    struct worker_stats *worker; /* threads */
};

/* Maps and lays out. NULL with err (LB_EXIT_MACHINE: too little memory, and what to lower). */
struct shared *shared_new(const struct plan *plan, const struct plan_lock *lock, int clients,
                          struct lb_err *err);
void shared_free(struct shared *shared);

/* Which clients a thread serves: first .. first+count-1. Threads differ by at most one client. */
void shared_slice(const struct shared *shared, int thread, uint32_t *ret_first, uint32_t *ret_count);

#endif
