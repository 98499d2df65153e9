/* canary: measures the load generator without a lock (`null`), for a second before a run and a second
 * after it. If its rate differs between the two, the machine has changed, and stages that ran at
 * different times can't be compared. The canary judges no lock. */
#ifndef BENCH_RUN_CANARY_H
#define BENCH_RUN_CANARY_H

#include "bench/run/stage.h"

/* The number of short stages before the run, and after it. When eight stages are compared with eight,
 * hardly any samples but those that do not overlap have a p-value below CANARY_ALPHA. */
#define CANARY_STAGES 8
#define CANARY_STAGE_NS (125 * LB_MS_NS)
#define CANARY_ALPHA 0.001
#define CANARY_PART 0.1 /* a change by a smaller part of the rate is not reported */

struct canary {
    double rate_per_s[CANARY_STAGES];
    int count; /* stages measured; if fewer than CANARY_STAGES, nothing can be concluded */
};

/* Runs the stages of `plan`, whose first lock is `null`. Stages that fail are left out. */
void canary_measure(struct canary *canary, const struct plan *plan,
                    const volatile sig_atomic_t *interrupts);

/* Whether the rate changed by more than its noise explains; false alarms in at most CANARY_ALPHA of the
 * runs. *ret_part: the change as a part of the rate before, negative for slower; 0 if nothing can be
 * concluded. */
bool canary_moved(const struct canary *before, const struct canary *after, double *ret_part);

/* run.json's .canary: new reference, NULL when out of memory. */
json_t *canary_json(const struct canary *before, const struct canary *after);

#endif
