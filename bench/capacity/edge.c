/* edge: see edge.h. */
#include "bench/capacity/edge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/rng.h"

double edge_distance(uint64_t over, uint64_t n, double allowed) {
    return log(((double)over + 0.5) / ((double)n + 1) / allowed);
}

static int by_x(const void *a, const void *b) {
    const struct edge_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* Neighbours that the fit holds at one height. */
struct block {
    double x, z; /* means */
    int count;
};

static struct block join(const struct block *a, const struct block *b) {
    double all = a->count + b->count;
    return (struct block){.x = (a->x * a->count + b->x * b->count) / all,
                          .z = (a->z * a->count + b->z * b->count) / all,
                          .count = a->count + b->count};
}

/* The isotonic fit of points in order of x. Returns how many blocks. */
static int fit(const struct edge_point *points, int count, struct block *blocks) {
    int used = 0;
    for (int i = 0; i < count; i++) {
        double z = points[i].z > EDGE_FAR ? EDGE_FAR : points[i].z < -EDGE_FAR ? -EDGE_FAR : points[i].z;
        blocks[used++] = (struct block){.x = points[i].x, .z = z, .count = 1};
        /* Points at the same load are one, whatever the order that they came in. */
        while (used > 1 &&
               (blocks[used - 2].z >= blocks[used - 1].z || blocks[used - 2].x == blocks[used - 1].x)) {
            blocks[used - 2] = join(&blocks[used - 2], &blocks[used - 1]);
            used--;
        }
    }
    return used;
}

/* 0 with the crossing; -1: all below, 1: all above. */
static int cross(const struct edge_point *points, int count, double *ret_x) {
    struct block blocks[EDGE_POINTS_MAX];
    int used = fit(points, count, blocks), first = 0;
    while (first < used && blocks[first].z <= 0) first++;
    if (first == used) return -1;
    if (first == 0) return 1;
    const struct block *kept = &blocks[first - 1], *broken = &blocks[first];
    *ret_x = kept->x + (broken->x - kept->x) * -kept->z / (broken->z - kept->z);
    return 0;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int edge_find(const struct edge_point *points, int count, double level, uint64_t seed, struct edge *ret) {
    struct edge_point sorted[EDGE_POINTS_MAX], drawn[EDGE_POINTS_MAX];
    double edges[EDGE_RESAMPLES];
    struct edge edge;
    struct lb_rng rng;
    memcpy(sorted, points, (size_t)count * sizeof *points);
    qsort(sorted, (size_t)count, sizeof *sorted, by_x);
    int none = count > 0 ? cross(sorted, count, &edge.x) : -1;
    if (none) return none;
    rng_seed(&rng, seed, 0);
    for (int i = 0; i < EDGE_RESAMPLES; i++) {
        for (int j = 0; j < count; j++) drawn[j] = sorted[rng_below(&rng, (uint64_t)count)];
        qsort(drawn, (size_t)count, sizeof *drawn, by_x);
        /* A draw without an edge says that it may lie as far out as the probes do. */
        none = cross(drawn, count, &edges[i]);
        if (none) edges[i] = none < 0 ? sorted[count - 1].x : sorted[0].x;
    }
    qsort(edges, EDGE_RESAMPLES, sizeof *edges, by_size);
    double tail = (1 - level) / 2;
    edge.low = edges[(int)(tail * EDGE_RESAMPLES)];
    edge.high = edges[(int)((1 - tail) * EDGE_RESAMPLES) - 1];
    /* The estimate is a draw like the others. */
    if (edge.low > edge.x) edge.low = edge.x;
    if (edge.high < edge.x) edge.high = edge.x;
    *ret = edge;
    return 0;
}
