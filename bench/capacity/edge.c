/* edge: see edge.h. */
#include "bench/capacity/edge.h"

#include <math.h>
#include <stdlib.h>

#include "bench/base/rng.h"
#include "results/stats/student.h"

#define GRID 20 /* steps from end to end, and again of the best one */

double edge_distance(uint64_t over, uint64_t n, double allowed) {
    return log(((double)over + 0.5) / ((double)n + 1) / allowed);
}

static double cut(double z) {
    return z > EDGE_FAR ? EDGE_FAR : z < -EDGE_FAR ? -EDGE_FAR : z;
}

/* Squares that a line of this steepness through 0 at x leaves. */
static double left_over(const struct edge_point *points, int count, double x, double steep) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double off = cut(steep * (points[i].x - x)) - points[i].z;
        sum += off * off;
    }
    return sum;
}

/* The best x of a grid, over all steepnesses. */
static double best_of(const struct edge_point *points, int count, double from, double to) {
    /* e-fold in load times these is e-fold in the share over the limit: from polling to a queue
     * near its end. */
    static const double steeps[] = {2, 3, 4.5, 6.5, 10, 15, 22, 33, 50};
    double best = from, least = INFINITY;
    for (size_t s = 0; s < sizeof steeps / sizeof *steeps; s++) {
        for (int i = 0; i <= GRID; i++) {
            double x = from + (to - from) * i / GRID, left = left_over(points, count, x, steeps[s]);
            if (left >= least) continue;
            least = left;
            best = x;
        }
    }
    return best;
}

/* 0 with the crossing; -1: all kept, 1: all broken. The points' z are cut. */
static int cross(const struct edge_point *points, int count, double *ret_x) {
    double from = INFINITY, to = -INFINITY;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (points[i].x < from) from = points[i].x;
        if (points[i].x > to) to = points[i].x;
        kept += points[i].z <= 0;
    }
    if (kept == count) return -1;
    if (kept == 0) return 1;
    double step = (to - from) / GRID, coarse = best_of(points, count, from, to);
    *ret_x = best_of(points, count, coarse - step, coarse + step);
    return 0;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int edge_find(const struct edge_point *points, int count, double level, uint64_t seed,
              struct edge *ret) {
    struct edge_point seen[EDGE_POINTS_MAX], drawn[EDGE_POINTS_MAX];
    double edges[EDGE_RESAMPLES], least = INFINITY, most = -INFINITY;
    struct edge edge;
    struct lb_rng rng;
    if (count < 1) return -1;
    for (int i = 0; i < count; i++) {
        seen[i] = (struct edge_point){.x = points[i].x, .z = cut(points[i].z)};
        if (seen[i].x < least) least = seen[i].x;
        if (seen[i].x > most) most = seen[i].x;
    }
    int none = cross(seen, count, &edge.x);
    if (none) return none;
    /* Both sides are probed by design, so each is drawn from by itself. */
    int below = 0;
    for (int i = 0; i < count; i++) {
        if (seen[i].x >= edge.x) continue;
        struct edge_point kept = seen[below];
        seen[below++] = seen[i];
        seen[i] = kept;
    }
    rng_seed(&rng, seed, 0);
    for (int i = 0; i < EDGE_RESAMPLES; i++) {
        for (int j = 0; j < count; j++) {
            int first = j < below ? 0 : below, many = j < below ? below : count - below;
            drawn[j] = seen[first + (int)rng_below(&rng, (uint64_t)many)];
        }
        /* A draw without an edge says that it may lie as far out as the probes do. */
        none = cross(drawn, count, &edges[i]);
        if (none) edges[i] = none < 0 ? most : least;
    }
    qsort(edges, EDGE_RESAMPLES, sizeof *edges, by_size);
    /* Resampling few values makes intervals too narrow; Hesterberg (The American Statistician 69,
     * 2015) widens them by Student's t and n / (n - 1). */
    double tail = (1 - level) / 2;
    if (count > 2)
        tail = 0.5 * erfc(sqrt(count / (count - 1.0) / 2) * student_quantile(level, count - 1));
    edge.low = edges[(int)(tail * EDGE_RESAMPLES)];
    edge.high = edges[EDGE_RESAMPLES - 1 - (int)(tail * EDGE_RESAMPLES)];
    edge.below = below;
    edge.above = count - below;
    if (edge.below < EDGE_SIDE_MIN) edge.low = least;
    if (edge.above < EDGE_SIDE_MIN) edge.high = most;
    /* The estimate is a draw like the others. */
    if (edge.low > edge.x) edge.low = edge.x;
    if (edge.high < edge.x) edge.high = edge.x;
    *ret = edge;
    return 0;
}
