/* html_data: the data of the charts, as one JSON object in the page; report/src/data.js reads it.
 *
 * Here the locks, loads and figures; html_hist.c and html_time.c add members of their
 * own. Names in it are data, never markup. */
#include <math.h>
#include <stdlib.h>

#include "report/doc/escape.h"
#include "report/page/html_parts.h"
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

/* "spread": a list with a list for each group, which has an object for each row: {"mean": ratio,
 * "figures": {key: {"low", "high", "ratio", "kind", "count"}}}, in the order of "groups" and their
 * "rows". */
static int html_spread(const struct report *report, json_t *root, struct lb_err *err) {
    json_t *groups = json_array();
    int rc = json_object_set_new(root, "spread", groups);
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

#define REAL_DIGITS 12 /* enough for an overlap of 1 us in a window of days */

/* Adds a value, which may be NULL (out of memory), and remembers a failure in *rc. */
static void put(json_t *object, const char *key, json_t *value, int *rc) {
    if (json_object_set_new(object, key, value)) *rc = -1;
}

/* Leaves out the columns that others replace in the comparison: in an open loop the page shows
 * times from due. */
static json_t *figures_of(const struct report_group *group, const struct report_row *row, int *rc) {
    static const unsigned groups[] = {IN_COMPARISON, IN_LATENCY, IN_FAIRNESS, IN_COST};
    json_t *object = json_object();
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (const struct column *column = columns_of(groups[g]); column->key; column++) {
            double value = column_value(column, row);
            if (isfinite(value) && !column_gives_way(column, group))
                put(object, column->key, escape_json_figure(value), rc);
        }
    }
    return object;
}

static json_t *page_row_json(const struct report_group *group, const struct report_row *row,
                             int *rc) {
    json_t *object = json_object();
    put(object, "lock", json_integer(row->lock), rc);
    put(object, "state", escape_json(words_state(row->state)), rc);
    put(object, "figures", figures_of(group, row, rc), rc);
    if (row->typical->grants_per_client) {
        if (json_object_set(object, "perClient", (json_t *)row->typical->grants_per_client))
            *rc = -1;
    }
    return object;
}

static json_t *group_of(const struct report_group *group, const struct answers *answers, int *rc) {
    json_t *object = json_object(), *rows = json_array();
    put(object, "load", escape_json(group->load), rc);
    put(object, "clients", escape_json_figure(group->clients), rc);
    put(object, "alone", json_boolean(group == answers->alone), rc);
    put(object, "contended", json_boolean(group == answers->contended), rc);
    put(object, "rows", rows, rc);
    for (int r = 0; r < group->row_count && *rc == 0; r++) {
        if (json_array_append_new(rows, page_row_json(group, &group->rows[r], rc))) *rc = -1;
    }
    return object;
}

static json_t *page_lock_json(const struct report_lock *lock, int *rc) {
    json_t *object = json_object();
    put(object, "label", escape_json(lock->label), rc);
    put(object, "run", json_integer(lock->run), rc);
    put(object, "state", escape_json(words_state(lock->state)), rc);
    put(object, "real", json_boolean(report_is_real(lock->stage)), rc);
    put(object, "durability", json_integer(words_durability(lock->stage)), rc);
    put(object, "guarantee", escape_json(words_guarantee(lock->stage)), rc);
    put(object, "topology", escape_json(lock->stage->topology), rc);
    return object;
}

static json_t *run_of(const struct run *run, int index, int *rc) {
    char letter[8];
    json_t *object = json_object();
    put(object, "letter", escape_json(report_run_letter(index, letter)), rc);
    put(object, "name", escape_json(run->workload ? run->workload : "a workload without a name"),
        rc);
    put(object, "started_at", escape_json(run->started_at), rc);
    return object;
}

int html_data(FILE *out, const struct report *report, const struct answers *answers,
              struct lb_err *err) {
    int rc = 0;
    char *dump = NULL;
    json_t *root = json_object(), *locks = json_array(), *groups = json_array(),
           *classes = json_array(), *runs = json_array();
    put(root, "runs", runs, &rc);
    put(root, "locks", locks, &rc);
    put(root, "groups", groups, &rc);
    put(root, "durabilities", classes, &rc);
    for (int r = 0; r < report->run_count && rc == 0; r++) {
        rc |= json_array_append_new(runs, run_of(report->runs[r], r, &rc));
    }
    for (int i = 0; i < report->lock_count && rc == 0; i++) {
        rc |= json_array_append_new(locks, page_lock_json(&report->locks[i], &rc));
    }
    for (int g = 0; g < report->group_count && rc == 0; g++) {
        rc |= json_array_append_new(groups, group_of(&report->groups[g], answers, &rc));
    }
    for (int d = 0; d < DURABILITIES && rc == 0; d++) {
        rc |=
            json_array_append_new(classes, escape_json(words_durability_text((enum durability)d)));
    }
    if (rc == 0) rc = html_hists(report, root, err);
    if (rc == 0) rc = html_time(report, root, err);
    if (rc == 0) rc = html_spread(report, root, err);
    if (rc == 0) rc = html_rates(report, root, err);
    if (rc == 0) rc = html_recoveries(report, root, err);
    if (rc == 0) dump = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    if (dump) escape_script(out, dump);
    free(dump);
    json_decref(root);
    return dump ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}
