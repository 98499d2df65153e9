/* series: tests of samples in the order of time: whether gaps come from an exponential
 * distribution, whether a series rises or falls, whether neighbours depend on each other.
 *
 * Each test gives a p-value: the probability that chance alone brings as much or more. */
#ifndef RESULTS_STATS_SERIES_H
#define RESULTS_STATS_SERIES_H

/* The statistic A2 of Anderson and Darling (1954) for values against the exponential distribution
 * with the mean 1, which is known and not estimated; sorts the values. NAN for none or for one that
 * is negative. From 10 values on, chance alone exceeds SERIES_A2_LIMIT with the probability 0.001
 * (Marsaglia and Marsaglia, Journal of Statistical Software 9, 2004). */
double series_exponential(double *values, int count);
#define SERIES_A2_LIMIT 5.97

/* The two-sided p-value of Mann's (1945) and Kendall's test for a trend, normal approximation with
 * ties. Where neighbours depend on each other the variance is that of fewer values: times
 * (1 + r) / (1 - r) with the series' lag-1 correlation r about its line (after Yue and Wang, Water
 * Resources Management 18, 2004), when r is above 0. 1 for fewer than SERIES_MIN values or equal
 * ones. */
double series_trend_p(const double *values, int count);

#define SERIES_MIN 10
#define SERIES_MAX 1000 /* the most values; a caller with more should put neighbours together */

/* The correlation of each value with the next one; NAN for fewer than three values or equal ones. */
double series_lag1(const double *values, int count);

/* The one-sided p-value of a lag-1 correlation this high or higher between independent values, by
 * its mean and variance under all orders of the values (Moran 1948), normal. */
double series_lag1_p(double r, int count);

#endif
