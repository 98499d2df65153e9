/* metric: see metric.h. */
#include "results/format/metric.h"

const char *metric_name(enum metric metric) {
    static const char *const names[METRICS] = {"acquire", "acquire_due", "release",     "hold",
                                               "handoff", "lag",         "wait_failed", "ping",
                                               "connect", "last_awake",  "hiccup"};
    return names[metric];
}
