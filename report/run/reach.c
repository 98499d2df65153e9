/* reach: see reach.h. */
#include "report/run/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_reach(const struct report_group *a, const struct report_group *b) {
    return a->clients == b->clients && strcmp(a->near, b->near) == 0;
}

static int by_rtt(const void *a, const void *b) {
    const struct report_group *x = *(const struct report_group *const *)a,
                              *y = *(const struct report_group *const *)b;
    double p = isnan(x->rtt_ns) ? -1 : x->rtt_ns, q = isnan(y->rtt_ns) ? -1 : y->rtt_ns;
    return (p > q) - (p < q);
}

/* The groups of the same reach; groups may be NULL. Returns how many. */
static int gather(const struct report *report, const struct report_group *first,
                  const struct report_group **groups) {
    int count = 0;
    for (int g = 0; g < report->group_count; g++) {
        if (!same_reach(first, &report->groups[g])) continue;
        if (groups) groups[count] = &report->groups[g];
        count++;
    }
    return count;
}

static bool is_first(const struct report *report, int group) {
    for (int g = 0; g < group; g++) {
        if (same_reach(&report->groups[g], &report->groups[group])) return false;
    }
    return true;
}

bool reach_find(const struct report *report, int index, struct reach *ret, struct lb_err *err) {
    *ret = (struct reach){0};
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *first = &report->groups[g];
        int count = gather(report, first, NULL);
        if (!is_first(report, g) || count < 2 || index-- > 0) continue;
        ret->groups = calloc((size_t)count, sizeof(const struct report_group *));
        if (!ret->groups) {
            err_set(err, LB_EXIT_MACHINE, "out of memory");
            return false;
        }
        ret->count = gather(report, first, ret->groups);
        qsort(ret->groups, (size_t)count, sizeof *ret->groups, by_rtt);
        return true;
    }
    return false;
}

int reach_row(const struct report_group *group, int lock) {
    for (int r = 0; r < group->row_count; r++) {
        if (group->rows[r].lock == lock) return r;
    }
    return -1;
}

static double value_at(const struct report_group *group, const struct column *column, int lock) {
    int row = reach_row(group, lock);
    return row < 0 ? NAN : column_value(column, &group->rows[row]);
}

double reach_trips(const struct reach *reach, const struct column *column, int lock) {
    const struct report_group *near = NULL, *far = reach->groups[reach->count - 1];
    for (int i = reach->count - 1; i >= 0 && !isnan(reach->groups[i]->rtt_ns); i--)
        near = reach->groups[i];
    if (!near || near == far) return NAN;
    double growth = value_at(far, column, lock) - value_at(near, column, lock);
    return isfinite(growth) ? growth / (far->rtt_ns - near->rtt_ns) : NAN;
}

/* The rows of two locks in a group, if they may be ranked there: the same durability, the figure in
 * both, a wire, and a load in which the figure ranks. */
static bool find_rivals(const struct report_group *group, const struct column *column, int a, int b,
                        const struct report_row **ret_a, const struct report_row **ret_b) {
    int i = reach_row(group, a), j = reach_row(group, b);
    if (isnan(group->rtt_ns) || i < 0 || j < 0 || column_why_unranked(column, group)) return false;
    *ret_a = &group->rows[i];
    *ret_b = &group->rows[j];
    return (*ret_a)->candidate && (*ret_b)->candidate &&
           words_durability((*ret_a)->typical) == words_durability((*ret_b)->typical) &&
           !isnan(column_value(column, *ret_a)) && !isnan(column_value(column, *ret_b));
}

bool reach_ranks(const struct reach *reach, const struct column *column, int a, int b) {
    const struct report_row *x, *y;
    int count = 0;
    for (int i = 0; i < reach->count; i++)
        count += find_rivals(reach->groups[i], column, a, b, &x, &y);
    return count > 1;
}

/* Returns 1 if `a` is better, -1 if `b` is, 0 if the figures do not show it. */
static int compare_rows(const struct column *column, const struct report_row *a,
                        const struct report_row *b) {
    if (best_is_level(column, a, b)) return 0;
    return column->better * column_value(column, a) > column->better * column_value(column, b) ? 1
                                                                                               : -1;
}

bool reach_passing(const struct reach *reach, const struct column *column, int a, int b,
                   struct passing *ret) {
    const struct report_group *before = NULL, *after = NULL;
    int nearest = 0, is = 0;
    for (int i = 0; i < reach->count; i++) {
        const struct report_row *x, *y;
        if (!find_rivals(reach->groups[i], column, a, b, &x, &y)) continue;
        is = compare_rows(column, x, y);
        if (!before) {
            if (is == 0) return false;
            nearest = is;
        }
        if (is == nearest) {
            before = reach->groups[i];
            after = NULL;
        } else if (is == -nearest && !after) {
            after = reach->groups[i];
        }
    }
    if (!before || is != -nearest) return false;
    *ret = (struct passing){
        .winner = is > 0 ? a : b, .loser = is > 0 ? b : a, .before = before, .after = after};
    return true;
}
