/* usl: see usl.h. */
#include "results/stats/usl.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "results/stats/student.h"

#define ROUNDS 500
#define PARAMETERS 3 /* lambda, sigma, kappa, in this order */

struct points {
    const double *n, *x;
    int count;
};

static double law(const double *p, double n) {
    return p[0] * n / (1 + p[1] * (n - 1) + p[2] * n * (n - 1));
}

static double squares(const struct points *points, const double *p) {
    double sum = 0;
    for (int i = 0; i < points->count; i++) {
        double off = points->x[i] - law(p, points->n[i]);
        sum += off * off;
    }
    return sum;
}

/* J'J, and J' times the residuals. */
static void normal_equations(const struct points *points, const double *p,
                             double a[PARAMETERS][PARAMETERS], double *b) {
    memset(a, 0, sizeof(double[PARAMETERS][PARAMETERS]));
    memset(b, 0, sizeof(double[PARAMETERS]));
    for (int i = 0; i < points->count; i++) {
        double n = points->n[i], x = law(p, n), per = x / (1 + p[1] * (n - 1) + p[2] * n * (n - 1));
        const double j[PARAMETERS] = {x / p[0], -per * (n - 1), -per * n * (n - 1)};
        for (int r = 0; r < PARAMETERS; r++) {
            for (int c = 0; c < PARAMETERS; c++) a[r][c] += j[r] * j[c];
            b[r] += j[r] * (points->x[i] - x);
        }
    }
}

/* Solves a x = b by Gaussian elimination with pivots; a is first scaled to a diagonal of 1, because
 * the sizes of the parameters differ by six orders of magnitude. False when a is singular. */
static bool solve(double a[PARAMETERS][PARAMETERS], const double *b, double *x) {
    double m[PARAMETERS][PARAMETERS + 1], scale[PARAMETERS];
    for (int r = 0; r < PARAMETERS; r++) {
        if (!(a[r][r] > 0)) return false;
        scale[r] = 1 / sqrt(a[r][r]);
    }
    for (int r = 0; r < PARAMETERS; r++) {
        for (int c = 0; c < PARAMETERS; c++) m[r][c] = a[r][c] * scale[r] * scale[c];
        m[r][PARAMETERS] = b[r] * scale[r];
    }
    for (int c = 0; c < PARAMETERS; c++) {
        int pivot = c;
        for (int r = c + 1; r < PARAMETERS; r++)
            pivot = fabs(m[r][c]) > fabs(m[pivot][c]) ? r : pivot;
        if (fabs(m[pivot][c]) < 1e-14) return false;
        for (int k = 0; k <= PARAMETERS; k++) {
            double swap = m[c][k];
            m[c][k] = m[pivot][k];
            m[pivot][k] = swap;
        }
        for (int r = 0; r < PARAMETERS; r++) {
            double part = m[r][c] / m[c][c];
            for (int k = c; r != c && k <= PARAMETERS; k++) m[r][k] -= part * m[c][k];
        }
    }
    for (int r = 0; r < PARAMETERS; r++) x[r] = m[r][PARAMETERS] / m[r][r] * scale[r];
    return true;
}

/* Inverted, the law is linear in (1, sigma, kappa) / lambda: N/X = (1 + sigma (N-1) + kappa N
 * (N-1)) / lambda. The least squares of this form are the starting point. */
static void guess_start(const struct points *points, double *p) {
    double a[PARAMETERS][PARAMETERS] = {0}, b[PARAMETERS] = {0}, c[PARAMETERS];
    double best = 0;
    for (int i = 0; i < points->count; i++) {
        double n = points->n[i], weight = points->x[i] / n;
        const double j[PARAMETERS] = {weight, weight * (n - 1), weight * n * (n - 1)};
        for (int r = 0; r < PARAMETERS; r++) {
            for (int k = 0; k < PARAMETERS; k++) a[r][k] += j[r] * j[k];
            b[r] += j[r]; /* of weight * N/X = 1 */
        }
        best = weight > best ? weight : best;
    }
    p[0] = best;
    p[1] = 0.1;
    p[2] = 0;
    if (!solve(a, b, c) || !(c[0] > 0)) return;
    p[0] = 1 / c[0];
    p[1] = c[1] > 0 ? c[1] / c[0] : 0;
    p[2] = c[2] > 0 ? c[2] / c[0] : 0;
}

/* One damped step that stays within sigma, kappa >= 0: a parameter at 0 that would become negative
 * stays at 0, and the other ones move without it. */
static bool step(double a[PARAMETERS][PARAMETERS], const double *b, const double *p, double damping,
                 double *next) {
    bool held[PARAMETERS] = {false, p[1] <= 0 && b[1] <= 0, p[2] <= 0 && b[2] <= 0};
    for (int tries = 0; tries < PARAMETERS; tries++) {
        double m[PARAMETERS][PARAMETERS], right[PARAMETERS], by[PARAMETERS];
        for (int r = 0; r < PARAMETERS; r++) {
            for (int c = 0; c < PARAMETERS; c++) {
                bool out = (held[r] || held[c]) && r != c;
                m[r][c] = out ? 0 : a[r][c] * (r == c ? 1 + damping : 1);
            }
            right[r] = held[r] ? 0 : b[r];
        }
        if (!solve(m, right, by)) return false;
        bool again = false;
        for (int r = 0; r < PARAMETERS; r++) {
            next[r] = p[r] + by[r];
            if (r == 0 || next[r] >= 0) continue;
            again |= p[r] <= 0 && !held[r];
            held[r] |= p[r] <= 0;
            next[r] = 0;
        }
        if (!again) break;
    }
    return next[0] > 0;
}

/* The method of Levenberg and Marquardt, with Marquardt's scaling. False when it does not
 * converge. */
static bool fit(const struct points *points, double *p) {
    double damping = 1e-3, best = squares(points, p);
    for (int round = 0; round < ROUNDS && damping < 1e15; round++) {
        double a[PARAMETERS][PARAMETERS], b[PARAMETERS], next[PARAMETERS];
        normal_equations(points, p, a, b);
        double sum = step(a, b, p, damping, next) ? squares(points, next) : INFINITY;
        if (!(sum <= best)) {
            damping *= 10;
            continue;
        }
        double moved = 0;
        for (int r = 0; r < PARAMETERS; r++)
            moved = fmax(moved, fabs(next[r] - p[r]) / (fabs(p[r]) + 1e-12));
        memcpy(p, next, sizeof next);
        best = sum;
        damping = fmax(damping / 10, 1e-12);
        if (moved < 1e-12) break;
    }
    return isfinite(best);
}

/* The estimate with t times its standard error on both sides, by the covariance s^2 (J'J)^-1;
 * unbounded where that is singular. */
static struct usl_parameter parameter(double a[PARAMETERS][PARAMETERS], const double *p, int which,
                                      double variance, double t) {
    const double unit[PARAMETERS] = {which == 0, which == 1, which == 2};
    double column[PARAMETERS];
    double error = solve(a, unit, column) ? sqrt(fmax(variance * column[which], 0)) : INFINITY;
    return (struct usl_parameter){p[which], fmax(p[which] - t * error, 0), p[which] + t * error};
}

static int by_clients(const struct points *points, double *ret_max) {
    int different = 0;
    *ret_max = 0;
    for (int i = 0; i < points->count; i++) {
        bool seen = false;
        for (int k = 0; k < i && !seen; k++) seen = points->n[k] == points->n[i];
        different += !seen;
        *ret_max = fmax(*ret_max, points->n[i]);
    }
    return different;
}

enum usl_result usl_fit(const double *n, const double *throughput, int count, double level,
                        struct usl *ret) {
    const struct points points = {n, throughput, count};
    double a[PARAMETERS][PARAMETERS], b[PARAMETERS], p[PARAMETERS], n_max, mean = 0, spread = 0;
    if (!(level > 0 && level < 1)) return USL_BAD;
    for (int i = 0; i < count; i++) {
        if (!isfinite(n[i]) || !isfinite(throughput[i]) || n[i] < 1 || !(throughput[i] > 0))
            return USL_BAD;
        mean += throughput[i] / count;
    }
    if (by_clients(&points, &n_max) < USL_CLIENTS_MIN) return USL_TOO_FEW;
    guess_start(&points, p);
    if (!fit(&points, p)) return USL_BAD;
    normal_equations(&points, p, a, b);
    for (int i = 0; i < count; i++) spread += (throughput[i] - mean) * (throughput[i] - mean);
    double left = squares(&points, p), variance = left / (count - PARAMETERS);
    double t = student_quantile(level, count - PARAMETERS);
    struct usl usl = {
        .lambda = parameter(a, p, 0, variance, t),
        .sigma = parameter(a, p, 1, variance, t),
        .kappa = parameter(a, p, 2, variance, t),
        .level = level,
        .r_squared = spread > 0 ? 1 - left / spread : NAN,
        .n_max = n_max,
        .count = count,
        .peak_n = p[1] >= 1  ? 1
                  : p[2] > 0 ? fmax(sqrt((1 - p[1]) / p[2]), 1)
                             : INFINITY,
        .peak = NAN,
    };
    usl_at(&usl, usl.peak_n, &usl.peak);
    *ret = usl;
    return USL_OK;
}

int usl_at(const struct usl *usl, double n, double *ret) {
    const double p[PARAMETERS] = {usl->lambda.estimate, usl->sigma.estimate, usl->kappa.estimate};
    if (!(n >= 1 && n <= USL_BEYOND * usl->n_max)) return -1;
    *ret = law(p, n);
    return 0;
}
