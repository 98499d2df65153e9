/* rank: two groups of runs compared by ranks: is one better, and by how much?
 *
 * One value a run: a run is one sample, whatever it measured inside. Nothing is assumed of the
 * values but that runs are independent; no value is thrown away. It knows no metric and prints
 * nothing. */
#ifndef RESULTS_STATS_RANK_H
#define RESULTS_STATS_RANK_H

#define RANK_EXACT_MAX                                                                             \
    50 /* of each group: up to here the distribution is computed, beyond it is normal */

/* Two-sided p-value of Mann and Whitney's U (1947). Exact without ties and up to RANK_EXACT_MAX
 * values in each group; else by the normal approximation, corrected for ties and for continuity, as
 * R's wilcox.test does. 1 when a group is empty or all values are the same. All values must be
 * finite. */
double rank_p(const double *x, int x_count, const double *y, int y_count);

/* How far y lies above x: Hodges and Lehmann's estimate (1963), the median of all differences, and
 * its confidence interval from the quantiles of U. */
struct rank_shift {
    /* low and high are infinite where the groups are too small for the level */
    double estimate, low, high;
    /* what low..high reaches, at least what was asked for: U has few values in small groups */
    double level;
};

/* level: 0.95, say. 0, or -1 when out of memory or a group is empty; then *ret is untouched. */
int rank_shift(const double *x, int x_count, const double *y, int y_count, double level,
               struct rank_shift *ret);

/* Holm's correction (1979) of many p-values, in place: each becomes the smallest level at which it
 * would be called significant in the family. 0, or -1 when out of memory. */
int rank_holm(double *p, int count);

/* The smallest size of two equal groups that can be significant at this level at all, however far
 * apart they are: C(2n, n) orders are possible, and two of them are extreme. */
int rank_smallest(double level);

/* The median; sorts a copy. NAN for no values, or when out of memory. */
double rank_median(const double *values, int count);

#endif
