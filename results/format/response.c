/* response: see response.h. */
#include "results/format/response.h"

#include <math.h>

double response_quantile(const struct hist *granted, double asked, double quantile) {
    double count = granted ? (double)granted->count : 0;
    if (asked < count) asked = count;
    if (!(asked > 0)) return NAN;
    /* the same rank as in hist_quantile */
    double rank = fmax(1, ceil(nextafter(quantile, 0) * asked));
    return rank > count ? INFINITY : (double)hist_quantile(granted, rank / count);
}
