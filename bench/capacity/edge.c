/* edge: see edge.h. */
#include "bench/capacity/edge.h"

#include <math.h>

#define GRID 80      /* steps of the grid of loads */
#define BEYOND 0.2   /* how far the edge may lie beyond the outermost points, in x */
#define NARROWINGS 3 /* how often the grid is narrowed to the steps that have weight */
#define NOTHING 1e-5 /* the weight that narrowing may cut off on each side */

/* The steepnesses that are possible. At steepness s, a load that is e^(1/s) times as high has a
 * share over the limit that is e times as high: 2 is a polling lock, 256 a queue near its
 * capacity. */
static const double steeps[] = {2, 4, 8, 16, 32, 64, 128, 256};
#define STEEPS ((int)(sizeof steeps / sizeof *steeps))

static double cut(double z) {
    return fmax(-EDGE_LOW, fmin(EDGE_FAR, z));
}

/* Half the deviance of counts: how badly the curve through 1 at x describes the points. */
static double misfit_of(const struct edge_point *points, int count, double x, double steep) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double y = points[i].y, z = cut(steep * (points[i].x - x));
        sum += exp(z) - y - y * (y > 0 ? z - log(y) : 0);
    }
    return sum;
}

/* The probabilities of the edge lying in each of GRID steps between from and to, over all
 * steepnesses, for counts with `scatter` times the variance of independent ones. */
static void weigh_steps(const struct edge_point *points, int count, double from, double to,
                        double scatter, double weights[GRID], double *ret_x, double *ret_steep) {
    double misfits[GRID][STEEPS], least = INFINITY, sum = 0;
    for (int i = 0; i < GRID; i++) {
        double x = from + (to - from) * (i + 0.5) / GRID;
        for (int s = 0; s < STEEPS; s++) {
            misfits[i][s] = misfit_of(points, count, x, steeps[s]);
            if (misfits[i][s] >= least) continue;
            least = misfits[i][s];
            *ret_x = x;
            *ret_steep = steeps[s];
        }
    }
    for (int i = 0; i < GRID; i++) {
        weights[i] = 0;
        for (int s = 0; s < STEEPS; s++) weights[i] += exp((least - misfits[i][s]) / scatter);
        sum += weights[i];
    }
    for (int i = 0; i < GRID; i++) weights[i] /= sum;
}

/* The variance of the points near the fit, as a multiple of the variance of independent counts; at
 * least scatter_min. */
static double scatter_of(const struct edge_point *points, int count, double x, double steep,
                         double scatter_min) {
    double sum = 0;
    int near = 0;
    for (int i = 0; i < count; i++) {
        double z = steep * (points[i].x - x), m = exp(cut(z));
        if (fabs(z) >= EDGE_LOW) continue;
        sum += (points[i].y - m) * (points[i].y - m) / m;
        near++;
    }
    return near > 2 ? fmax(scatter_min, sum / (near - 2)) : scatter_min;
}

/* The load (its logarithm) between from and to below which this part of the weight lies. */
static double edge_place(const double weights[GRID], double from, double to, double part) {
    double sum = 0;
    for (int i = 0; i < GRID; i++) {
        if (sum + weights[i] >= part)
            return from + (to - from) * (i + (part - sum) / weights[i]) / GRID;
        sum += weights[i];
    }
    return to;
}

int edge_find(const struct edge_point *points, int count, double level, double scatter_min,
              struct edge *ret) {
    struct edge_point seen[EDGE_POINTS_MAX];
    double from = INFINITY, to = -INFINITY, weights[GRID], x = 0, steep = 0;
    double scatter = scatter_min;
    struct edge edge = {0};
    int kept = 0;
    for (int i = 0; i < count; i++) {
        seen[i] = (struct edge_point){.x = points[i].x, .y = fmin(points[i].y, exp(EDGE_FAR))};
        from = fmin(from, seen[i].x);
        to = fmax(to, seen[i].x);
        kept += seen[i].y <= 1;
    }
    if (kept == count) return -1;
    if (kept == 0) return 1;
    from -= BEYOND;
    to += BEYOND;
    for (int i = 0;; i++) {
        weigh_steps(seen, count, from, to, scatter, weights, &x, &steep);
        scatter = scatter_of(seen, count, x, steep, scatter_min);
        if (i == NARROWINGS) break;
        double step = (to - from) / GRID, begin = edge_place(weights, from, to, NOTHING);
        to = fmin(to, edge_place(weights, from, to, 1 - NOTHING) + step);
        from = fmax(from, begin - step);
    }
    edge.x = edge_place(weights, from, to, 0.5);
    edge.low = edge_place(weights, from, to, (1 - level) / 2);
    edge.high = edge_place(weights, from, to, (1 + level) / 2);
    for (int i = 0; i < count; i++) edge.below += seen[i].x < edge.x;
    edge.above = count - edge.below;
    *ret = edge;
    return 0;
}
