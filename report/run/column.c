/* column: see column.h. */
#include "report/run/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/sort.h"
#include "report/run/words.h"
#include "results/stats/quantile.h"

/* The comparison has an order of its own, the other groups that of the table. */
static bool is_before(const struct result_field *a, const struct result_field *b, unsigned group) {
    bool by_place = group == IN_COMPARISON && a->place != b->place;
    return by_place ? a->place < b->place : a < b;
}

const struct result_field *column_next(unsigned group, const struct result_field *after) {
    const struct result_field *next = NULL;
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!(field->groups & group) || (after && !is_before(after, field, group))) continue;
        if (!next || is_before(field, next, group)) next = field;
    }
    return next;
}

/* The column that replaces this one in the comparison of the group; NULL = none does. */
static const struct result_field *stand_in(const struct result_field *column,
                                           const struct report_group *group) {
    for (const struct result_field *other = run_stage_fields(); other->path; other++) {
        bool is_for = other->groups & IN_COMPARISON && other->instead_of &&
                      strcmp(other->instead_of, column->path) == 0;
        if (is_for && column_used(other, group)) return other;
    }
    return NULL;
}

bool column_gives_way(const struct result_field *column, const struct report_group *group) {
    return stand_in(column, group) != NULL;
}

const struct result_field *column_compared(const char *key, const struct report_group *group) {
    const struct result_field *column = run_stage_fields();
    while (strcmp(column->path, key) != 0) column++;
    const struct result_field *other = stand_in(column, group);
    return other ? other : column;
}

double column_value(const struct result_field *column, const struct report_row *row) {
    return result_field_figure(column, &row->figures);
}

bool column_is_least(const struct report_row *row, const char *key) {
    return row->unrecorded > UNRECORDED_SHARE && strcmp(key, "latency_ns.acquire.p99") == 0;
}

enum doc_figure column_figure(const struct result_field *column) {
    return column->kind == RESULT_COUNT ? DOC_COUNT : DOC_NUMBER;
}

const struct number_unit *column_unit(const struct result_field *column,
                                      const struct report_group *group) {
    if (result_field_is_share(column)) return &number_per_cent;
    if (!result_field_is_time(column) || !column_used(column, group)) return &number_plain;
    double *values = malloc((size_t)group->row_count * sizeof *values);
    if (!values) return number_time_unit(NULL, 0);
    int count = 0;
    bool any = false;
    /* Baselines and locks without waits would pull the unit down to ns for all others; only in a
     * table of their own they choose it. */
    for (int pass = 0; pass < 2 && count == 0; pass++) {
        for (int r = 0; r < group->row_count; r++) {
            double value = column_value(column, &group->rows[r]);
            bool counts = pass > 0 || report_is_real(&group->rows[r].figures);
            any |= isfinite(value);
            if (counts && isfinite(value)) values[count++] = value;
        }
    }
    const struct number_unit *unit = any ? number_time_unit(values, count) : &number_plain;
    free(values);
    return unit;
}

bool column_used(const struct result_field *column, const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++) {
        if (!isnan(column_value(column, &group->rows[r]))) return true;
    }
    return false;
}

char *field_figure_text(const struct result_field *field, double figure, char *text) {
    if (result_field_is_time(field)) return number_time_text(figure, text);
    if (result_field_is_share(field)) return number_share_text(figure, text);
    if (field->kind == RESULT_COUNT) return number_count_text(figure, text);
    return number_text(figure, &number_plain, text);
}

struct spread spread_of_values(double *values, int count) {
    struct spread spread = {.kind = SPREAD_NONE, .low = NAN, .high = NAN, .count = NAN};
    uint64_t low = 1, high = (uint64_t)count;
    if (count < 2) return spread;
    sort_doubles(values, (size_t)count);
    spread.kind = quantile_ranks((uint64_t)count, 0.5, SPREAD_LEVEL, &low, &high) ? SPREAD_RANGE
                                                                                  : SPREAD_REPEATS;
    spread.low = values[low - 1];
    spread.high = values[high - 1];
    spread.count = count;
    return spread;
}
