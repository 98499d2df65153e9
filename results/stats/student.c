/* student: see student.h. */
#include "results/stats/student.h"

#include <math.h>

#include "results/stats/beta.h"

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
