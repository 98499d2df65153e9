/* canary: the load generator with no lock at all (`null`), for a second before a run and a second
 * after it. When it got faster or slower meanwhile, the machine changed, and stages that ran at
 * different times can't be compared. It judges no lock. */
#ifndef BENCH_RUN_CANARY_H
#define BENCH_RUN_CANARY_H

#include "bench/run/stage.h"

/* Short stages on either side of the run. When eight stages are compared with eight, only samples
 * that do not overlap, and few others, have a p-value below CANARY_ALPHA. */
#define CANARY_STAGES 8
#define CANARY_STAGE_NS (125 * LB_MS_NS)
#define CANARY_ALPHA 0.001
#define CANARY_PART 0.1 /* a smaller change changes no decision */

struct canary {
    double rate_per_s[CANARY_STAGES];
    int count; /* that were measured; fewer than CANARY_STAGES: nothing can be told */
};

/* Runs the stages of `plan`, whose first lock is `null`. What fails is left out. */
void canary_measure(struct canary *canary, const struct plan *plan,
                    const volatile sig_atomic_t *interrupts);

/* Whether the rate moved beyond its noise: false alarms in at most CANARY_ALPHA of the runs.
 * ret_part: by which part of the rate before, negative for slower; 0 where nothing can be told. */
bool canary_moved(const struct canary *before, const struct canary *after, double *ret_part);

/* run.json's .canary: new reference, NULL when out of memory. */
json_t *canary_json(const struct canary *before, const struct canary *after);

#endif
