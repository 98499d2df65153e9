/* spread: see spread.h. */
#include "report/run/spread.h"

#include <math.h>
#include <stdlib.h>

#include "bench/base/sort.h"
#include "results/stats/quantile.h"

const char *spread_name(enum spread_kind kind) {
    static const char *const names[] = {
        [SPREAD_NONE] = NULL, [SPREAD_REPEATS] = "repeats", [SPREAD_RANGE] = "range"};
    return names[kind];
}

struct spread spread_of(const struct report_row *row, const struct column *column) {
    struct spread spread = {.kind = SPREAD_NONE, .low = NAN, .high = NAN, .count = NAN};
    bool several = row->repeats > 1 && !column->sums;
    double *values = several ? malloc((size_t)row->repeats * sizeof *values) : NULL;
    int count = 0;
    for (int i = 0; i < row->repeats && values; i++) {
        double value = column_stage_value(column, row->stages[i]);
        if (!isnan(value)) values[count++] = value;
    }
    if (count >= 2) {
        uint64_t low = 1, high = (uint64_t)count;
        sort_doubles(values, (size_t)count);
        spread.kind = quantile_ranks((uint64_t)count, 0.5, SPREAD_LEVEL, &low, &high)
                          ? SPREAD_RANGE
                          : SPREAD_REPEATS;
        spread.low = values[low - 1];
        spread.high = values[high - 1];
        spread.count = count;
    }
    free(values);
    return spread;
}
