/* wire_impl: what the wire's files share; nobody else includes it. wire.c is the program's side,
 * the others run in the wire's own process. */
#ifndef BENCH_SERVERS_WIRE_IMPL_H
#define BENCH_SERVERS_WIRE_IMPL_H

#include <stdatomic.h>

#include "bench/base/heap.h"
#include "bench/base/rng.h"
#include "bench/servers/wire.h"

/* --- shared with the program --- */

struct sign_cells {
    _Atomic int fault; /* its number; -1 = none yet */
    _Atomic uint64_t struck, bytes, matched;
    _Atomic int64_t first_ns, last_ns;
};

struct way_cells {
    _Atomic uint64_t read_bytes, forwarded_bytes, swallowed_bytes, chunks;
};

struct end_cells {
    struct way_cells way[2]; /* 0 = requests, 1 = answers, as everywhere in here */
    _Atomic uint64_t accepted, ended, refused;
};

enum order_verb { ORDER_SET, ORDER_LIFT, ORDER_AIM };

/* What is to be done. Written before the wake-up, read before the acknowledgement. */
struct order {
    enum order_verb verb;
    int slot;                /* of the fault to set or lift */
    int end, server_port;    /* ORDER_AIM */
    struct wire_fault fault; /* its pids and holding are these: */
    pid_t pids[WIRE_PIDS_MAX];
    char holding[WIRE_HOLDING_MAX];
};

struct wire_shared {
    struct order order;
    struct sign_cells signs[WIRE_FAULTS_MAX]; /* a slot each */
    struct end_cells ends[WIRE_ENDS_MAX];
};

/* --- in the wire's process --- */

#define WIRE_BACKLOG 4096
#define BUFFER_BYTES ((size_t)65536)
#define HELD_MAX ((size_t)262144) /* of one way of one connection; then nothing more is read */

/* What epoll points to: the first member of each. */
enum watched { WATCH_CONTROL, WATCH_TIMER, WATCH_LISTENER, WATCH_SIDE };

struct side {
    enum watched watched;
    int fd; /* -1 = not connected */
    bool readable, writable;
    bool hung_up; /* its end is near: a short read does not mean that there is no more */
    struct link *link;
};

/* Bytes that could not be sent yet. */
struct chunk {
    struct chunk *next;
    int64_t due_ns;
    size_t len, sent;
    char data[];
};

/* One way of a connection. */
struct flow {
    struct timer timer; /* first: the heap's entries are cast back */
    struct link *link;
    struct chunk *first, *last;
    size_t held_bytes; /* with what each chunk costs beside its bytes */
    int64_t free_ns;   /* when the next byte may go, at its rate */
    bool over;         /* the source has ended */
    bool ended;        /* ... and the destination was told */
    bool sink;         /* the destination is gone */
    /* By the faults that are on: bit i = slot i. */
    uint32_t delays, rates, swallows, stalls;
    uint64_t rate; /* the least of them */
};

enum ending { ENDING_NOT, ENDING_CUT, ENDING_RESET };

struct link {
    int end, client_port;
    struct side client, server;
    struct flow flow[2];
    uint32_t matched;               /* slots whose faults are for it */
    uint32_t mute;                  /* slots of WIRE_MIDWAY that swallow its answers now */
    uint64_t left[WIRE_FAULTS_MAX]; /* of WIRE_MIDWAY: bytes that still pass */
    enum ending ending;             /* once what is held of its answers has been sent */
    bool broken;                    /* a side was reset, or can't be reached */
    bool lossy;                     /* it lost bytes, so it can't go on once that is over */
    bool dead, again;
    struct link *next, *previous, *next_dead, *next_again;
};

struct listener {
    enum watched watched;
    int end, fd, port, server_port;
    bool shut;
};

/* One fault. */
struct slot {
    bool on;
    struct wire_fault fault; /* its pids and holding are these: */
    pid_t pids[WIRE_PIDS_MAX];
    char holding[WIRE_HOLDING_MAX];
    struct lb_rng rng;
    uint64_t left; /* of WIRE_MIDWAY, together */
    uint64_t seen; /* of WIRE_DROP: messages that held it */
    bool full;     /* it is done, or struck all */
};

struct proxy {
    struct wire_shared *shared;
    int control_fd, epoll_fd, timer_fd;
    int spare_fd; /* given up for a moment where there are no more */
    enum watched control, timer;
    int ends;
    struct listener listeners[WIRE_ENDS_MAX];
    struct slot slots[WIRE_FAULTS_MAX];
    struct link *links, *dead, *agains;
    size_t link_count;
    struct heap heap;
    int64_t timer_ns; /* what timer_fd is set to; 0 = nothing */
    char *buffer;
};

/* wire_loop.c: the wire's process; does not return. */
_Noreturn void wire_main(struct wire_shared *shared, int control_fd,
                         const struct listener *listeners, int ends);

/* wire_link.c */
/* A connection was accepted. */
void link_take(struct proxy *proxy, const struct listener *listener, int client_fd,
               int client_port);
/* Passes on what can be. It may end the link: then link->dead, and it stays in memory until
 * links_bury. */
void link_pump(struct proxy *proxy, struct link *link);
void link_end(struct proxy *proxy, struct link *link, bool reset);
/* Connects it to its server, if it is not yet. */
void link_connect(struct proxy *proxy, struct link *link);
/* Throws away what is held of one way. */
void link_discard(struct proxy *proxy, struct link *link, int way);
void links_bury(struct proxy *proxy);

/* wire_fault.c */
void faults_set(struct proxy *proxy, const struct order *order);
void faults_lift(struct proxy *proxy, int slot);
/* For a new connection: notes which faults are for it. False: it is refused. */
bool faults_admit(struct proxy *proxy, struct link *link);
/* What faults do to a chunk of answers before it is passed on: the bytes to pass remain, in place,
 * their number is returned. May set link->ending, or begin to swallow: then the rest is counted as
 * swallowed. */
size_t faults_sift(struct proxy *proxy, struct link *link, char *data, size_t len);
/* A fault of a slot, or the faults of several, acted. */
void fault_acted(struct proxy *proxy, int slot, uint64_t bytes);
void faults_acted(struct proxy *proxy, uint32_t slots, uint64_t bytes);

/* wire_frame.c: whether the chunk is a whole number of messages, and which one the byte at `at`
 * belongs to. */
bool frame_find(const char *data, size_t len, size_t at, size_t *ret_begin, size_t *ret_end);

#endif
