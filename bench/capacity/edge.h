/* edge: finds the load at which a promise begins to break, from all probes together.
 *
 * Each probe says at its load x (a logarithm) which share of its requests was over the limit: y, in
 * shares that are allowed. The edge is the load at which y is 1 in the mean. Near the edge the
 * share of a queue grows with the load like exp(steepness * x), and far from the edge a probe shows
 * only on which side of it the load is, so the curve is cut at EDGE_LOW below and EDGE_FAR above,
 * and so is each y. This limits the weight of a probe that something else disturbed. Late requests
 * come in clusters, and one cluster may be ten times what is allowed in a window: with a lower cut
 * such probes would count for less than they show, and the edge would be found too high.
 *
 * Each pair of a load and a steepness on a grid gets a weight: the quasi-likelihood of the counts
 * (Wedderburn, Biometrika 61, 1974) if that load is the edge; the answer is the median of these
 * weights and its interval their quantiles. Least squares of logarithms would be wrong: late
 * requests come in clusters, so the mean of the logarithms lies far below the logarithm of the
 * mean, and the edge would be found too high. For the same reason a probe counts as one sample,
 * whatever it measured inside, and probes are taken to scatter at least as much as the caller says.
 * This file knows no lock and no clock. */
#ifndef BENCH_CAPACITY_EDGE_H
#define BENCH_CAPACITY_EDGE_H

#define EDGE_POINTS_MAX 256
#define EDGE_LOW 2.0    /* 1/e^2 of the share that is allowed */
#define EDGE_FAR 2.5    /* e^2.5: 12 times that share */
#define EDGE_SIDE_MIN 3 /* points on each side that are enough for an answer */
struct edge_point {
    double x; /* log of the load */
    double y; /* share over the limit, in shares that are allowed; 0 or above */
};

struct edge {
    double x, low, high;
    int below, above; /* points on each side of x; a point at x itself counts as above */
};

/* The edge of count points (at most EDGE_POINTS_MAX) and its interval at this level. scatter_min:
 * the variance of y where its mean is 1, at least (window_scatter). Returns 0; -1 if the promise
 * was kept at all points, and 1 if it was broken at all points: then there is no edge among them,
 * and *ret is untouched. */
int edge_find(const struct edge_point *points, int count, double level, double scatter_min,
              struct edge *ret);

#endif
