/* spread: see spread.h. */
#include "report/run/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/stats/quantile.h"

const char *spread_name(enum spread_kind kind) {
    static const char *const names[] = {[SPREAD_NONE] = NULL,
                                        [SPREAD_REPEATS] = "repeats",
                                        [SPREAD_RANGE] = "range",
                                        [SPREAD_SAMPLES] = "samples"};
    return names[kind];
}

static int64_t value_at(const struct hist *hist, uint64_t rank) {
    uint64_t seen = 0;
    for (int32_t slot = hist->first; slot <= hist->last; slot++) {
        seen += (uint64_t)hist->counts[slot];
        if (seen >= rank) {
            int64_t high = hist_slot_high(hist, slot);
            return high < hist->max ? high : hist->max;
        }
    }
    return hist->max;
}

int spread_quantile(const struct hist *hist, double quantile, double *ret_low, double *ret_high) {
    uint64_t low, high;
    if (quantile_ranks((uint64_t)hist->count, quantile, SPREAD_LEVEL, &low, &high)) return -1;
    *ret_low = (double)value_at(hist, low);
    *ret_high = (double)value_at(hist, high);
    return 0;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int of_repeats(const struct report_row *row, const struct column *column,
                      struct spread *spread) {
    double *values = malloc((size_t)row->repeats * sizeof *values);
    uint64_t low = 1, high;
    int count = 0;
    if (!values) return -1;
    for (int i = 0; i < row->repeats; i++) {
        double value = column_stage_value(column, row->stages[i]);
        if (!isnan(value)) values[count++] = value;
    }
    if (count >= 2) {
        qsort(values, (size_t)count, sizeof *values, by_value);
        high = (uint64_t)count;
        spread->kind = quantile_ranks((uint64_t)count, 0.5, SPREAD_LEVEL, &low, &high)
                           ? SPREAD_RANGE
                           : SPREAD_REPEATS;
        spread->low = values[low - 1];
        spread->high = values[high - 1];
        spread->count = count;
    }
    free(values);
    return 0;
}

/* Which samples a column's figure is a quantile of. */
static bool quantile_of(const struct column *column, enum metric *ret_metric,
                        double *ret_quantile) {
    for (int m = 0; m < METRICS; m++) {
        const struct {
            size_t offset;
            double quantile;
        } parts[] = {
            {offsetof(struct run_stage, latency[0].p50), 0.5},
            {offsetof(struct run_stage, latency[0].p90), 0.9},
            {offsetof(struct run_stage, latency[0].p99), 0.99},
            {offsetof(struct run_stage, latency[0].p999), 0.999},
        };
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            if (column->offset != parts[p].offset + (size_t)m * sizeof(struct run_latency))
                continue;
            *ret_metric = (enum metric)m;
            *ret_quantile = parts[p].quantile;
            return true;
        }
    }
    return false;
}

static int of_samples(const struct run *run, const struct run_stage *stage,
                      const struct column *column, struct spread *spread, struct lb_err *err) {
    enum metric metric;
    double quantile;
    struct hist *hist = NULL;
    if (!quantile_of(column, &metric, &quantile)) return 0;
    if (run_latency_hist(run, stage, metric, &hist, err)) return -1;
    if (hist && spread_quantile(hist, quantile, &spread->low, &spread->high) == 0) {
        spread->kind = SPREAD_SAMPLES;
        spread->count = (double)hist->count;
    }
    hist_free(hist);
    return 0;
}

int spread_of(const struct report *report, const struct report_row *row,
              const struct column *column, struct spread *ret, struct lb_err *err) {
    struct spread spread = {.kind = SPREAD_NONE, .low = NAN, .high = NAN, .count = NAN};
    if (row->repeats > 1) {
        if (of_repeats(row, column, &spread)) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    } else {
        const struct run *run = report->runs[report->locks[row->lock].run];
        if (of_samples(run, row->typical, column, &spread, err)) return -1;
    }
    *ret = spread;
    return 0;
}
