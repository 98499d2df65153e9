/* slope: a straight line through a series by least squares: whether the series still rises or
 * falls.
 *
 * Assumes that the values scatter around the line independently and equally. For latencies this is
 * seldom exactly true: the standard error is then too small. The rule below does not use it. */
#ifndef RESULTS_STATS_SLOPE_H
#define RESULTS_STATS_SLOPE_H

#include <stdbool.h>

struct slope {
    double slope; /* change of the value per unit of t */
    double error; /* its standard error; NAN for two values */
    double mean;  /* of the values */
    double step;  /* mean distance of neighbours in t */
    /* slope times the whole window, relative to the mean: 0.03 = it rose by 3 % over the window */
    double drift;
    int count;
};

/* t need not be sorted or evenly spaced. Returns 0, or -1 for fewer than two values, values that
 * are not finite, or all values at the same t; then *ret is untouched. */
int slope_fit(const double *t, const double *value, int count, struct slope *ret);

#endif
