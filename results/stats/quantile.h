/* quantile: how sure is a quantile? Its confidence interval as ranks of the sorted samples, so that
 * whoever has a histogram can look the two values up.
 *
 * Nothing is assumed of the distribution. A quantile that so few samples do not support has no
 * interval, and that is said rather than the greatest sample taken for a bound. */
#ifndef RESULTS_STATS_QUANTILE_H
#define RESULTS_STATS_QUANTILE_H

#include <stdint.h>

/* The q-quantile of what n samples came from lies between the samples of ranks *ret_low and
 * *ret_high (1 = the smallest, n = the greatest; 1 <= low <= high <= n) with at least this
 * probability, equal tails (David and Nagaraja, Order Statistics, 2003, section 7.1). Exact by the
 * binomial distribution, normal where n q (1-q) is above 1e8. Assumes independent samples: for one
 * stage's latencies, which queue behind each other, that makes intervals too narrow, and
 * quantile_ranks_batches is the one to use. 0, or -1 where n does not support it (p99 at 95 % wants
 * 368 samples) or q or level is not within 0..1; then the ranks are untouched. */
int quantile_ranks(uint64_t n, double q, double level, uint64_t *ret_low, uint64_t *ret_high);

/* One of several batches of samples: a second, a repeat. */
struct quantile_batch {
    uint64_t count; /* samples in it */
    uint64_t below; /* of them, at or below the q-quantile of all batches together */
};

#define QUANTILE_BATCHES_MIN 5

/* The same for samples that depend on their neighbours: how much the batches' shares below the
 * quantile differ gives the number of independent samples that all of them are worth (design
 * effect, never below 1), and quantile_ranks of that number is stretched to all ranks (Woodruff
 * 1952 for the inversion; Korn and Graubard, Survey Methodology 24, 1998, for the effective number
 * and its correction by Student's t). Assumes that batches are independent of each other, so each
 * much longer than the time over which the samples depend on each other, and that all are of one
 * steady state. Empty batches do not count. 0, or -1 as above or for fewer than
 * QUANTILE_BATCHES_MIN batches; *ret_effective (may be NULL): the number of independent samples. */
int quantile_ranks_batches(const struct quantile_batch *batches, int count, double q, double level,
                           uint64_t *ret_low, uint64_t *ret_high, double *ret_effective);

#endif
