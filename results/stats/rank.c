/* rank: see rank.h. */
#include "results/stats/rank.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/sort.h"
#include "results/stats/quantile.h"

struct ranked {
    double value;
    bool group; /* the first one */
};

static int by_ranked(const void *a, const void *b) {
    double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
    return (x > y) - (x < y);
}

/* The number of orders of m and n values that give each U = 0 .. m*n: the coefficients of the
 * Gaussian binomial, the product over i of (1 - q^(m+i)) / (1 - q^i). NULL when out of memory. */
static double *orders(int m, int n) {
    int top = m * n;
    double *count = calloc((size_t)top + 1, sizeof *count);
    if (!count) return NULL;
    count[0] = 1;
    for (int i = 1; i <= n; i++) {
        for (int u = top; u >= m + i; u--) count[u] -= count[u - m - i];
        for (int u = i; u <= top; u++) count[u] += count[u - i];
    }
    return count;
}

/* P(U <= u) for m and n values; 0 for u below 0. */
static double p_at_most(const double *count, int top, int u) {
    double sum = 0, all = 0;
    for (int i = 0; i <= top; i++) {
        all += count[i];
        if (i <= u) sum += count[i];
    }
    return sum / all;
}

/* The values of both groups in order, with twice their mean ranks, which are whole numbers. */
struct ranking {
    int *twice; /* of each value, in order; owned */
    bool *is_x; /* true: the value is from the first group; owned */
    int x_count, all;
    double ties; /* sum of t^3 - t over the groups of t equal values */
};

static void free_ranking(struct ranking *ranking) {
    free(ranking->twice);
    free(ranking->is_x);
}

/* 0, or -1 when out of memory. */
static int rank_both(const double *x, int x_count, const double *y, int y_count,
                     struct ranking *ret) {
    int all = x_count + y_count;
    struct ranked *ranked = malloc((size_t)all * sizeof *ranked);
    *ret = (struct ranking){.twice = malloc((size_t)all * sizeof *ret->twice),
                            .is_x = malloc((size_t)all * sizeof *ret->is_x),
                            .x_count = x_count,
                            .all = all};
    if (!ranked || !ret->twice || !ret->is_x) {
        free(ranked);
        free_ranking(ret);
        return -1;
    }
    for (int i = 0; i < all; i++)
        ranked[i] = (struct ranked){i < x_count ? x[i] : y[i - x_count], i < x_count};
    qsort(ranked, (size_t)all, sizeof *ranked, by_ranked);
    for (int from = 0, to; from < all; from = to) {
        for (to = from; to < all && ranked[to].value == ranked[from].value; to++) {
            ret->is_x[to] = ranked[to].group;
        }
        double width = to - from;
        for (int i = from; i < to; i++) ret->twice[i] = from + 1 + to;
        ret->ties += width * width * width - width;
    }
    free(ranked);
    return 0;
}

/* The part, of all ways to choose x_count of the values, whose sum of twice the ranks is as far
 * from the mean as `far`, or farther. 1 when out of memory. */
static double part_as_far(const struct ranking *ranking, int far) {
    int m = ranking->x_count, top = 0, mean = m * (ranking->all + 1);
    for (int i = 0; i < ranking->all; i++) top += ranking->twice[i];
    size_t width = (size_t)top + 1;
    /* ways[k * width + s]: to choose k of the values so far with the sum s */
    double *ways = calloc(((size_t)m + 1) * width, sizeof *ways), all = 0, hits = 0;
    if (!ways) return 1;
    ways[0] = 1;
    for (int i = 0; i < ranking->all; i++) {
        int rank = ranking->twice[i];
        for (int k = i + 1 < m ? i + 1 : m; k > 0; k--) {
            double *to = ways + (size_t)k * width, *from = to - width;
            for (int s = top; s >= rank; s--) to[s] += from[s - rank];
        }
    }
    for (int s = 0; s <= top; s++) {
        double count = ways[(size_t)m * width + (size_t)s];
        all += count;
        if (abs(s - mean) >= far) hits += count;
    }
    free(ways);
    return hits / all;
}

/* Without ties the distribution is that of U, and symmetrical. */
static double p_without_ties(int x_count, int y_count, double pairs, double far) {
    double *count = orders(x_count, y_count);
    if (!count) return 1;
    double p = 2 * p_at_most(count, x_count * y_count, (int)lround(pairs / 2 - far));
    free(count);
    return p < 1 ? p : 1;
}

static double p_by_normal(double pairs, int all, double ties, double far) {
    double spread = sqrt(pairs / 12 * (all + 1 - ties / ((double)all * (all - 1))));
    if (!(spread > 0)) return 1;
    double z = (far > 0.5 ? far - 0.5 : 0) / spread;
    return erfc(z / sqrt(2));
}

double rank_p(const double *x, int x_count, const double *y, int y_count) {
    struct ranking ranking;
    int all = x_count + y_count, sum = 0, most = x_count > y_count ? x_count : y_count;
    if (x_count < 1 || y_count < 1 || rank_both(x, x_count, y, y_count, &ranking) != 0) return 1;
    for (int i = 0; i < all; i++) sum += ranking.is_x[i] ? ranking.twice[i] : 0;
    int twice_far = abs(sum - x_count * (all + 1)); /* twice the distance of U from its mean */
    double pairs = (double)x_count * y_count, p;
    if (ranking.ties == 0 && most <= RANK_EXACT_MAX) {
        p = p_without_ties(x_count, y_count, pairs, twice_far / 2.0);
    } else if (most <= RANK_TIED_MAX) {
        p = part_as_far(&ranking, twice_far);
    } else {
        p = p_by_normal(pairs, all, ranking.ties, twice_far / 2.0);
    }
    free_ranking(&ranking);
    return p;
}

/* The greatest k for which the k-th differences from both ends bound the shift at this level: a
 * quantile of U. 0 = the groups are too small. *ret_level: the level that is reached. */
static int bound_at(int m, int n, double level, double *ret_level) {
    double alpha = (1 - level) / 2;
    int k = 0;
    if (m <= RANK_EXACT_MAX && n <= RANK_EXACT_MAX) {
        double *count = orders(m, n);
        if (!count) return -1;
        while (p_at_most(count, m * n, k) <= alpha) k++;
        *ret_level = 1 - 2 * p_at_most(count, m * n, k - 1);
        free(count);
        return k;
    }
    double mean = (double)m * n / 2, spread = sqrt((double)m * n * (m + n + 1) / 12);
    k = (int)floor(mean - student_quantile(level, INFINITY) * spread); /* normal */
    *ret_level = level;
    return k > 0 ? k : 0;
}

int rank_shift(const double *x, int x_count, const double *y, int y_count, double level,
               struct rank_shift *ret) {
    if (x_count < 1 || y_count < 1) return -1;
    size_t count = (size_t)x_count * (size_t)y_count;
    double *difference = malloc(count * sizeof *difference), reached = 1;
    int k = difference ? bound_at(x_count, y_count, level, &reached) : -1;
    if (k < 0) {
        free(difference);
        return -1;
    }
    for (int i = 0; i < x_count; i++) {
        for (int j = 0; j < y_count; j++)
            difference[(size_t)i * (size_t)y_count + (size_t)j] = y[j] - x[i];
    }
    sort_doubles(difference, count);
    *ret = (struct rank_shift){
        .estimate = (difference[(count - 1) / 2] + difference[count / 2]) / 2,
        .low = k > 0 ? difference[k - 1] : -INFINITY,
        .high = k > 0 ? difference[count - (size_t)k] : INFINITY,
        .level = k > 0 ? reached : 1,
    };
    free(difference);
    return 0;
}

struct family {
    double p;
    int index;
};

static int by_p(const void *a, const void *b) {
    double x = ((const struct family *)a)->p, y = ((const struct family *)b)->p;
    return (x > y) - (x < y);
}

int rank_holm(double *p, int count) {
    if (count < 1) return 0;
    struct family *family = malloc((size_t)count * sizeof *family);
    if (!family) return -1;
    for (int i = 0; i < count; i++) family[i] = (struct family){p[i], i};
    qsort(family, (size_t)count, sizeof *family, by_p);
    double worst = 0;
    for (int i = 0; i < count; i++) {
        double adjusted = family[i].p * (count - i);
        if (adjusted > worst) worst = adjusted;
        p[family[i].index] = worst < 1 ? worst : 1;
    }
    free(family);
    return 0;
}

double rank_median(const double *values, int count) {
    if (count < 1) return NAN;
    double *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) return NAN;
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    sort_doubles(sorted, (size_t)count);
    double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    free(sorted);
    return median;
}
