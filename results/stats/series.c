/* series: see series.h. */
#include "results/stats/series.h"

#include <math.h>

#include "bench/base/sort.h"
#include "results/stats/slope.h"

double series_exponential(double *values, int count) {
    double sum = 0;
    if (count < 1) return NAN;
    sort_doubles(values, (size_t)count);
    if (!(values[0] >= 0)) return NAN;
    for (int i = 0; i < count; i++) {
        /* log F of the i-th, and log (1 - F) of the i-th from the end; a gap of 0 ns is one of less
         * than a nanosecond. */
        double low = values[i] > 1e-12 ? values[i] : 1e-12;
        sum += (2 * i + 1) * (log(-expm1(-low)) - values[count - 1 - i]);
    }
    return -count - sum / count;
}

static double normal_two_sided(double z) {
    return erfc(fabs(z) / sqrt(2));
}

/* The lag-1 correlation of the residuals of the least-squares line. */
static double lag1_about_line(const double *values, int count) {
    double t[SERIES_MAX], left[SERIES_MAX];
    struct slope line;
    if (count < SERIES_MIN) return 0;
    for (int i = 0; i < count; i++) t[i] = i;
    if (slope_fit(t, values, count, &line) != 0) return 0;
    double middle = (count - 1) / 2.0;
    for (int i = 0; i < count; i++) left[i] = values[i] - line.slope * (i - middle);
    double r = series_lag1(left, count);
    return isnan(r) ? 0 : r;
}

/* The part by which ties reduce the variance of Kendall's S. */
static double ties_of(const double *values, int count) {
    double sorted[SERIES_MAX], ties = 0;
    if (count < SERIES_MIN) return 0;
    for (int i = 0; i < count; i++) sorted[i] = values[i];
    sort_doubles(sorted, (size_t)count);
    for (int from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && sorted[to] == sorted[from];) to++;
        double n = to - from;
        ties += n * (n - 1) * (2 * n + 5);
    }
    return ties;
}

double series_trend_p(const double *values, int count) {
    double s = 0, n = count;
    if (count < SERIES_MIN || count > SERIES_MAX) return 1;
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) s += (values[j] > values[i]) - (values[j] < values[i]);
    }
    double variance = (n * (n - 1) * (2 * n + 5) - ties_of(values, count)) / 18;
    double r = lag1_about_line(values, count);
    if (r > 0.95) r = 0.95;
    if (r > 0) variance *= (1 + r) / (1 - r);
    if (!(variance > 0) || fabs(s) < 1) return 1;
    return normal_two_sided((fabs(s) - 1) / sqrt(variance));
}

double series_lag1(const double *values, int count) {
    double mean = 0, squares = 0, products = 0;
    if (count < 3) return NAN;
    for (int i = 0; i < count; i++) mean += values[i] / count;
    for (int i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    for (int i = 0; i + 1 < count; i++) products += (values[i] - mean) * (values[i + 1] - mean);
    return squares > 0 ? products / squares : NAN;
}

double series_lag1_p(double r, int count) {
    double n = count;
    if (isnan(r) || count < SERIES_MIN) return 1;
    double deviation = (n - 2) / (n * sqrt(n - 1));
    return erfc((r + 1 / n) / deviation / sqrt(2)) / 2;
}
