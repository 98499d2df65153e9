/* curve: see curve.h. */
#include "report/curve.h"

#include <math.h>

int curve_points(const struct hist *hist, int64_t *points) {
    int count = 0;
    if (hist->count == 0) return 0;
    for (int i = 0; count < CURVE_MAX - 1; i++) {
        double x = pow(10, (double)i / CURVE_STEPS);
        if (x >= (double)hist->count) break;
        points[count++] = hist_quantile(hist, 1 - 1 / x);
    }
    points[count++] = hist_quantile(hist, 1);
    return count;
}
