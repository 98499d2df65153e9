/* change: finds where a series of medians changed its level.
 *
 * Hunter's algorithm (Fleming, Kolaczkowski et al., ICPE 2023, arXiv 2301.03034), which became
 * Apache Otava: E-divisive means (Matteson and James 2014) finds the best place to split a window,
 * and Student's t-test decides whether the split is a change; windows overlap by half. Then the
 * weakest points are removed until all that are left are significant and large enough. The result
 * is deterministic: no permutations, no seed. Assumes values in order, each from an independent
 * run, with the same scatter before and after a change. A single outlier among others is no change
 * of level, but as the last value it may be reported as one: act on a change only when some values
 * follow it. */
#ifndef RESULTS_STATS_CHANGE_H
#define RESULTS_STATS_CHANGE_H

struct change_options {
    int window;           /* values in one window, at least 4; CHANGE_WINDOW */
    double max_p;         /* CHANGE_MAX_P */
    double min_magnitude; /* the least change, relative to the mean: 0.03 = 3 % */
};

#define CHANGE_WINDOW 50
#define CHANGE_MAX_P 0.001

struct change_point {
    int index;            /* the first value of the new level */
    double p;             /* of Student's t-test between the levels on both sides */
    double before, after; /* means of the levels before and after the change */
};

/* The p-value of Student's two-sided t-test between two levels, with one variance for both; 1 for fewer than three
 * values in all. */
double change_p(const double *before, int before_count, const double *after, int after_count);

/* Fills ret in order; ret must have room for `count` points, and no more are ever found. Returns
 * their number, or -1 for values that are not finite, for options out of range, or when out of
 * memory. */
int change_points(const double *values, int count, const struct change_options *options,
                  struct change_point *ret);

/* Removes one of the points that change_points found, because the caller's own measure of a level says that it is none.
 * Tests its neighbours again, and removes what is not significant or large enough any more. Returns the number
 * of points that are left. */
int change_points_without(const double *values, int count, const struct change_options *options,
                          struct change_point *points, int found, int which);

#endif
