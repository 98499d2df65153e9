/* wire_impl: shared by the files that implement wire.h; no other file includes it. wire.c runs in
 * the program, the other files run in the proxy's own process. */
#ifndef BENCH_SERVERS_WIRE_IMPL_H
#define BENCH_SERVERS_WIRE_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "bench/base/heap.h"
#include "bench/servers/wire.h"

/* --- shared with the program --- */

struct sign_counts {
    _Atomic int fault; /* its number; -1 = none yet */
    struct wire_sign seen;
};

/* For the members of seen and of struct wire_count, which the program reads while the proxy counts. */
static inline void count_up(uint64_t *count, uint64_t by) {
    __atomic_fetch_add(count, by, __ATOMIC_SEQ_CST);
}

enum order_verb { ORDER_SET, ORDER_LIFT, ORDER_AIM };

/* One request to the proxy's process. Written before its wake-up, read before the
 * acknowledgement. */
struct order {
    enum order_verb verb;
    int slot; /* of the fault to set or lift */
    int end;  /* ORDER_AIM */
    struct sockaddr_storage server;
    struct wire_fault fault; /* its pids are these: */
    pid_t pids[WIRE_PIDS_MAX];
};

struct wire_shared {
    struct order order;
    struct sign_counts signs[WIRE_FAULTS_MAX]; /* a slot each */
    struct wire_count ends[WIRE_ENDS_MAX][2]; /* 0 = requests, 1 = answers, as everywhere in here */
};

/* --- in the wire's process --- */

#define WIRE_BACKLOG 4096
#define BUFFER_BYTES ((size_t)65536)
/* the most bytes held for one direction of a connection; then nothing more is read */
#define HELD_MAX ((size_t)262144)

/* The kind of object that an epoll event points to; the first member of each object. */
enum watched { WATCH_CONTROL, WATCH_TIMER, WATCH_LISTENER, WATCH_SIDE };

struct side {
    enum watched watched;
    int fd; /* -1 = not connected */
    bool readable, writable;
    bool hung_up; /* the other side has closed; more bytes may follow a short read */
    struct link *link;
};

/* Bytes that were not sent yet. */
struct chunk {
    struct chunk *next;
    int64_t due_ns;
    size_t len, sent;
    char data[];
};

/* One direction of a connection. */
struct flow {
    struct timer timer; /* first: the heap's entries are cast back */
    struct link *link;
    struct chunk *first, *last;
    size_t held_bytes; /* including the overhead of each chunk */
    bool over;         /* the source has closed */
    bool ended;        /* the source's end was passed on to the destination */
    bool sink;         /* the destination is gone: bytes are discarded */
    /* The active faults of each kind: bit i = slot i. */
    uint32_t delays, swallows;
};

enum ending { ENDING_NOT, ENDING_CUT, ENDING_RESET };

struct link {
    int end, client_port;
    struct side client, server;
    struct flow flow[2];
    uint32_t matched;   /* slots whose faults apply to this connection */
    uint32_t mute;      /* slots of WIRE_MIDWAY that drop its answers now */
    enum ending ending; /* how to end, once the held answers were sent */
    bool broken;        /* a side was reset, or can't be reached */
    bool lossy;         /* it lost bytes, so it can't continue after the fault */
    bool struck;        /* a fault hit it while another was pumped: see faults_pump */
    bool dead, again;
    struct link *next, *previous, *next_dead, *next_again;
};

struct listener {
    enum watched watched;
    int end, fd, port;
    struct sockaddr_storage server; /* its family 0 = there is none yet */
    bool shut;
};

/* One fault. */
struct slot {
    bool on;
    struct wire_fault fault; /* its pids are these: */
    pid_t pids[WIRE_PIDS_MAX];
    uint64_t left; /* what still passes: bytes (WIRE_MIDWAY), chunks (WIRE_DELAY) */
    bool full;     /* the fault has done all that it should, or has hit all its connections */
};

struct proxy {
    struct wire_shared *shared;
    int control_fd, epoll_fd, timer_fd;
    int spare_fd; /* closed for a moment when there are no more file descriptors */
    enum watched control, timer;
    int ends;
    struct listener listeners[WIRE_ENDS_MAX];
    struct slot slots[WIRE_FAULTS_MAX];
    struct link *links, *dead, *agains;
    size_t link_count;
    bool struck; /* some link may be struck; new connections may have to be refused */
    struct heap heap;
    int64_t timer_ns; /* when timer_fd fires; 0 = not set */
    char *buffer;
};

/* wire_loop.c: the main loop of the proxy's process; does not return. */
_Noreturn void wire_main(struct wire_shared *shared, int control_fd,
                         const struct listener *listeners, int ends);

/* wire_link.c */
/* Takes over a connection that was accepted. */
void link_take(struct proxy *proxy, const struct listener *listener, int client_fd,
               int client_port);
/* Forwards as much as possible, or until proxy->struck is set. The link may end: then link->dead is set, and the link
 * stays in memory until links_bury. */
void link_pump(struct proxy *proxy, struct link *link);
void link_end(struct proxy *proxy, struct link *link, bool reset);
/* Connects the link to its server unless it is connected. */
void link_connect(struct proxy *proxy, struct link *link);
/* Discards the held bytes of one direction. */
void link_discard(struct proxy *proxy, struct link *link, int way);
void links_bury(struct proxy *proxy);

/* wire_fault.c */
void faults_set(struct proxy *proxy, const struct order *order);
void faults_lift(struct proxy *proxy, int slot);
/* link_pump, and then ends or silences the other connections that a fault hit meanwhile. */
void faults_pump(struct proxy *proxy, struct link *link);

/* The same, called by wire_link.c. */
/* For a new connection: notes which faults apply to it. Returns false if the connection is
 * refused. */
bool faults_admit(struct proxy *proxy, struct link *link);
/* Applies the faults to a chunk of answers before it is forwarded: the bytes to forward remain in
 * place, and their number is returned. May set link->ending, start to drop answers, or set
 * proxy->struck; dropped bytes are counted. */
size_t faults_sift(struct proxy *proxy, struct link *link, size_t len);
/* Count that the fault of one slot, or of several slots, acted. */
void fault_acted(struct proxy *proxy, int slot, uint64_t bytes);
void faults_acted(struct proxy *proxy, uint32_t slots, uint64_t bytes);

#endif
