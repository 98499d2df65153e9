/* keys: which key a client takes next: its own, any alike, or a few hot ones (Zipf).
 *
 * Zipf: key i (from 0, the hottest) has a share proportional to 1 / (i + 1)^s. Drawn exactly and in
 * constant time by rejection-inversion: W. Hoermann and G. Derflinger, "Rejection-inversion to
 * generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. No tables, so ten
 * million keys cost no memory. */
#ifndef BENCH_WORKLOAD_KEYS_H
#define BENCH_WORKLOAD_KEYS_H

#include <stdint.h>

#include "bench/base/rng.h"
#include "bench/workload/plan.h"

/* Read-only after keys_init, so all threads may share one. */
struct keypicker {
    enum key_pick pick;
    uint32_t count;
    double s;        /* Zipf's exponent; 0 to 5, 0 excluded */
    double low;      /* H(1/2) of the paper, moved so that key 1's bar is hit exactly */
    double high;     /* H(count + 1/2) */
    double accepted; /* a draw nearer to its key than this needs no further test */
};

/* The number of keys for this number of clients: one for each client, if each has its own. */
uint32_t keys_count(const struct keyspace *keys, int clients);

/* Whether each key has one holder at a time: a mutex that is not divided into slots. */
bool keys_have_one_holder(const struct lb_lock *lock);

/* The number of clients that may hold a key at the same time, if none of them is a reader. INFINITY: there is no limit,
 * or clients of this lock hold nothing. */
double keys_holders(const struct plan *plan, const struct lb_lock *lock);

/* keys: from a plan that was validated. */
void keys_init(struct keypicker *picker, const struct keyspace *keys, int clients);

/* Returns the next key of a client: 0 .. keys_count-1. Takes one or two draws from rng on
 * average. */
uint32_t keys_pick(const struct keypicker *picker, uint32_t client, struct lb_rng *rng);

#endif
