/* change: where a series of medians went to another level.
 *
 * Hunter's algorithm (Fleming, Kolaczkowski et al., ICPE 2023, arXiv 2301.03034), which became
 * Apache Otava: E-divisive means (Matteson and James 2014) finds the best place to split a window,
 * Student's t-test says whether it is one; windows overlap by half; then the weakest points are
 * taken away until all that are left are significant and great enough. Deterministic: no
 * permutations, no seed. Assumes values in order, each of an independent run, scattered alike
 * before and after a change. A single outlier among others is no change of level, but as the last
 * value it may be found as one: whoever acts on a change waits for some values after it. */
#ifndef RESULTS_STATS_CHANGE_H
#define RESULTS_STATS_CHANGE_H

struct change_options {
    int window;           /* values looked at together, at least 4; CHANGE_WINDOW */
    double max_p;         /* CHANGE_MAX_P */
    double min_magnitude; /* least change of the mean as a part of it: 0.03 = 3 % */
};

#define CHANGE_WINDOW 50
#define CHANGE_MAX_P 0.001

struct change_point {
    int index;            /* the first value of the new level */
    double p;             /* of Student's t-test between the neighbours on both sides */
    double before, after; /* means, from the change before to the one after */
};

/* Fills ret, in order, with room for `count` points; no more than count are ever found. Their
 * number, or -1 for values that are not finite or options out of range, or when out of memory. */
int change_points(const double *values, int count, const struct change_options *options,
                  struct change_point *ret);

#endif
