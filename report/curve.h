/* curve: a percentile curve as few points: what a chart with a logarithmic tail axis can show.
 *
 * Computed here, so that a page need not carry 2,000 slots a histogram. Point i is the value at the quantile
 * 1 - 10^(-i / CURVE_STEPS), so x = 1 / (1 - q) runs in equal steps of a logarithmic axis; the last point is
 * the maximum, at x = count.
 */
#ifndef REPORT_CURVE_H
#define REPORT_CURVE_H

#include <stdint.h>

#include "results/format/hist.h"

#define CURVE_STEPS 12 /* a decade */
#define CURVE_MAX (CURVE_STEPS * 19 + 2)

/* Writes at most CURVE_MAX values in ns, in order; returns how many, 0 for an empty histogram. */
int curve_points(const struct hist *hist, int64_t *points);

#endif
