/* injected: the changes that the faults of a run make inside a client: its renewals are held back (kind
 * `starve`), or its wall clock is off (kind `client-clock`).
 *
 * The supervisor writes the struct, in memory that it shares with the client. A driver calls the functions
 * below wherever it keeps its session alive by itself, and wherever its protocol reads the client's wall
 * clock. The clock for measurements (lb_now) is never changed. The core sends the renewals of grants
 * (lb_renew_fn), and holds them back itself. */
#ifndef DRIVERS_INJECTED_H
#define DRIVERS_INJECTED_H

#include <stdatomic.h>

#include "drivers/driver.h"

/* The changes in one client. If clients share a session, the struct of the session's first client is used. A zeroed
 * struct = nothing is changed. */
struct lb_injected {
    _Atomic bool starved;        /* its renewals are held back */
    _Atomic uint64_t held_back;  /* renewals that were due and were not sent for that reason */
    _Atomic int64_t wall_by_ns;  /* by how much its wall clock is ahead; below 0 = behind */
    _Atomic uint64_t wall_reads; /* how often its wall clock was read while it was off */
};

/* For a driver's helper fiber: whether it must not keep its session alive now. It sends no renewal
 * then, and calls lb_held_back for each one that is due. All functions of this file are called from
 * the session's thread. */
static inline bool lb_is_starved(const struct lb_session *session) {
    return session->injected &&
           atomic_load_explicit(&session->injected->starved, memory_order_relaxed);
}

/* A renewal was due and was not sent, since lb_is_starved said so. */
static inline void lb_held_back(struct lb_session *session) {
    atomic_fetch_add_explicit(&session->injected->held_back, 1, memory_order_relaxed);
}

/* The client's wall clock: nanoseconds since 1970. A driver reads no other one. */
static inline int64_t lb_client_wall_now(const struct lb_session *session) {
    int64_t by_ns = session->injected
                        ? atomic_load_explicit(&session->injected->wall_by_ns, memory_order_relaxed)
                        : 0;
    if (__builtin_expect(by_ns != 0, 0))
        atomic_fetch_add_explicit(&session->injected->wall_reads, 1, memory_order_relaxed);
    return lb_wall_now() + by_ns;
}

#endif
