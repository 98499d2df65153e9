/* loop: one thread's fibers, timers and sockets.
 *
 * A loop belongs to the thread that runs it. Fibers are straight-line code that gives up the thread
 * only in the calls of drivers/wait.h (implemented here, in wait.c). Ready fibers run in the order
 * they became ready. It refuses to know what the fibers do: locks, clients and recorders are other
 * rooms' business. */
#ifndef BENCH_ENGINE_LOOP_H
#define BENCH_ENGINE_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "drivers/wait.h"

#define LOOP_STACK_BYTES (256 * 1024) /* mapped; only what is touched takes memory */

struct loop;

struct loop_config {
    size_t stack_bytes; /* 0 = LOOP_STACK_BYTES */
    /* after this moment all waits end; it may move. NULL = never */
    const _Atomic int64_t *cutoff_ns;
    /* fibers may block the thread: lb_stopping looks at the clock itself */
    bool blocking;
};

/* What a loop saw of itself. Read it on its thread, or after the thread ended. */
struct loop_stats {
    int64_t blocked_max_ns;   /* longest time that a fiber kept the thread */
    const char *blocked_name; /* that fiber's */
    size_t stack_bytes_max;   /* deepest stack of all fibers that ended */
    uint64_t switches, polls;
};

/* NULL with err. */
struct loop *loop_new(const struct loop_config *config, struct lb_err *err);
/* After loop_run; no fiber may be left. */
void loop_free(struct loop *loop);

/* Starts a fiber that frees itself when run returns. Before loop_run or from a fiber of this loop.
 * NULL when out of memory or maps (errno). name: static storage. */
struct lb_fiber *loop_spawn(struct loop *loop, const char *name, void (*run)(void *), void *arg);

/* Runs on the calling thread until every fiber has returned. */
void loop_run(struct loop *loop);

/* Runs one fiber, and what it spawns, on a loop of its own on the calling thread: for a few round
 * trips outside a stage (readiness, describe) and for tests. 0, or -1 with err if it could not
 * start. */
int loop_once(const char *name, void (*run)(void *), void *arg, struct lb_err *err);

/* The loop that the calling fiber runs on. */
struct loop *loop_self(void);

const struct loop_stats *loop_stats(const struct loop *loop);

/* For a fiber that never waits (null): lets others run if any is ready, or if the sockets and
 * timers were not looked at for LOOP_GRACE_NS. now_ns: a fresh lb_now(). Costs a comparison
 * otherwise. */
#define LOOP_GRACE_NS (50 * LB_US_NS)
void loop_breathe(int64_t now_ns);

/* Exempts the calling fiber's waits from the cut-off (barriers, closing), or ends that. */
void loop_shield(bool on);

#endif
