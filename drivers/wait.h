/* wait.h: the functions by which a driver waits. bench/engine implements them. Driver code must not block
 * its thread in any other way.
 *
 * Each client is a fiber on the event loop of a thread. These calls park the calling fiber and let
 * others run. All deadlines are absolute, by lb_now(); LB_NEVER waits until the engine cancels the
 * wait. When a run is cut off (drain limit, loss of the server) every parked wait returns as if its
 * deadline had passed, and later waits return at once; lb_stopping() says so. Call these functions
 * from a fiber only, and use an fd or a fiber only on the thread to which it belongs. */
#ifndef DRIVERS_WAIT_H
#define DRIVERS_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/clock.h"

enum lb_ready {
    LB_READABLE = 1,
    LB_WRITABLE = 2,
    LB_HANGUP = 4, /* error or hang-up: reading shows which. Reported without being asked for */
    LB_WOKEN = 8   /* lb_wake was called on this fiber */
};

/* Waits until fd is ready for one of `events` (LB_READABLE | LB_WRITABLE). Returns what is ready, 0
 * when the deadline passed, LB_WOKEN when another fiber called lb_wake, or -errno if fd can't be
 * polled. The fd stays registered (level-triggered) until lb_fd_forget, which must be called before
 * close(2). */
int lb_wait_fd(int fd, int events, int64_t deadline_ns);

/* The same with edge-triggered readiness, for half of the kernel's work. The caller promises that
 * it has read until EAGAIN or a short read (and written until EAGAIN) since the last wake-up on
 * this fd. */
int lb_wait_edge(int fd, int events, int64_t deadline_ns);

/* Unregisters an fd before it is closed. Unknown fds are accepted. */
void lb_fd_forget(int fd);

/* For libraries that open and close their own sockets: an fd that is registered for one wait
 * only. */
struct lb_poll {
    int fd;
    int events; /* LB_READABLE | LB_WRITABLE */
    int ready;  /* result: what is ready */
};

/* Waits for any of count (0 .. 16) fds and fills .ready. Returns the number of ready fds, or 0 when
 * the deadline passed or another fiber called lb_wake. */
int lb_wait_any(struct lb_poll *polls, int count, int64_t deadline_ns);

/* Sleeps until when_ns. Returns false if lb_wake or the cut-off ended the sleep earlier. */
bool lb_sleep_until(int64_t when_ns);

/* A hint: when a wait of the calling fiber ends, the fiber touches this memory. With thousands of clients no cache holds
 * the memory of them all, so the engine fetches that of the next fiber while another one runs. A place holds one area: the
 * next call with the same place replaces it. An area that has been freed does no harm. */
enum lb_warm_place {
    LB_WARM_CLIENT,
    LB_WARM_STATS,
    LB_WARM_CELL,
    LB_WARM_GRANT,
    LB_WARM_SESSION,
    LB_WARM_SESSION_USE,
    LB_WARM_STATE,
    LB_WARM_CONNECTION, /* for drivers */
    LB_WARM_PLACES
};
void lb_warm(enum lb_warm_place place, const void *memory, size_t bytes);

/* Lets the other ready fibers of this thread run first. */
void lb_yield(void);

/* True once the run is cut off: the driver must give up, free what it holds, and return. */
bool lb_stopping(void);

/* For a driver whose library blocks the thread, to be read by another thread: the time of the cut-off, at which the calling
 * fiber must give up; NULL = never. */
const _Atomic int64_t *lb_cutoff(void);

struct lb_fiber;

/* The calling fiber. */
struct lb_fiber *lb_self(void);

/* Starts a helper fiber on this thread (watchdog, ping, reader). The fiber must end before the disconnect of
 * its session returns: tell the fiber to end, then call lb_join. Returns NULL when out of memory. name: the
 * fiber's name, with static storage. */
struct lb_fiber *lb_start_fiber(const char *name, void (*run)(void *arg), void *arg);

/* Waits until a fiber that lb_start_fiber has started returns, then frees it. */
void lb_join(struct lb_fiber *fiber);

/* Ends the current wait of a fiber of this thread early; no effect on a fiber that is not
 * waiting. */
void lb_wake(struct lb_fiber *fiber);

#endif
