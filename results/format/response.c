/* response: see response.h. */
#include "results/format/response.h"

#include <math.h>
#include <stdbool.h>

#include "results/stats/quantile.h"

double response_quantile(const struct hist *granted, double asked, double quantile) {
    double count = granted ? (double)granted->count : 0;
    if (asked < count) asked = count;
    if (!(asked > 0)) return NAN;
    /* the same rank as in hist_quantile */
    double rank = fmax(1, ceil(nextafter(quantile, 0) * asked));
    return rank > count ? INFINITY : (double)hist_quantile(granted, rank / count);
}

double response_supported_quantile(const struct hist *granted, double asked, double quantile) {
    double count = granted ? (double)granted->count : 0;
    double found = response_quantile(granted, asked, quantile);
    double never = asked - count; /* below 0: response_quantile takes the count then */
    bool enough = quantile_supported(fmax(asked, count), quantile) ||
                  (isinf(found) && never >= QUANTILE_ABOVE);
    return enough ? found : NAN;
}
