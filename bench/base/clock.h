/* clock: the one clock of all measurements, CLOCK_MONOTONIC in nanoseconds.
 *
 * Times are signed, so that differences may be negative; LB_NEVER means "no deadline". Wall-clock
 * time only dates results; nothing is measured with it. */
#ifndef BENCH_BASE_CLOCK_H
#define BENCH_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define LB_NEVER INT64_MAX
/* Two overlapping holds on different machines may seem apart by the errors of two clocks, and then lose those errors once
 * more in the judge (bench/oplog/book.h, book_narrow): so an overlap that is shorter than so many errors may go unseen. */
#define LB_UNSEEN_ERRORS 4
#define LB_US_NS INT64_C(1000)
#define LB_MS_NS INT64_C(1000000)
#define LB_S_NS INT64_C(1000000000)

static inline int64_t lb_now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * LB_S_NS + ts.tv_nsec;
}

/* Suspends the calling thread; a signal may end it earlier. Fibers must not call it: they wait by
 * drivers/wait.h. */
static inline void lb_nap(int64_t ns) {
    nanosleep(&(struct timespec){.tv_sec = ns / LB_S_NS, .tv_nsec = ns % LB_S_NS}, NULL);
}

/* Unix time in nanoseconds, for dating results only. */
static inline int64_t lb_wall_now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * LB_S_NS + ts.tv_nsec;
}

/* Returns start + delta, at most LB_NEVER. delta must not be negative; start may be negative in
 * oplogs made by hand. */
static inline int64_t lb_after(int64_t start_ns, int64_t delta_ns) {
    bool never = delta_ns == LB_NEVER || (start_ns > 0 && delta_ns >= LB_NEVER - start_ns);
    return never ? LB_NEVER : start_ns + delta_ns;
}

/* Milliseconds that a server told, at least 0, as nanoseconds; more than there can be is LB_NEVER. */
static inline int64_t lb_of_ms(int64_t ms) {
    return ms > LB_NEVER / LB_MS_NS ? LB_NEVER : ms * LB_MS_NS;
}

#endif
