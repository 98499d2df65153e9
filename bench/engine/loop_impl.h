/* loop_impl: shared by loop.c (fibers and timers) and wait.c (sockets); no other file includes
 * it. */
#ifndef BENCH_ENGINE_LOOP_IMPL_H
#define BENCH_ENGINE_LOOP_IMPL_H

#include "bench/base/heap.h"
#include "bench/engine/context.h"
#include "bench/engine/loop.h"
#include "drivers/wait.h"

enum fiber_state { FIBER_READY, FIBER_RUNNING, FIBER_PARKED, FIBER_ENDED };

struct lb_fiber {
    /* One cache line for what a wake-up touches. */
    struct timer timer; /* must be the first member: the heap's entries are cast back to fibers */
    struct lb_fiber *ready_next; /* in the ready queue */
    /* of the present wait; the timer may still be set to an earlier time, from a former wait */
    int64_t deadline_ns;
    int ready; /* why the wait ended: enum lb_ready bits; 0 = deadline or cut-off */
    enum fiber_state state;
    bool joinable, shielded;
    struct context context;
    struct area {
        const char *from, *end;
    } warm[LB_WARM_PLACES]; /* see lb_warm */

    struct stack stack;
    struct loop *loop;
    const char *name; /* for a debugger */
    void (*run)(void *);
    void *arg;
    struct lb_fiber *all_next, **all_back; /* in the list of all */
    struct lb_fiber *joiner;
};

/* The state of one file descriptor on the loop; indexed by its number. */
struct fd_entry {
    struct lb_fiber *reader, *writer;
    uint32_t armed;  /* epoll events registered now */
    uint8_t pending; /* edge mode: readiness that arrived while no fiber waited */
    bool known;      /* registered with epoll */
    bool edge;
};

struct loop {
    int epoll_fd, timer_fd;
    int64_t timer_ns; /* when timer_fd fires; in the past = not set */
    const _Atomic int64_t *cutoff_ns;
    struct context main;
    struct lb_fiber *current;
    struct lb_fiber *ready_head, **ready_tail;
    size_t ready_count;
    struct lb_fiber *all;
    struct lb_fiber *dead; /* ended, but its stack is not unmapped yet */
    struct heap timers;
    size_t live;
    struct fd_entry *fds;
    int fd_room;
    int64_t now_ns, polled_ns;
    int idle_yields;
    bool cut; /* the cut-off has passed */
    bool blocking;
    int64_t blocked_ns; /* the longest time for which one fiber kept the thread */
};

extern _Thread_local struct loop *loop_current;

/* Parks the calling fiber until loop_ready or the deadline. Returns fiber->ready. */
int loop_park(int64_t deadline_ns);
/* Makes a parked fiber ready, with a reason; more bits may be added before it runs. */
void loop_ready(struct lb_fiber *fiber, int why);
/* Handles the events of epoll, waiting at most wait_ns (LB_NEVER: until an event arrives). */
void loop_poll(struct loop *loop, int64_t wait_ns);

#endif
