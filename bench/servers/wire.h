/* wire: a TCP proxy between clients and servers (or between servers) on loopback, that misbehaves
 * as it is told: it delays, slows, swallows, stalls, resets, cuts, refuses, ends connections within
 * an answer, and loses one chosen message.
 *
 * It is a process of its own, known to the janitor (guard.h), and ends with the thread that started
 * it. Of protocols it understands no more than where a message ends (wire_frame.c). Without a fault
 * it adds two wake-ups of its process to a round trip: 64 bytes there and back took 2.4 to 2.7
 * times as long as directly (p50, loopback, two busy processors: 30 to 50 us against 12 to 15 us;
 * `make bench` measures it). So compare runs through it only with runs through it. What it did is
 * seen in its counters: they, not the fault's being set, are the sign that a fault acted. */
#ifndef BENCH_SERVERS_WIRE_H
#define BENCH_SERVERS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"

#define WIRE_ENDS_MAX 64
#define WIRE_FAULTS_MAX 16 /* at one time */
#define WIRE_PIDS_MAX 64
#define WIRE_HOLDING_MAX 64

#define WIRE_ALL_ENDS UINT64_MAX

/* One listening port and the server behind it. */
struct wire_end {
    /* on 127.0.0.1; 0 = told later, by wire_aim: until then connections are reset */
    int server_port;
};

enum wire_way {
    WIRE_REQUESTS = 1, /* from who connected */
    WIRE_ANSWERS = 2,  /* to who connected */
    WIRE_BOTH = 3
};

enum wire_kind {
    WIRE_DELAY, /* bytes come by_ns later, and up to jitter_ns more, drawn from the seed; their order stays.
                     At   most 256 KiB of a connection are on their way: who sends more waits */
    WIRE_RATE, /* at most `rate` bytes a second, each connection, each way */
    WIRE_SWALLOW, /* what comes is read and thrown away, ends of connections too; nothing is closed. What was
                     on its way is thrown away as well. New connections are accepted; if it swallows requests,
                     the server does not see them */
    WIRE_STALL, /* nothing is read any more; connections stay, nothing is lost */
    WIRE_RESET, /* at once, and once: connections are reset, to both sides. New ones are fine */
    WIRE_CUT,   /* the same, but they end in order (FIN) */
    WIRE_REFUSE, /* new connections are refused; those of given pids are accepted and reset. Old ones are fine
                  */
    WIRE_MIDWAY, /* `bytes` more bytes of answers pass, then `then`, when the first byte beyond them comes: an
                    answer that just fits ends nothing. Each connection that is there now has a count of its
                    own, and new ones are fine; see `together` */
    WIRE_DROP /* the bytes-th answer from now that contains `holding` is swallowed (0: each such). If the
                    chunk    that it came in is a whole number of messages (RESP, PostgreSQL, four bytes of
                    length),    exactly that message, else the chunk. Counted over all connections that it is for
                  */
};

enum wire_then {
    WIRE_GO_ON, /* WIRE_MIDWAY: as WIRE_THEN_CUT */
    WIRE_THEN_RESET,
    WIRE_THEN_CUT,
    WIRE_THEN_SWALLOW /* further answers are swallowed; the connection stays */
};

struct wire_fault {
    enum wire_kind kind;
    uint64_t ends;     /* bit i = end i */
    enum wire_way way; /* delay, rate, swallow, stall; 0 = both */
    const pid_t *
        pids; /* only connections made by these processes, found by who has the socket open; at most
                  WIRE_PIDS_MAX. NULL = all. Of processes of other accounts only with the right to look */
    int pid_count;
    int64_t by_ns, jitter_ns;
    uint64_t seed;
    uint64_t rate;  /* bytes a second, at least 1 */
    uint64_t bytes; /* WIRE_MIDWAY; WIRE_DROP: which */
    bool
        together; /* WIRE_MIDWAY: one count for all; when it is full, all of them are struck, and new ones
                       are refused (after WIRE_THEN_SWALLOW: swallowed), until it is lifted */
    const void *holding; /* WIRE_DROP */
    size_t holding_len;  /* up to WIRE_HOLDING_MAX; 0 = any answer */
    enum wire_then then; /* WIRE_MIDWAY, WIRE_DROP (not swallow) */
};

struct wire;

/* Listens on a free port of 127.0.0.1 for each end and forwards. NULL with err. Call while the
 * program has one thread, and on one that outlives the wire. The first call starts the janitor. */
struct wire *wire_start(const struct wire_end *ends, int count, struct lb_err *err);
/* All connections end. NULL is fine. */
void wire_stop(struct wire *wire);

int wire_ends(const struct wire *wire);
int wire_port(const struct wire *wire, int end);
pid_t wire_pid(const struct wire *wire);

/* The following return 0 (or what is said), or -1 with err (LB_EXIT_MACHINE): the wire's process is
 * gone, or does not answer within 10 s. What they do has been done when they return. One thread at
 * a time. */

/* Where new connections to that end lead from now on. */
int wire_aim(struct wire *wire, int end, int server_port, struct lb_err *err);
/* A fault begins; several may be on at once, and add up. Returns its number, which is its own until
 * WIRE_FAULTS_MAX further ones were set. -1 with LB_EXIT_USAGE if it makes no sense or too many are
 * on. */
int wire_set(struct wire *wire, const struct wire_fault *fault, struct lb_err *err);
/* It ends. Connections that lost bytes by WIRE_SWALLOW or WIRE_THEN_SWALLOW are reset, for they
 * can't go on; those that lost a message by WIRE_DROP go on. No effect on one that is over. */
int wire_lift(struct wire *wire, int fault, struct lb_err *err);
/* All end. */
int wire_heal(struct wire *wire, struct lb_err *err);

/* What a fault has done so far; kept after it was lifted. From any thread or forked process. */
struct wire_sign {
    uint64_t
        struck; /* how often it acted: chunks delayed, held back or swallowed, connections stalled, ended
                        or refused, messages dropped */
    uint64_t bytes;   /* that it delayed, held back or swallowed */
    uint64_t matched; /* connections that it is or was for */
    int64_t first_ns; /* by lb_now(), when it acted first; 0 = it has not */
    int64_t last_ns;
};
void wire_sign(const struct wire *wire, int fault, struct wire_sign *ret_sign);

/* Since the start. From any thread or forked process. */
struct wire_count {
    /* forwarded: counted just before it is sent */
    uint64_t read_bytes, forwarded_bytes, swallowed_bytes;
    uint64_t chunks; /* reads that brought something */
};
/* One way of an end, or both together. */
void wire_count(const struct wire *wire, int end, enum wire_way way, struct wire_count *ret_count);
/* Connections of an end that were accepted, that have ended, and that were refused or had no
 * server. */
void wire_connections(const struct wire *wire, int end, uint64_t *ret_accepted, uint64_t *ret_ended,
                      uint64_t *ret_refused);

#endif
