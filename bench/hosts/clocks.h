/* clocks: how far another host's clock is ahead of this host's clock. The other host answers messages with its time.
 *
 * A message is sent at t0, answered at t, and its answer is received at t1. Then the offset t - (t0 + t1) / 2 is wrong
 * by at most half of t1 - t0, however long each of the two directions takes. So the exchange with the shortest round
 * trip is kept (Cristian, "Probabilistic Clock Synchronization", 1989). Between two measurements the offset is
 * interpolated. Its error is the error of the worse measurement plus the whole difference of the two offsets, because a
 * clock that is slewed or set may move by that difference at any moment between them. A clock that is set forward and
 * back again between two measurements is not noticed.
 *
 * This file only computes; hosts.c sends the messages. */
#ifndef BENCH_HOSTS_CLOCKS_H
#define BENCH_HOSTS_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* One measurement. Times are by this host's lb_now(). */
struct clock_offset {
    int64_t offset_ns; /* the other host's clock minus this host's clock */
    int64_t error_ns;  /* the offset is off by at most this */
    int64_t at_ns;     /* when it was measured; 0 = not yet */
};

/* Keeps the exchange if its round trip is shorter than those before. */
void clock_exchange(struct clock_offset *best, int64_t sent_ns, int64_t theirs_ns,
                    int64_t received_ns);

#define CLOCK_MEASUREMENTS 512

/* The measurements of one host in the order of time. */
struct clock_series {
    struct clock_offset item[CLOCK_MEASUREMENTS];
    int count;
};

/* Adds a measurement. The measurement before it is dropped if it says nothing beside its two neighbours, because its
 * error interval contains both of theirs. When there is no room, every second earlier measurement is dropped, never
 * the first. */
void clock_add(struct clock_series *series, const struct clock_offset *offset);

/* The offset at a time of this host's clock, and its error; before the first measurement and after the last one, that
 * measurement itself. All members are 0 if there is no measurement. */
struct clock_offset clock_at(const struct clock_series *series, int64_t at_ns);

/* The greatest error at any moment from from_ns to to_ns, for example of a stage. */
int64_t clock_error_ns(const struct clock_series *series, int64_t from_ns, int64_t to_ns);

#endif
