/* metric: see metric.h. */
#include "results/format/metric.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "results/stats/quantile.h"

const char *metric_name(enum metric metric) {
    static const char *const names[METRICS] = {
        [METRIC_ACQUIRE] = "acquire",
        [METRIC_ACQUIRE_DUE] = "acquire_due",
        [METRIC_ACQUIRE_SHARED] = "acquire_shared",
        [METRIC_ACQUIRE_EXCLUSIVE] = "acquire_exclusive",
        [METRIC_RELEASE] = "release",
        [METRIC_HOLD] = "hold",
        [METRIC_HANDOFF] = "handoff",
        [METRIC_LAG] = "lag",
        [METRIC_WAIT_FAILED] = "wait_failed",
        [METRIC_PING] = "ping",
        [METRIC_CONNECT] = "connect",
        [METRIC_HICCUP] = "hiccup",
    };
    return names[metric];
}

enum metric metric_named(const char *name) {
    int metric = 0;
    while (metric < METRICS && strcmp(metric_name((enum metric)metric), name) != 0) metric++;
    return (enum metric)metric;
}

/* --- the response time of an open loop --- */

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
