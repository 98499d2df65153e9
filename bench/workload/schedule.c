/* schedule: see schedule.h. */
#include "bench/workload/schedule.h"

#include <math.h>
#include <string.h>

/* Added to the seed, so that the schedule draws other random numbers than the clients. */
#define STREAM (UINT64_C(1) << 40)

/* The taken-th arrival of this share, by its number among all arrivals: no sum, so no drift. A
 * double holds a moment exactly to the nanosecond for 104 days. */
static void next_constant(struct schedule *s) {
    uint64_t number = s->taken / s->count * s->total + s->first + s->taken % s->count;
    s->next_ns = s->start_ns + llround((double)number * s->gap_ns);
}

static void next_poisson(struct schedule *s) {
    s->passed_ns -= s->gap_ns * log1p(-rng_unit(&s->rng));
    s->next_ns = s->start_ns + llround(s->passed_ns);
}

static void next(struct schedule *s) {
    if (s->kind == ARRIVAL_CONSTANT) next_constant(s);
    if (s->kind == ARRIVAL_POISSON) next_poisson(s);
}

void schedule_init(struct schedule *schedule, const struct arrival *arrival, uint32_t first,
                   uint32_t count, uint32_t total, int64_t start_ns, uint64_t seed) {
    *schedule = (struct schedule){.kind = arrival->kind,
                                  .first = first,
                                  .count = count,
                                  .total = total,
                                  .start_ns = start_ns,
                                  .next_ns = LB_NEVER};
    if (arrival->kind == ARRIVAL_CLOSED) return;
    schedule->gap_ns = 1e9 / arrival->rate_per_s;
    if (arrival->kind == ARRIVAL_POISSON) {
        schedule->gap_ns *= (double)total / count;
        rng_seed(&schedule->rng, seed, STREAM + first);
    }
    next(schedule);
}

int64_t schedule_take(struct schedule *schedule) {
    int64_t due_ns = schedule->next_ns;
    if (schedule->kind == ARRIVAL_CLOSED) return due_ns;
    schedule->taken++;
    next(schedule);
    return due_ns;
}
