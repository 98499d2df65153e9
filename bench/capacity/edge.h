/* edge: at which load does a promise begin to break, judged by all probes together?
 *
 * Each probe says at its load x (a logarithm) how far it was from the promise: z = log(share over
 * the limit / share allowed), below 0 kept, above 0 broken. Near the edge a queue's z grows with
 * the load like a line, and far from it it says no more than its side; so the fit is a line that is
 * cut at EDGE_FAR above and below, by least squares to z cut likewise (a psychometric function:
 * many uncertain answers around a threshold). Cut so, one probe that something else disturbed has a
 * vote, not a veto. The interval is the percentile bootstrap over probes (Efron 1979): a probe is
 * one sample, whatever it measured inside. One or two of them on a side of the edge have no spread
 * to draw from: to that side the interval ends at the outermost probe. On made-up locks it lay two
 * to three times nearer to the edge than isotonic regression did. It knows no lock and no clock. */
#ifndef BENCH_CAPACITY_EDGE_H
#define BENCH_CAPACITY_EDGE_H

#include <stdint.h>

#define EDGE_POINTS_MAX 256
#define EDGE_FAR 2.0 /* e^2: 7.4 times the share that is allowed */
#define EDGE_RESAMPLES 400
#define EDGE_SIDE_MIN 3 /* points on a side that its end of the interval is drawn from */

struct edge_point {
    double x; /* log of the load */
    double z; /* log of the share over the limit, in shares that are allowed */
};

struct edge {
    double x, low, high;
    int below, above; /* points on each side of x; one that lies there is above */
};

/* z of a probe: `over` of n samples (n above 0), when `allowed` (a share) may be. Never infinite:
 * half a sample is added. */
double edge_distance(uint64_t over, uint64_t n, double allowed);

/* The edge of count points (at most EDGE_POINTS_MAX) and its interval at this level. 0; or -1 where
 * no edge is among them, all kept (*ret untouched), 1 likewise where all are broken. The same seed
 * gives the same interval. */
int edge_find(const struct edge_point *points, int count, double level, uint64_t seed,
              struct edge *ret);

#endif
