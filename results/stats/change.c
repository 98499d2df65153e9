/* change: see change.h. */
#include "results/stats/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/stats/student.h"

/* The p-value up to which the first pass keeps a point: ten times the limit, or less where the limit
 * is loose. */
static double weak_p(double max_p) {
    return max_p < 0.05 ? 10 * max_p : max_p < 0.5 ? 2 * max_p : max_p;
}

/* The mean of from .. to, and the sum of squared deviations. */
static double mean_of_values(const double *values, int from, int to, double *ret_squares) {
    double mean = 0;
    *ret_squares = 0;
    for (int i = from; i < to; i++) mean += values[i] / (to - from);
    for (int i = from; i < to; i++) *ret_squares += (values[i] - mean) * (values[i] - mean);
    return mean;
}

double change_p(const double *before, int before_count, const double *after, int after_count) {
    double left, right;
    int df = before_count + after_count - 2;
    if (before_count < 1 || after_count < 1 || df < 1) return 1;
    double away = fabs(mean_of_values(after, 0, after_count, &right) -
                       mean_of_values(before, 0, before_count, &left));
    double error = sqrt((left + right) / df * (1.0 / before_count + 1.0 / after_count));
    if (error > 0) return student_p(away / error, df);
    return away > 0 ? 0 : 1;
}

/* The change from the level from .. at to the level at .. to. */
static struct change_point test(const double *values, int from, int at, int to) {
    double unused;
    return (struct change_point){
        .index = at,
        .p = change_p(values + from, at - from, values + at, to - at),
        .before = mean_of_values(values, from, at, &unused),
        .after = mean_of_values(values, at, to, &unused),
    };
}

/* The best place to split from .. to: where the distance of the two sides, by the divergence of
 * Matteson and James with exponent 1, is greatest. The right side may end early, so that a change
 * that is undone later is found too. Returns the divergence, or -INFINITY for fewer than two
 * values. */
static double split(const double *values, int from, int to, int *ret_at) {
    double best = -INFINITY, inside_left = 0;
    for (int at = from + 1; at < to; at++) {
        double across = 0, inside_right = 0;
        for (int i = from; i < at - 1; i++) inside_left += fabs(values[i] - values[at - 1]);
        for (int end = at + 1; end <= to; end++) {
            double left = at - from, right = end - at;
            for (int i = from; i < at; i++) across += fabs(values[i] - values[end - 1]);
            for (int i = at; i < end - 1; i++) inside_right += fabs(values[i] - values[end - 1]);
            double far = 2 / (left + right) * across;
            if (left > 1) far -= 2 * right / (left + right) / (left - 1) * inside_left;
            if (right > 1) far -= 2 * left / (left + right) / (right - 1) * inside_right;
            if (far > best) {
                best = far;
                *ret_at = at;
            }
        }
    }
    return best;
}

/* The levels on both sides of a point: where the neighbours of the point in the list are. */
static void neighbours(const struct change_point *points, int count, int index, int from, int to,
                       int *ret_from, int *ret_to) {
    *ret_from = from;
    *ret_to = to;
    for (int i = 0; i < count; i++) {
        if (points[i].index < index && points[i].index > *ret_from) *ret_from = points[i].index;
        if (points[i].index > index && points[i].index < *ret_to) *ret_to = points[i].index;
    }
}

/* Inserts a point and keeps the list in order; no effect if the point is already there. */
static int insert(struct change_point *points, int count, struct change_point point) {
    int at = count;
    while (at > 0 && points[at - 1].index > point.index) at--;
    if (at > 0 && points[at - 1].index == point.index) return count;
    memmove(points + at + 1, points + at, (size_t)(count - at) * sizeof *points);
    points[at] = point;
    return count + 1;
}

/* Splits one window top-down as long as the best split of its parts is significant. Fills
 * points. */
static int split_window(const double *values, int from, int to, double max_p,
                        struct change_point *points) {
    int count = 0;
    for (;;) {
        double best = -INFINITY;
        int best_at = -1;
        for (int part = 0; part <= count; part++) {
            int at = -1;
            int begin = part ? points[part - 1].index : from,
                end = part < count ? points[part].index : to;
            double far = split(values, begin, end, &at);
            if (far > best) {
                best = far;
                best_at = at;
            }
        }
        if (best_at < 0) return count;
        int begin, end;
        neighbours(points, count, best_at, from, to, &begin, &end);
        struct change_point point = test(values, begin, best_at, end);
        if (!(point.p <= max_p)) return count;
        count = insert(points, count, point);
    }
}

static void test_again(const double *values, int value_count, struct change_point *points,
                       int count, int which) {
    if (which < 0 || which >= count) return;
    int from = which ? points[which - 1].index : 0;
    int to = which + 1 < count ? points[which + 1].index : value_count;
    points[which] = test(values, from, points[which].index, to);
}

/* The greater of the two relative changes, seen from either side. */
static double magnitude(const struct change_point *point) {
    double up = point->before != 0 ? fabs(point->after / point->before - 1) : 0;
    double down = point->after != 0 ? fabs(point->before / point->after - 1) : 0;
    return up > down ? up : down;
}

/* The point to remove next; -1 when all points that are left are significant and large enough. */
static int weakest(const struct change_point *points, int count,
                   const struct change_options *options) {
    int at = 0;
    for (int i = 1; i < count; i++) at = points[i].p > points[at].p ? i : at;
    if (count > 0 && !(points[at].p < options->max_p)) return at;
    for (int i = 0; i < count; i++) at = magnitude(&points[i]) < magnitude(&points[at]) ? i : at;
    return count > 0 && !(magnitude(&points[at]) > options->min_magnitude) ? at : -1;
}

static int remove_point(const double *values, int value_count, struct change_point *points,
                        int count, int which) {
    memmove(points + which, points + which + 1, (size_t)(count - which - 1) * sizeof *points);
    test_again(values, value_count, points, count - 1, which - 1);
    test_again(values, value_count, points, count - 1, which);
    return count - 1;
}

static int remove_weak(const double *values, int value_count, const struct change_options *options,
                       struct change_point *points, int count) {
    for (int away; (away = weakest(points, count, options)) >= 0;)
        count = remove_point(values, value_count, points, count, away);
    return count;
}

int change_points_without(const double *values, int count, const struct change_options *options,
                          struct change_point *points, int found, int which) {
    found = remove_point(values, count, points, found, which);
    return remove_weak(values, count, options, points, found);
}

int change_points(const double *values, int count, const struct change_options *options,
                  struct change_point *ret) {
    int found = 0;
    if (options->window < 4 || !(options->max_p > 0 && options->max_p < 1) ||
        !(options->min_magnitude >= 0))
        return -1;
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) return -1;
    }
    int window = options->window;
    struct change_point *points = malloc(((size_t)window + 1) * sizeof *points);
    if (!points) return -1;
    double max_p = weak_p(options->max_p);
    for (int start = 0; start < count;) {
        int end = count - start < window ? count : start + window;
        int more = split_window(values, start, end, max_p, points), next = start + window / 2;
        for (int i = 0; i < more; i++) found = insert(ret, found, points[i]);
        if (more > 0 && points[more - 1].index > next) next = points[more - 1].index;
        start = next;
    }
    free(points);
    for (int i = 0; i < found; i++) test_again(values, count, ret, found, i);
    return remove_weak(values, count, options, ret, found);
}
