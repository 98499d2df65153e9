/* student: see student.h. */
#include "results/stats/student.h"

#include <math.h>

/* The incomplete beta function's continued fraction, by Lentz's method as Thompson and Barnett
 * modified it (1986). Converges fast for x < (a + 1) / (a + b + 2). */
static double fraction(double a, double b, double x) {
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

/* I_x(a, b), the regularised incomplete beta function; y = 1 - x, given apart since it may be
 * tiny. */
static double beta(double a, double b, double x, double y) {
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2)) return front * fraction(a, b, x) / a;
    return 1 - front * fraction(b, a, y) / b;
}

double student_p(double t, double df) {
    if (isnan(t) || !(df > 0)) return NAN;
    if (isinf(t)) return 0;
    if (isinf(df)) return erfc(fabs(t) / sqrt(2));
    double square = t * t;
    return beta(df / 2, 0.5, df / (df + square), square / (df + square));
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
