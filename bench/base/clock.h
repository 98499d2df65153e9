/* clock: the one clock of all measurements, CLOCK_MONOTONIC in nanoseconds.
 *
 * Signed, so that differences may be negative; LB_NEVER is "no deadline". Wall-clock time is used
 * only to date results, never to measure. */
#ifndef BENCH_BASE_CLOCK_H
#define BENCH_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define LB_NEVER INT64_MAX
#define LB_US_NS INT64_C(1000)
#define LB_MS_NS INT64_C(1000000)
#define LB_S_NS INT64_C(1000000000)

static inline int64_t lb_now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * LB_S_NS + ts.tv_nsec;
}

/* Unix time in nanoseconds, for dating results only. */
static inline int64_t lb_wall_now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * LB_S_NS + ts.tv_nsec;
}

/* start + delta, saturating at LB_NEVER. delta is not negative; start may be, in histories made by
 * hand. */
static inline int64_t lb_after(int64_t start_ns, int64_t delta_ns) {
    bool never = delta_ns == LB_NEVER || (start_ns > 0 && delta_ns >= LB_NEVER - start_ns);
    return never ? LB_NEVER : start_ns + delta_ns;
}

#endif
