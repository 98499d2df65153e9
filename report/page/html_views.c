/* html_views: see html_views.h. This file has the code that several views need, and the data of the
 * comparison. */
#include "report/page/html_views.h"

#include <math.h>

#include "report/doc/escape.h"
#include "report/run/ranking.h"
#include "report/run/words.h"

int html_lock_of(const struct report *report, int run, const struct run_stage *stage) {
    int i = 0;
    while (!report_is_of(&report->locks[i], run, stage)) i++;
    return i;
}

static json_t *figure_of(const struct report_group *group, int r, const struct column *column) {
    struct spread spread = spread_of(&group->rows[r], column);
    json_t *object = json_object();
    int rc = escape_json_put(object, "ratio", escape_json_figure(best_ratio(column, group, r)));
    if (spread.kind != SPREAD_NONE) {
        rc |= escape_json_put(object, "low", escape_json_figure(spread.low));
        rc |= escape_json_put(object, "high", escape_json_figure(spread.high));
        rc |= escape_json_put(object, "kind", escape_json(spread_name(spread.kind)));
        rc |= escape_json_put(object, "count", escape_json_figure(spread.count));
    }
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *spread_row_json(const struct report_group *group, int r) {
    json_t *row = json_object(), *figures = json_object();
    int rc = escape_json_put(row, "mean", escape_json_figure(best_ratio_mean(group, r)));
    rc |= json_object_set_new(row, "figures", figures);
    for (const struct column *column = columns_of(IN_COMPARISON); column->key && rc == 0;
         column++) {
        if (isnan(column_value(column, &group->rows[r]))) continue;
        /* A key contains dots, so it is not set as a path. */
        rc |= json_object_set_new(figures, column->key, figure_of(group, r, column));
    }
    if (rc == 0) return row;
    json_decref(row);
    return NULL;
}

/* The facts that stand beside each figure of a lock. */
static json_t *standing_of(const struct report_lock *lock) {
    json_t *object = json_object();
    int rc = escape_json_put(object, "guarantee", escape_json(words_guarantee(lock->stage)));
    rc |= escape_json_put(object, "topology", escape_json(lock->stage->topology));
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

/* "standing": a list with an object for each lock: {"guarantee", "topology"}. "spread": a list with
 * a list for each group, which has an object for each row: {"mean": ratio, "figures": {key: {"low",
 * "high", "ratio", "kind", "count"}}}, in the order of "groups" and their "rows". */
static int html_spread(const struct report *report, json_t *root, struct lb_err *err) {
    json_t *groups = json_array(), *standing = json_array();
    int rc = json_object_set_new(root, "spread", groups) |
             json_object_set_new(root, "standing", standing);
    for (int i = 0; i < report->lock_count && rc == 0; i++)
        rc |= json_array_append_new(standing, standing_of(&report->locks[i]));
    for (int g = 0; g < report->group_count && rc == 0; g++) {
        const struct report_group *group = &report->groups[g];
        json_t *rows = json_array();
        rc |= json_array_append_new(groups, rows);
        for (int r = 0; r < group->row_count && rc == 0; r++)
            rc |= json_array_append_new(rows, spread_row_json(group, r));
    }
    if (rc && !err->code) err_set(err, LB_EXIT_MACHINE, "out of memory");
    return rc ? -1 : 0;
}

int html_views_data(const struct report *report, json_t *root, struct lb_err *err) {
    if (html_spread(report, root, err) || html_rates(report, root, err)) return -1;
    return html_holders(report, root, err) || html_recoveries(report, root, err) ? -1 : 0;
}
