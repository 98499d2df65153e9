/* sweep: see sweep.h. */
#include "bench/workload/sweep.h"

#include <stdlib.h>

#define STREAM                                                                                     \
    (UINT64_C(1)                                                                                   \
     << 41) /* other random numbers than those of arrivals and clients with the same seed */

static const char *const orders[] = {"as-listed", "up", "down", "shuffled", "mirror"};

static double load_of(const struct rung *rung) {
    return rung->rate_per_s > 0 ? rung->rate_per_s : rung->clients;
}

static int by_load(const void *a, const void *b) {
    double x = load_of(a), y = load_of(b);
    return (x > y) - (x < y);
}

static void swap_rungs(struct rung *a, struct rung *b) {
    struct rung kept = *a;
    *a = *b;
    *b = kept;
}

/* Fisher and Yates. */
static void shuffle_rungs(struct rung *rungs, int count, uint64_t seed) {
    struct lb_rng rng;
    rng_seed(&rng, seed, STREAM);
    for (int i = count - 1; i > 0; i--)
        swap_rungs(&rungs[i], &rungs[rng_below(&rng, (uint64_t)i + 1)]);
}

/* One ladder at a time: a checked plan with rates has one number of clients. */
static int list_rungs(const struct plan *plan, struct rung *rungs) {
    for (int i = 0; i < plan->rates_count; i++) {
        rungs[i] = (struct rung){.clients = plan->clients[0], .rate_per_s = plan->rates[i]};
    }
    if (plan->rates_count > 0) return plan->rates_count;
    for (int i = 0; i < plan->clients_count; i++)
        rungs[i] = (struct rung){.clients = plan->clients[i]};
    return plan->clients_count;
}

int sweep_rungs(const struct plan *plan, int repeat, struct rung rungs[SWEEP_RUNGS_MAX]) {
    int count = list_rungs(plan, rungs), up = count;
    if (plan->sweep == SWEEP_LISTED) return count;
    qsort(rungs, (size_t)count, sizeof *rungs, by_load);
    if (plan->sweep == SWEEP_SHUFFLED) shuffle_rungs(rungs, count, plan->seed + (uint64_t)repeat);
    if (plan->sweep == SWEEP_DOWN) {
        for (int i = 0; i < count / 2; i++) swap_rungs(&rungs[i], &rungs[count - 1 - i]);
        up = 0;
    }
    /* The greatest load runs only once: it ends the way up and begins the way down. */
    if (plan->sweep == SWEEP_MIRROR) {
        for (int i = count - 2; i >= 0; i--) rungs[count++] = rungs[i];
    }
    for (int i = 0; i < count; i++) {
        rungs[i].at =
            (struct sweep_at){.by = plan->rates_count > 0 ? "rate" : "clients",
                              .order = orders[plan->sweep],
                              .leg = plan->sweep == SWEEP_SHUFFLED ? orders[SWEEP_SHUFFLED]
                                     : i < up                      ? orders[SWEEP_UP]
                                                                   : orders[SWEEP_DOWN],
                              .step = i};
    }
    return count;
}
