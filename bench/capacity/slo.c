/* slo: see slo.h. */
#include "bench/capacity/slo.h"

#include <stdio.h>

#include "bench/option/text.h"
#include "bench/slo/slo.h"

int slo_parse(const char *text, struct stage_promise *ret, struct lb_err *err) {
    struct threshold threshold;
    if (threshold_read(text, &threshold, err) != 0) return -1;
    enum metric metric = threshold_metric(&threshold);
    if (metric != METRIC_ACQUIRE && metric != METRIC_ACQUIRE_DUE)
        return err_set(err, LB_EXIT_USAGE,
                       "'%s' is no promise that a load can be searched for: a quantile of "
                       "acquire_due or acquire is, as acquire_due.p99<=20ms",
                       metric < METRICS ? metric_name(metric) : threshold.figure->path);
    if (threshold.at_least)
        return err_set(err, LB_EXIT_USAGE,
                       "'%.60s' is no promise that a load can be searched for: write <=", text);
    *ret = (struct stage_promise){metric, threshold.quantile, (int64_t)threshold.limit};
    return 0;
}

char *slo_text(const struct stage_promise *slo, char *text, size_t size) {
    char limit[32];
    snprintf(text, size, "%s.p%.6g<=%s", metric_name(slo->metric), 100 * slo->quantile,
             duration_text(slo->limit_ns, limit, sizeof limit));
    return text;
}
