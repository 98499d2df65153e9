/* column: see column.h. */
#include "report/run/column.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/sort.h"
#include "report/run/words.h"
#include "results/stats/quantile.h"

#define COLUMNS_MAX 64 /* the most columns of a group */
#define GROUPS 10

/* The columns of each group, in the order of its bit; each list ends with a NULL key. */
static struct column group_columns[GROUPS][COLUMNS_MAX + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static enum column_kind kind_of(const struct result_field *field) {
    if (result_field_is_time(field)) return COLUMN_TIME;
    return field->kind == RESULT_COUNT ? COLUMN_COUNT : COLUMN_NUMBER;
}

static struct column column_of(const struct result_field *field) {
    return (struct column){.key = field->path,
                           .title = field->title,
                           .brief = field->head,
                           .help = field->help,
                           .kind = kind_of(field),
                           .is_share = result_field_is_share(field),
                           .sums = field->sums,
                           .offset = field->offset,
                           .replaces = field->replaces,
                           .instead_of = field->instead_of,
                           .place = field->place};
}

/* Keeps the order of the table, except for the comparison, which has an order of its own. */
static void insert_column(struct column *columns, const struct result_field *field, bool by_place) {
    int count = 0, at;
    while (columns[count].key) count++;
    if (count == COLUMNS_MAX) return;
    for (at = count; at > 0 && by_place && columns[at - 1].place > field->place; at--)
        columns[at] = columns[at - 1];
    columns[at] = column_of(field);
}

static void make_columns(void) {
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        for (int group = 0; group < GROUPS; group++) {
            if (!(field->groups & (1U << group))) continue;
            insert_column(group_columns[group], field, 1U << group == IN_COMPARISON);
        }
    }
}

const struct column *columns_of(unsigned group) {
    pthread_once(&once, make_columns);
    return group_columns[__builtin_ctz(group)];
}

/* The column that replaces this one in the comparison of the group; NULL = none does. */
static const struct column *stand_in(const struct column *column,
                                     const struct report_group *group) {
    for (const struct column *other = columns_of(IN_COMPARISON); other->key; other++) {
        bool is_for = other->instead_of && strcmp(other->instead_of, column->key) == 0;
        if (is_for && column_used(other, group)) return other;
    }
    return NULL;
}

bool column_gives_way(const struct column *column, const struct report_group *group) {
    return stand_in(column, group) != NULL;
}

const struct column *column_compared(const char *key, const struct report_group *group) {
    const struct column *column = columns_of(IN_COMPARISON);
    while (strcmp(column->key, key) != 0) column++;
    const struct column *other = stand_in(column, group);
    return other ? other : column;
}

double column_stage_value(const struct column *column, const struct run_stage *stage) {
    double value;
    memcpy(&value, (const char *)stage + column->offset, sizeof value);
    return value;
}

double column_value(const struct column *column, const struct report_row *row) {
    return column_stage_value(column, &row->figures);
}

enum doc_figure column_figure(const struct column *column) {
    return column->kind == COLUMN_COUNT ? DOC_COUNT : DOC_NUMBER;
}

char *column_text(const struct column *column, double value, char *text) {
    if (column->kind == COLUMN_TIME) return number_time_text(value, text);
    if (column->kind == COLUMN_COUNT) return number_count_text(value, text);
    if (column->is_share) return number_share_text(value, text);
    return number_text(value, &number_plain, text);
}

const struct number_unit *column_unit(const struct column *column,
                                      const struct report_group *group) {
    if (column->is_share) return &number_per_cent;
    if (column->kind != COLUMN_TIME || !column_used(column, group)) return &number_plain;
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
    return unit ? unit : number_time_unit(NULL, 0);
}

static bool is_special(const struct column *column, const struct report_group *group) {
    for (int r = 0; r < group->row_count && column->replaces; r++) {
        if (column_value(column, &group->rows[r]) > 0) return true;
    }
    return false;
}

bool column_shown(const struct column *column, const struct report_group *group, bool narrow) {
    if (column->replaces) return is_special(column, group);
    if (column->instead_of) return column_used(column, group);
    for (const struct column *other = columns_of(IN_COMPARISON); narrow && other->key; other++) {
        if (!other->replaces || strcmp(other->replaces, column->key) != 0) continue;
        if (is_special(other, group)) return false;
    }
    return true;
}

bool column_used(const struct column *column, const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++) {
        if (!isnan(column_value(column, &group->rows[r]))) return true;
    }
    return false;
}

/* ---- how sure a figure is ---- */

const char *spread_name(enum spread_kind kind) {
    static const char *const names[] = {
        [SPREAD_NONE] = NULL, [SPREAD_REPEATS] = "repeats", [SPREAD_RANGE] = "range"};
    return names[kind];
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

struct spread spread_of(const struct report_row *row, const struct column *column) {
    bool several = row->repeats > 1 && !column->sums;
    double *values = several ? malloc((size_t)row->repeats * sizeof *values) : NULL;
    int count = 0;
    for (int i = 0; i < row->repeats && values; i++) {
        double value = column_stage_value(column, row->stages[i]);
        if (!isnan(value)) values[count++] = value;
    }
    struct spread spread = spread_of_values(values, count);
    free(values);
    return spread;
}
