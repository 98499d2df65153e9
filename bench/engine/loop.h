/* loop: the fibers, timers and sockets of one thread.
 *
 * A loop belongs to the thread that runs it. Fibers are straight-line code that gives up the thread
 * only in the calls of drivers/wait.h (implemented here, in wait.c). Ready fibers run in the order
 * in which they became ready. The loop knows nothing of what the fibers do: locks, clients and
 * recorders are in other rooms. */
#ifndef BENCH_ENGINE_LOOP_H
#define BENCH_ENGINE_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "drivers/wait.h"

struct loop;

struct loop_config {
    /* the cut-off: all waits end at this time; another thread may change the time; NULL = no cut-off */
    const _Atomic int64_t *cutoff_ns;
    /* fibers may block the thread, so lb_stopping reads the clock itself */
    bool blocking;
};

/* Returns NULL with err. */
struct loop *loop_new(const struct loop_config *config, struct lb_err *err);
/* To be called after loop_run; no fiber may be left. */
void loop_free(struct loop *loop);

/* Starts a fiber that frees itself when run returns. To be called before loop_run, or from a fiber
 * of this loop. Returns NULL when out of memory or of mappings (errno). name: static storage. */
struct lb_fiber *loop_start_fiber(struct loop *loop, const char *name, void (*run)(void *),
                                  void *arg);

/* Runs the fibers on the calling thread until every fiber has returned. */
void loop_run(struct loop *loop);

/* Runs one fiber, and the fibers that it starts, on a loop of its own on the calling thread: for a few
 * round trips outside of a stage (readiness, describe) and for tests. Returns 0, or -1 with err if
 * it could not start. */
int loop_once(const char *name, void (*run)(void *), void *arg, struct lb_err *err);

/* The loop that the calling fiber runs on. */
struct loop *loop_self(void);

/* The longest time for which one fiber kept the thread. To be read on it, or after it has ended. */
int64_t loop_blocked_ns(const struct loop *loop);

/* Lets other fibers run if any is ready, or if sockets and timers were not polled for
 * LOOP_GRACE_NS. now_ns: a fresh lb_now(). Otherwise the call costs one comparison. For a fiber
 * that never waits (the null lock). */
#define LOOP_GRACE_NS (50 * LB_US_NS)
void loop_breathe(int64_t now_ns);

/* Exempts the waits of the calling fiber from the cut-off (barriers, closing), or ends that
 * exemption. */
void loop_shield(bool on);

#endif
