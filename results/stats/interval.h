/* interval: how far a figure may be from the truth: Student's t for means of few values, and exact intervals of shares
 * (of requests over a limit, of attempts that failed), from batches of samples that depend on their neighbours. Both by
 * the incomplete beta function. */
#ifndef RESULTS_STATS_INTERVAL_H
#define RESULTS_STATS_INTERVAL_H

#include "results/stats/quantile.h"

/* P(|T| > |t|) with df degrees of freedom, df > 0, by the incomplete beta function (Lentz's
 * continued fraction). NAN for bad input. */
double student_p(double t, double df);

/* The t with P(|T| <= t) = level, which gives the width of an interval of this level. 0 < level < 1
 * and df > 0; otherwise NAN. */
double student_quantile(double level, double df);

struct share {
    double share;     /* of all samples of all batches */
    double low, high; /* its interval, within 0..1 */
    double effective; /* independent samples that all samples are worth */
};

/* A batch has `count` samples, and `below` of them belong to the share. The interval is that of
 * Clopper and Pearson (Biometrika 26, 1934) for quantile_effective's number of samples, with equal
 * tails: it holds also where nothing, or everything, belongs to the share. Returns 0, or -1 as
 * quantile_effective; then *ret is untouched. */
int share_of_batches(const struct quantile_batch *batches, int count, double level,
                     struct share *ret);

#endif
