/* interval: see interval.h. */
#include "results/stats/interval.h"

#include <math.h>

/* The incomplete beta function's continued fraction, by Lentz's method as Thompson and Barnett
 * modified it (1986). Converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double before = value;
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            value *= c * d;
        }
        if (fabs(value - before) <= 1e-16 * fabs(value)) break;
    }
    return value;
}

/* The regularised incomplete beta function I_x(a, b) for a, b > 0; y = 1 - x, given apart since it may be tiny. */
static double beta_part(double a, double b, double x, double y) {
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double student_p(double t, double df) {
    if (isnan(t) || !(df > 0)) return NAN;
    if (isinf(t)) return 0;
    if (isinf(df)) return erfc(fabs(t) / sqrt(2));
    double square = t * t;
    return beta_part(df / 2, 0.5, df / (df + square), square / (df + square));
}

double student_quantile(double level, double df) {
    if (!(level > 0 && level < 1) || !(df > 0)) return NAN;
    double low = 0, high = 1;
    while (student_p(high, df) > 1 - level && high < 1e300) high *= 2;
    for (int i = 0; i < 200; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        if (student_p(middle, df) > 1 - level) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}

/* The x with I_x(a, b) = p, by halving. */
static double beta_quantile(double a, double b, double p) {
    double low = 0, high = 1;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (beta_part(a, b, middle, 1 - middle) < p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}

int share_of_batches(const struct quantile_batch *batches, int count, double level,
                     struct share *ret) {
    struct quantile_worth worth;
    if (quantile_effective(batches, count, NAN, level, &worth) != 0) return -1;
    double in = worth.share * worth.effective, out = worth.effective - in, tail = (1 - level) / 2;
    *ret = (struct share){.share = worth.share,
                          .low = in > 0 ? beta_quantile(in, out + 1, tail) : 0,
                          .high = out > 0 ? beta_quantile(in + 1, out, 1 - tail) : 1,
                          .effective = worth.effective};
    return 0;
}
