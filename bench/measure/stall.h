/* stall: for how long a worker thread stood still, by its heartbeat.
 *
 * A thread plans a beat each interval. A beat that comes late shows that nothing of the thread ran
 * meanwhile: the program was stopped, the processor ran something else, or a driver blocked. One
 * long stall delays many beats, and each of them is recorded with its own lateness: d, d -
 * interval, d - 2 intervals, ... (the expected-interval correction of jHiccup). So a quantile of
 * the lateness weighs time, and a stop for 3 s of 5 s is not one hiccup among 2,000.
 *
 * This module does not know why a thread stood still. Only the pauses that a fault section plans
 * are known, and they are not recorded. The thread is the only writer, apart from the plan. */
#ifndef BENCH_MEASURE_STALL_H
#define BENCH_MEASURE_STALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/base/clock.h"
#include "results/format/hist.h"

/* A beat that is later shows a stall. Shorter delays are the usual noise of timers. */
#define STALL_LATE_NS LB_MS_NS

/* Values that one stall may record, however long it was: its cost is at most about 40 us. */
#define STALL_RECORDS_MAX 4096

/* All times by lb_now(), in ns. */
struct stalls {
    int64_t interval_ns;    /* from one beat to the next */
    int64_t due_ns;         /* when the next beat is due */
    int64_t from_ns, to_ns; /* the latest stall; both 0 = there was none */
    int64_t lost_ns;        /* the sum of the parts of all stalls that lie in the window */
    int64_t all_ns;         /* the sum of all stalls, whole, planned or not */
    /* The latest pause that a fault section planned, or LB_NEVER for its end while it lasts. The
     * supervisor writes these two. */
    _Atomic int64_t planned_from_ns, planned_to_ns;
};

/* The first beat is due an interval after now_ns. */
void stalls_begin(struct stalls *stalls, int64_t interval_ns, int64_t now_ns);

/* A beat came at now_ns. Records in `late` the lateness of each beat that fell due inside the window
 * begin_ns .. end_ns and by now_ns, and plans the next one. No allocation, no system call. */
void stalls_beat(struct stalls *stalls, int64_t now_ns, int64_t begin_ns, int64_t end_ns,
                 struct hist *late);

/* For how long the thread stood still around when_ns, which is not after now_ns; 0 = it did not. A stall
 * counts also before the late beat that ends it, since another fiber of the thread may run first. To be
 * called on the thread itself. */
int64_t stalls_around(const struct stalls *stalls, int64_t when_ns, int64_t now_ns);

/* For how long the thread has stood still from its first beat to now_ns, including a stall that lasts now and whose
 * late beat is still to come. The difference of two such sums is the time that a span lost. To be called on the thread
 * itself. */
static inline int64_t stalls_sum(const struct stalls *stalls, int64_t now_ns) {
    int64_t late_ns = now_ns - stalls->due_ns;
    return stalls->all_ns + (late_ns > STALL_LATE_NS ? late_ns : 0);
}

/* The supervisor is about to stop the thread on purpose (to_ns = LB_NEVER), or to resume it. */
void stalls_plan(struct stalls *stalls, int64_t from_ns, int64_t to_ns);

#endif
