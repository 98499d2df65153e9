/* proxy: a wire (bench/servers/wire.h) between a client and its servers, for tests that lose one
 * answer or one connection at a chosen byte: one fault at a time, for all connections, until it is
 * healed.
 *
 * An error aborts the program, since a test can't go on. All functions may be called from any one
 * thread. */
#ifndef BENCH_CONFORM_PROXY_H
#define BENCH_CONFORM_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"

enum proxy_fault {
    PROXY_CUT,           /* every connection ends in order (FIN), new ones are refused */
    PROXY_RESET,         /* the same, with an RST */
    PROXY_LOSE_ANSWERS,  /* nothing more arrives from the server; connections stay */
    PROXY_LOSE_REQUESTS, /* nothing more arrives at the server; connections stay */
};

struct proxy;
struct wire;

/* Over a wire that the caller starts and stops. NULL with err. */
struct proxy *proxy_over(struct wire *wire, struct lb_err *err);
/* NULL is allowed. */
void proxy_stop(struct proxy *proxy);

/* Lets `bytes` more bytes of answers pass, counted over all connections; then the fault strikes at
 * the next byte. A fault that loses requests strikes at the next request. A former fault is
 * healed. */
void proxy_arm(struct proxy *proxy, enum proxy_fault fault, uint64_t bytes);

/* Delays each answer by so much from now on. A former fault is healed. */
void proxy_delay(struct proxy *proxy, int64_t by_ns);

/* Cuts all connections at once. */
void proxy_cut(struct proxy *proxy);

/* Heals the fault for new connections; connections that lost bytes are ended. Returns when that is
 * done. */
void proxy_heal(struct proxy *proxy);

/* True if the fault has struck. */
bool proxy_struck(const struct proxy *proxy);

#endif
