/* slope: a straight line through a series by least squares: does it still climb or fall?
 *
 * Assumes that the values scatter around the line independently and alike. Of latencies that is
 * seldom so exactly: the standard error is then too small, and the rule below, which does not use
 * it, is the one to go by. */
#ifndef RESULTS_STATS_SLOPE_H
#define RESULTS_STATS_SLOPE_H

#include <stdbool.h>

struct slope {
    double slope; /* of the value, a unit of t */
    double error; /* its standard error; NAN for two values */
    double mean;  /* of the values */
    double step;  /* mean distance of two neighbours in t */
    /* slope times the whole window, as a part of the mean: 0.03 = it rose by 3 % meanwhile */
    double drift;
    int count;
};

/* t need not be in order or evenly spaced. 0, or -1 for fewer than two values, values that are not
 * finite, or all at the same t; then *ret is untouched. */
int slope_fit(const double *t, const double *value, int count, struct slope *ret);

/* fio's rule for a steady state (ss=iops_slope:LIMIT): from one sample to the next the line changes
 * by less than `limit` of the mean. With samples of 1 s and a window of 30, 0.001, fio's own
 * example, allows a drift of 3 % over the window, 0.01 one of 30 %. False when the mean is not
 * above 0. */
bool slope_is_steady(const struct slope *slope, double limit);

#endif
