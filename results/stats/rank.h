/* rank: compares two groups of runs by ranks: whether one is better, and by how much.
 *
 * One run gives one value, however much it measured. The code assumes only that runs are
 * independent; no value is discarded. It knows no metric and prints nothing. */
#ifndef RESULTS_STATS_RANK_H
#define RESULTS_STATS_RANK_H

/* Values in each group: up to here the distribution is exact, beyond it is normal. */
#define RANK_EXACT_MAX 50
#define RANK_TIED_MAX 20 /* the same where values are equal */

/* The two-sided p-value of Mann and Whitney's U (1947). Exact up to RANK_EXACT_MAX values in each
 * group, and with ties up to RANK_TIED_MAX; otherwise by the normal approximation, corrected for ties
 * and for continuity, as R's wilcox.test does. With ties the distribution is that of the mean ranks
 * over all ways to part the values into two such groups, counted by the shift algorithm of Streitberg
 * and Roehmel (Exact distributions for permutation and rank tests, Statistical Software Newsletter
 * 12, 1986). 1 when a group is empty or all values are equal, or when out of memory. */
double rank_p(const double *x, int x_count, const double *y, int y_count);

/* The distance of y above x: the estimate of Hodges and Lehmann (1963), the median of all
 * differences, with its confidence interval from the quantiles of U. */
struct rank_shift {
    /* low and high are infinite where the groups are too small for the level */
    double estimate, low, high;
    /* the level that low..high reaches, at least the one asked for: U has few values in small
     * groups */
    double level;
};

/* level: 0.95, for example. Returns 0, or -1 when out of memory or if a group is empty; then *ret
 * is untouched. */
int rank_shift(const double *x, int x_count, const double *y, int y_count, double level,
               struct rank_shift *ret);

/* Holm's correction (1979) of many p-values, in place: each becomes the smallest level at which it
 * is significant in the family. Returns 0, or -1 when out of memory. */
int rank_holm(double *p, int count);

/* The median, of a sorted copy. NAN for no values, or when out of memory. */
double rank_median(const double *values, int count);

#endif
