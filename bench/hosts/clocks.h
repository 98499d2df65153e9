/* clocks: how far another host's clock is ahead of ours, by messages that it answers at once.
 *
 * Of one exchange, sent at t0, answered at t and received at t1, the offset t - (t0 + t1) / 2 is wrong by at most half of
 * t1 - t0, whatever the ways take. So the exchange with the least round trip is kept (Cristian, "Probabilistic Clock
 * Synchronization", 1989). Between two measurements the offset is interpolated, and the error is that of the worse
 * one and all that they differ by: a clock that is slewed may go that way at once, at any moment between them. What this
 * does not cover is a clock that goes away and comes back between two measurements.
 *
 * Pure arithmetic: it sends nothing. */
#ifndef BENCH_HOSTS_CLOCKS_H
#define BENCH_HOSTS_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* One measurement. Times of our clock, in ns. */
struct clock_offset {
    int64_t offset_ns; /* their clock minus ours */
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

/* Adds one. The one before it is dropped where it says nothing beside its neighbours, since its error allows all that theirs
 * allow. When there is no room, every second of those before is dropped, never the first. */
void clock_add(struct clock_series *series, const struct clock_offset *offset);

/* The offset at a moment of our clock, and its error; outside of the measurements that of the nearest one. Zeros without
 * any measurement. */
struct clock_offset clock_at(const struct clock_series *series, int64_t at_ns);

/* The greatest error at any moment between two, which is that of a whole stage. */
int64_t clock_error_ns(const struct clock_series *series, int64_t from_ns, int64_t to_ns);

#endif
