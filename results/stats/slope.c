/* slope: see slope.h. */
#include "results/stats/slope.h"

#include <math.h>

int slope_fit(const double *t, const double *value, int count, struct slope *ret) {
    double t_mean = 0, mean = 0, tt = 0, tv = 0, left = 0, first = INFINITY, last = -INFINITY;
    if (count < 2) return -1;
    for (int i = 0; i < count; i++) {
        if (!isfinite(t[i]) || !isfinite(value[i])) return -1;
        t_mean += t[i] / count;
        mean += value[i] / count;
        first = t[i] < first ? t[i] : first;
        last = t[i] > last ? t[i] : last;
    }
    for (int i = 0; i < count; i++) {
        tt += (t[i] - t_mean) * (t[i] - t_mean);
        tv += (t[i] - t_mean) * (value[i] - mean);
    }
    if (!(tt > 0)) return -1;
    double slope = tv / tt;
    for (int i = 0; i < count; i++) {
        double off = value[i] - mean - slope * (t[i] - t_mean);
        left += off * off;
    }
    *ret = (struct slope){
        .slope = slope,
        .error = count > 2 ? sqrt(left / (count - 2) / tt) : NAN,
        .mean = mean,
        .step = (last - first) / (count - 1),
        .drift = slope * (last - first) / mean,
        .count = count,
    };
    return 0;
}
