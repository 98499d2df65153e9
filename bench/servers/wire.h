/* wire: a TCP proxy on loopback between clients and servers anywhere, or between servers, that injects
 * network faults: delay, dropped bytes, resets, cuts, refused connections, connections that end within
 * an answer, and the loss of one answer.
 *
 * The proxy is a process of its own. The janitor (janitor.h) knows it, and it ends with the thread
 * that started it. It knows no protocol. Without a fault it adds two wake-ups of its process to a
 * round trip: 64 bytes there and back took 2.4 to 2.7 times as long as directly (p50, loopback, two
 * busy processors: 30 to 50 us against 12 to 15 us). So compare runs through the proxy only with
 * runs through the proxy.
 * Its counters show what it did. Only they are evidence that a fault took effect; a successful wire_set
 * is not. */
#ifndef BENCH_SERVERS_WIRE_H
#define BENCH_SERVERS_WIRE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "bench/base/err.h"

#define WIRE_ENDS_MAX 64
#define WIRE_FAULTS_MAX 16 /* at one time */
#define WIRE_PIDS_MAX 64

#define WIRE_ALL_ENDS UINT64_MAX

enum wire_way {
    WIRE_REQUESTS = 1, /* from the side that connected */
    WIRE_ANSWERS = 2,  /* to the side that connected */
    WIRE_BOTH = 3
};

enum wire_kind {
    /* Bytes and ends of connections arrive by_ns later; their order stays. At most 256 KiB of a connection are in
     * transit; a sender of more has to wait. A new connection itself is made at once: the handshake's round trip is not
     * added. With a by_ns of an hour, all that comes after so many chunks (reads that returned data) is held until the
     * fault is lifted, and goes on then. */
    WIRE_DELAY,
    /* Everything that arrives is read and thrown away, also ends of connections; nothing is closed.
     * Bytes in transit are thrown away as well. New connections are accepted; if the fault drops
     * requests, the server does not see them. */
    WIRE_SWALLOW,
    /* Present connections are reset once and at once, to both sides. New ones are not affected. */
    WIRE_RESET,
    WIRE_CUT, /* The same, but connections end in order (FIN). */
    /* New connections are refused; those of given pids are accepted and reset. Present ones are not
     * affected. */
    WIRE_REFUSE,
    /* `bytes` more bytes of answers pass, counted over all connections; when the first byte beyond
     * them arrives, `then` happens to all connections. So an answer that just fits ends nothing.
     * From then on new connections are refused (after WIRE_THEN_SWALLOW: their answers are dropped)
     * until the fault is lifted. */
    WIRE_MIDWAY,
    /* The next answer, of whichever connection, is dropped, and its connection is reset. */
    WIRE_DROP
};

enum wire_then {
    WIRE_THEN_CUT,
    WIRE_THEN_RESET,
    WIRE_THEN_SWALLOW /* further answers are dropped; the connection stays open */
};

struct wire_fault {
    enum wire_kind kind;
    uint64_t ends;     /* bit i = end i */
    enum wire_way way; /* delay, swallow; 0 = both */
    /* only connections of these processes and of the processes below them (the process that has the socket open); at
     * most WIRE_PIDS_MAX. NULL = all connections. For processes of other accounts this program needs the right to see
     * their files. */
    const pid_t *pids;
    int pid_count;
    int64_t by_ns;
    uint64_t chunks; /* WIRE_DELAY: so many pass before it begins, counted over all connections */
    uint64_t bytes;  /* WIRE_MIDWAY */
    enum wire_then then; /* WIRE_MIDWAY */
};

struct wire;

/* Listens on a free port of 127.0.0.1 for each end (at most WIRE_ENDS_MAX), and forwards to where it is aimed; until then
 * connections are reset. Returns NULL with err. Call it
 * while the program has one thread, and on a thread that outlives the wire. The first call starts
 * the janitor. */
struct wire *wire_start(int ends, struct lb_err *err);
/* Ends all connections and the proxy. Accepts NULL. */
void wire_stop(struct wire *wire);

int wire_ends(const struct wire *wire);
int wire_port(const struct wire *wire, int end);
pid_t wire_pid(const struct wire *wire);

/* The following functions return 0 (or what their comment says), or -1 with err (LB_EXIT_MACHINE)
 * if the proxy's process is gone or does not answer within 10 s. When they return, their effect is
 * complete. Only one thread may call them at a time. */

/* Sets the server to which new connections to this end are forwarded from now on: a port of 127.0.0.1, or an address. */
int wire_aim(struct wire *wire, int end, int server_port, struct lb_err *err);
int wire_aim_at(struct wire *wire, int end, const struct sockaddr_storage *server,
                struct lb_err *err);
/* Starts a fault; several may be active at once and add up. Returns its number, which stays unique
 * until WIRE_FAULTS_MAX further ones were set. -1 with LB_EXIT_USAGE if the fault makes no sense or
 * too many are active. */
int wire_set(struct wire *wire, const struct wire_fault *fault, struct lb_err *err);
/* Ends a fault. Connections that lost bytes by WIRE_SWALLOW or WIRE_THEN_SWALLOW are reset, because
 * they can't continue. No effect on a fault that is over. */
int wire_lift(struct wire *wire, int fault, struct lb_err *err);
/* Ends all faults. */
int wire_heal(struct wire *wire, struct lb_err *err);

/* The evidence of what a fault has done so far; kept after the fault was lifted. May be read from
 * any thread or forked process. */
struct wire_sign {
    /* how often it acted: chunks delayed or dropped, connections ended or refused */
    uint64_t struck;
    uint64_t bytes;   /* bytes that it delayed or dropped */
    uint64_t matched; /* connections that it applies or applied to */
    int64_t first_ns; /* time of its first action, by lb_now(); 0 = none yet */
};
void wire_sign(const struct wire *wire, int fault, struct wire_sign *ret_sign);

/* Counts since the start. May be read from any thread or forked process. */
struct wire_count {
    /* forwarded bytes are counted just before they are sent */
    uint64_t read_bytes, forwarded_bytes, swallowed_bytes;
    uint64_t chunks; /* reads that returned data */
};
/* Reads the counts of one direction of an end, or of both together. */
void wire_count(const struct wire *wire, int end, enum wire_way way, struct wire_count *ret_count);

#endif
