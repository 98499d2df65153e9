/* share: the confidence interval of a share (of requests over a limit, of attempts that failed), from
 * batches of samples that depend on their neighbours. */
#ifndef RESULTS_STATS_SHARE_H
#define RESULTS_STATS_SHARE_H

#include "results/stats/quantile.h"

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
