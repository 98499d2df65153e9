/* metric: see metric.h. */
#include "results/format/metric.h"

#include <string.h>

const char *metric_name(enum metric metric) {
    static const char *const names[METRICS] = {
        [METRIC_ACQUIRE] = "acquire",
        [METRIC_ACQUIRE_DUE] = "acquire_due",
        [METRIC_ACQUIRE_SHARED] = "acquire_shared",
        [METRIC_ACQUIRE_EXCLUSIVE] = "acquire_exclusive",
        [METRIC_ACQUIRE_DUE_SHARED] = "acquire_due_shared",
        [METRIC_ACQUIRE_DUE_EXCLUSIVE] = "acquire_due_exclusive",
        [METRIC_RELEASE] = "release",
        [METRIC_HOLD] = "hold",
        [METRIC_HANDOFF] = "handoff",
        [METRIC_LAG] = "lag",
        [METRIC_WAIT_FAILED] = "wait_failed",
        [METRIC_PING] = "ping",
        [METRIC_CONNECT] = "connect",
        [METRIC_LAST_AWAKE] = "last_awake",
        [METRIC_HICCUP] = "hiccup",
    };
    return names[metric];
}

enum metric metric_named(const char *name) {
    int metric = 0;
    while (metric < METRICS && strcmp(metric_name((enum metric)metric), name) != 0) metric++;
    return (enum metric)metric;
}
