/* quantile: the confidence interval of a quantile, as ranks of the sorted samples, so that a caller
 * with a histogram can look up the two values; and that of a share (of requests over a limit, of attempts that failed).
 *
 * It assumes nothing about the distribution. A quantile that the samples are too few to support has
 * no interval; the greatest sample is not used as a bound instead. */
#ifndef RESULTS_STATS_QUANTILE_H
#define RESULTS_STATS_QUANTILE_H

#include <stdbool.h>
#include <stdint.h>

#define QUANTILE_ABOVE 5 /* a quantile is supported if so many samples are above it */

/* True if n samples (0 and more) are enough to name their q-quantile (0 < q < 1). The quantile of
 * fewer is hardly more than their maximum: p99 of 44 samples is the greatest of them. p50 needs 10,
 * p99 500, p99.9 5,000. */
bool quantile_supported(double n, double q);

/* The q-quantile of the distribution that the n samples came from lies between the samples of ranks
 * *ret_low and *ret_high (1 = the smallest, n = the greatest; 1 <= low <= high <= n) with at least
 * the probability `level`, with equal tails (David and Nagaraja, Order Statistics, 2003, section
 * 7.1). Exact by the binomial distribution; normal where n q (1-q) is above 1e8. Assumes
 * independent samples. The latencies of one stage queue behind each other, so that these intervals
 * are too narrow for them: use quantile_ranks_batches. Returns 0, or -1 where n does not support
 * the quantile (p99 at 95 % needs 368 samples) or q or level is not within 0..1; then the ranks are
 * untouched. */
int quantile_ranks(uint64_t n, double q, double level, uint64_t *ret_low, uint64_t *ret_high);

/* One of several batches of samples: one second, or one repeat. */
struct quantile_batch {
    uint64_t count;      /* samples in it */
    uint64_t below;      /* samples of it at or below the q-quantile of all batches together */
    double sum, squares; /* of the samples' values, and of their squares; 0: not known */
};

#define QUANTILE_BATCHES_MIN 5

/* The number of independent samples that dependent samples are worth. */
struct quantile_worth {
    double n;         /* samples of all batches */
    double share;     /* of these, the samples below the quantile */
    double effective; /* independent samples that they are worth: at most n */
};

/* quantile_ranks for samples that depend on their neighbours: the ranks for the effective number of
 * samples, scaled to all samples (Woodruff 1952 for the inversion). Returns 0, or -1 as
 * quantile_ranks, or for fewer than QUANTILE_BATCHES_MIN batches. *ret_effective (may be NULL) is the effective number. */
int quantile_ranks_batches(const struct quantile_batch *batches, int count, double q, double level,
                           uint64_t *ret_low, uint64_t *ret_high, double *ret_effective);

/* The t with P(|T| <= t) = level, which gives the width of an interval of this level. 0 < level < 1
 * and df > 0; otherwise NAN. */
double student_quantile(double level, double df);

struct share {
    double share;     /* of all samples of all batches */
    double low, high; /* its interval, within 0..1 */
    double effective; /* independent samples that all samples are worth */
};

/* A batch has `count` samples, and `below` of them belong to the share. The interval is that of
 * Clopper and Pearson (Biometrika 26, 1934) for the effective number of samples, with equal
 * tails: it holds also where nothing, or everything, belongs to the share. Returns 0, or -1 as
 * quantile_ranks_batches; then *ret is untouched. */
int share_of_batches(const struct quantile_batch *batches, int count, double level,
                     struct share *ret);

/* The same interval for the samples that share->effective says. */
void share_interval(struct share *share, double level);

/* A window should last so many relaxation times; a window of fewer than the second shows nothing of
 * a queue's steady state. */
#define RELAXATIONS 8.0
#define RELAXATIONS_MIN 3.0

/* The number of independent samples that all samples are worth, as their values show: also where no
 * sample is beyond a limit, so that the share says nothing of clusters. For a queue near its
 * capacity it is the window's length in relaxation times (2 variance / drift^2 of a reflected
 * Brownian motion), for the mean wait and for the share beyond a great limit alike. Takes the least
 * that batches, pairs of batches, fours of batches, ... show, until these last RELAXATIONS. At most
 * all samples; all samples where no values are known or there are fewer than QUANTILE_BATCHES_MIN
 * batches. */
double batches_worth(const struct quantile_batch *batches, int count, double level);

#endif
