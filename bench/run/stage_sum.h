/* stage_sum: adds up the figures that clients and workers left in a stage's shared memory, after
 * they have ended. */
#ifndef BENCH_RUN_STAGE_SUM_H
#define BENCH_RUN_STAGE_SUM_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* Fills all members of stage that are sums. The supervisor fills the others: histograms, series, status and times. */
void stage_sum(struct stage *stage, const struct shared *shared);

/* Jain's fairness index of n amounts: (sum x)^2 / (n * sum x^2); 1 when all are equal, 1/n when one
 * has everything. 0 if the sum is 0. Source: Jain, Chiu, Hawe, "A Quantitative Measure of
 * Fairness", DEC-TR-301, 1984. */
double jain_index(const uint64_t *amounts, int count);

#endif
