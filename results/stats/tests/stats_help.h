/* stats_help: what tests of statistics share: figures that are near others, and random numbers
 * that scatter normally. Header only, since each test is one program. */
#ifndef RESULTS_STATS_TESTS_STATS_HELP_H
#define RESULTS_STATS_TESTS_STATS_HELP_H

#include <math.h>

#include "bench/base/rng.h"
#include "bench/tests/unit.h"

/* Fails unless seen differs from wanted by at most this part of it. */
static inline void near(double seen, double wanted, double part) {
    if (!(fabs(seen - wanted) <= part * fabs(wanted))) fail_msg("%.15g, not %.15g", seen, wanted);
}

/* One of a normal distribution with mean 0 and standard deviation 1. */
static inline double normal(struct lb_rng *rng) {
    return sqrt(-2 * log(1 - rng_unit(rng))) * cos(2 * 3.14159265358979323846 * rng_unit(rng));
}

/* A factor with the median 1 that scatters by about this part. */
static inline double around(struct lb_rng *rng, double noise) {
    return exp(noise * normal(rng));
}

#endif
