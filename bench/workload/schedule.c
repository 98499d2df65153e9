/* schedule: see schedule.h. */
#include "bench/workload/schedule.h"

#include <math.h>
#include <string.h>

#define DAY_NS (86400 * LB_S_NS)
/* Added to the seed, so that the schedule draws other random numbers than the clients. */
#define STREAM (UINT64_C(1) << 40)

int64_t dist_draw(const struct dist *dist, struct lb_rng *rng) {
    double mean = (double)dist->mean_ns, drawn = 0;
    switch (dist->kind) {
    case DIST_CONSTANT:
        return dist->mean_ns;
    case DIST_EXPONENTIAL:
        drawn = -mean * log1p(-rng_unit(rng));
        break;
    case DIST_LOGNORMAL: {
        /* Box and Muller (1958); the second normal is not kept, so that a draw leaves no state
         * behind. */
        double radius = sqrt(-2 * log1p(-rng_unit(rng)));
        double normal = radius * cos(2 * M_PI * rng_unit(rng));
        /* exp(mu) is the median; the mean of a lognormal is exp(mu + sigma^2 / 2). */
        drawn = mean * exp(dist->sigma * normal - dist->sigma * dist->sigma / 2);
        break;
    }
    }
    return drawn < (double)DAY_NS ? (int64_t)(drawn + 0.5) : DAY_NS;
}

static void next(struct schedule *s) {
    if (s->kind == ARRIVAL_CONSTANT) {
        /* The taken-th arrival of this share, by its number among all arrivals: no sum, so no drift. A
         * double holds a moment exactly to the nanosecond for 104 days. */
        uint64_t number = s->taken / s->count * s->total + s->first + s->taken % s->count;
        s->next_ns = s->start_ns + llround((double)number * s->gap_ns);
    } else if (s->kind == ARRIVAL_POISSON) {
        s->passed_ns -= s->gap_ns * log1p(-rng_unit(&s->rng));
        s->next_ns = s->start_ns + llround(s->passed_ns);
    }
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

/* keys: rejection-inversion with the hat h(x) = x^-s, whose integral H is inverted in
 * closed form.
 *
 * Key k (1 .. count) owns the stretch [H(k+1/2) - h(k), H(k+1/2)) of length h(k), its exact weight.
 * A uniform draw u from (H(1/2)', H(count+1/2)) is inverted to x, rounded to k, and accepted if it
 * falls into k's stretch. Since h is convex, the stretches don't overlap and lie under H: so the
 * result is exact, and the chance of rejection is small for every s. */

/* (e^x - 1) / x and log(1 + x) / x, smooth through 0: they carry s = 1, where H is a logarithm. */
static double expm1_over(double x) {
    return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2;
}

static double log1p_over(double x) {
    return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2;
}

static double weight(double s, double x) {
    return exp(-s * log(x));
}

/* The integral of x^-s from 1: (x^(1-s) - 1) / (1-s). */
static double area(double s, double x) {
    double log_x = log(x);
    return expm1_over((1 - s) * log_x) * log_x;
}

static double area_inverse(double s, double y) {
    double t = y * (1 - s);
    /* Rounding may carry t below -1 for large s, where the logarithm ends. */
    if (t < -1) t = -1;
    return exp(log1p_over(t) * y);
}

uint32_t keys_count(const struct keyspace *keys, int clients) {
    return keys->pick == KEYS_OWN ? (uint32_t)clients : keys->count;
}

bool keys_have_one_holder(const struct lb_lock *lock) {
    return lock->primitive == LB_MUTEX;
}

double keys_holders(const struct plan *plan, const struct lb_lock *lock) {
    if (lock->caps & LB_CAP_BASELINE) return INFINITY;
    if (lock->primitive == LB_SEMAPHORE) return floor((double)plan->bound / (double)plan->permits);
    return lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK ? 1 : INFINITY;
}

void keys_init(struct keypicker *picker, const struct keyspace *keys, int clients) {
    double s = keys->zipf_s;
    *picker = (struct keypicker){.pick = keys->pick, .count = keys_count(keys, clients), .s = s};
    if (keys->pick != KEYS_ZIPF) return;
    picker->low = area(s, 1.5) - 1;
    picker->high = area(s, picker->count + 0.5);
    picker->accepted = 2 - area_inverse(s, area(s, 2.5) - weight(s, 2));
}

static uint32_t pick_zipf(const struct keypicker *picker, struct lb_rng *rng) {
    double s = picker->s;
    for (;;) {
        double u = picker->high + rng_unit(rng) * (picker->low - picker->high);
        double x = area_inverse(s, u);
        /* Rounding may carry x just beyond an end. Written so that a NaN would end up at the first
         * key. */
        double k = x > 1 ? floor(x + 0.5) : 1;
        if (k > picker->count) k = picker->count;
        if (k - x <= picker->accepted || u >= area(s, k + 0.5) - weight(s, k))
            return (uint32_t)k - 1;
    }
}

uint32_t keys_pick(const struct keypicker *picker, uint32_t client, struct lb_rng *rng) {
    switch (picker->pick) {
    case KEYS_OWN:
        return client;
    case KEYS_UNIFORM:
        return picker->count == 1 ? 0 : (uint32_t)rng_below(rng, picker->count);
    case KEYS_ZIPF:
        return pick_zipf(picker, rng);
    }
    return 0;
}
