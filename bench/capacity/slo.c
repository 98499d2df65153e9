/* slo: see slo.h. */
#include "bench/capacity/slo.h"

#include <stdio.h>
#include <string.h>

#include "bench/option/text.h"
#include "bench/workload/plan.h"

#define EXAMPLE "write it as acquire_due.p99<=20ms"

static int read_metric(const char *name, enum metric *ret, struct lb_err *err) {
    enum metric metric = METRIC_ACQUIRE;
    if (strcmp(name, metric_name(METRIC_ACQUIRE_DUE)) == 0) metric = METRIC_ACQUIRE_DUE;
    if (strcmp(name, metric_name(metric)) != 0)
        return err_set(err, LB_EXIT_USAGE,
                       "'%.40s' can't be promised: acquire_due or acquire can; " EXAMPLE, name);
    *ret = metric;
    return 0;
}

static int read_quantile(const char *word, double *ret, struct lb_err *err) {
    double percent = 0;
    struct lb_err why = {0};
    if (word[0] != 'p' ||
        text_real(word + 1, 100 * SLO_QUANTILE_MIN, 100 * SLO_QUANTILE_MAX, &percent, &why))
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is no quantile from p50 to p99.99; " EXAMPLE,
                       word);
    *ret = percent / 100;
    return 0;
}

int slo_parse(const char *text, struct stage_promise *ret, struct lb_err *err) {
    char name[48], quantile[24], limit[40];
    struct stage_promise slo = {.quantile = 0};
    const char *less = strstr(text, "<="), *dot = strchr(text, '.');
    if (!less || !dot || dot > less || text_trim(text, (size_t)(dot - text), name, sizeof name) ||
        text_trim(dot + 1, (size_t)(less - dot - 1), quantile, sizeof quantile) ||
        text_trim(less + 2, strlen(less + 2), limit, sizeof limit)) {
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is no promise: " EXAMPLE, text);
    }
    if (read_metric(name, &slo.metric, err) || read_quantile(quantile, &slo.quantile, err))
        return -1;
    if (text_duration(limit, LB_US_NS, HIST_HIGHEST_NS, &slo.limit_ns, err)) {
        err_prefix(err, "the limit");
        return -1;
    }
    *ret = slo;
    return 0;
}

char *slo_text(const struct stage_promise *slo, char *text, size_t size) {
    char limit[32];
    snprintf(text, size, "%s.p%.6g<=%s", metric_name(slo->metric), 100 * slo->quantile,
             duration_text(slo->limit_ns, limit, sizeof limit));
    return text;
}
