/* html_data: the data of the charts, as one JSON object in the page; report/src/data.js reads it.
 *
 * A row has its lock, its figures, how its typical repeat went over time, and that repeat's histograms, as the V2 texts
 * of run.json, from which the page computes any percentile. Names in it are data, never markup. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "report/page/html_parts.h"
#include "report/run/ranking.h"
#include "report/run/words.h"

#define REAL_DIGITS 12
#define HISTOGRAM_BYTES                                                                            \
    2000000 /* of all histograms; a page of very many locks lacks the last ones */
#define INTERVALS_MAX                                                                              \
    120 /* the most intervals of a row; longer runs have several seconds in each */

/* Adds a value, which may be NULL (out of memory), and remembers a failure in *rc. */
static void put(json_t *object, const char *key, json_t *value, int *rc) {
    if (json_object_set_new(object, key, value)) *rc = -1;
}

/* The interval of a figure: {"low", "high", "kind", "count"}; {} if there is none. */
static json_t *interval_of(const struct report_row *row, const struct result_field *column) {
    struct spread spread = spread_of(row, column);
    if (spread.kind == SPREAD_NONE) return json_object();
    return json_pack("{s:o, s:o, s:s, s:o}", "low", escape_json_figure(spread.low), "high",
                     escape_json_figure(spread.high), "kind", spread_name(spread.kind), "count",
                     escape_json_figure(spread.count));
}

/* The intervals of the row's figures in the comparison. */
static json_t *spread_of_row(const struct report_row *row, int *rc) {
    json_t *figures = json_object();
    for (const struct result_field *column = column_next(IN_COMPARISON, NULL); column;
         column = column_next(IN_COMPARISON, column))
        if (!isnan(column_value(column, row)))
            put(figures, column->path, interval_of(row, column), rc);
    return figures;
}

/* Leaves out the columns that others replace in the comparison: in an open loop the page shows
 * times from due. */
static json_t *figures_of(const struct report_group *group, const struct report_row *row, int *rc) {
    static const unsigned groups[] = {IN_COMPARISON, IN_LATENCY, IN_FAIRNESS, IN_COST};
    json_t *object = json_object();
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (const struct result_field *column = column_next(groups[g], NULL); column;
             column = column_next(groups[g], column)) {
            double value = column_value(column, row);
            if (isfinite(value) && !column_gives_way(column, group))
                put(object, column->path, escape_json_figure(value), rc);
        }
    }
    return object;
}

/* ---- histograms ---- */

/* Not hold, which the plan sets, nor what the tables have: connect, ping, failed waits. */
static const enum metric carried[] = {METRIC_ACQUIRE,        METRIC_ACQUIRE_DUE,
                                      METRIC_ACQUIRE_SHARED, METRIC_ACQUIRE_EXCLUSIVE,
                                      METRIC_HANDOFF,        METRIC_RELEASE};

/* In a closed loop a request is always due. *left: the bytes that the page may still take. */
static json_t *hists_of(const struct run_stage *stage, size_t *left, int *rc) {
    bool open = stage->arrival && strcmp(stage->arrival, "closed") != 0;
    json_t *object = json_object();
    for (size_t m = 0; m < sizeof carried / sizeof *carried; m++) {
        const struct run_latency *latency = &stage->latency[carried[m]];
        if (!latency->hdr || !(latency->count > 0)) continue;
        if ((carried[m] == METRIC_ACQUIRE_DUE && !open) || strlen(latency->hdr) > *left) continue;
        *left -= strlen(latency->hdr);
        json_t *entry = json_object();
        put(entry, "count", escape_json_figure(latency->count), rc);
        put(entry, "max", escape_json_figure(latency->max), rc);
        put(entry, "hdr", escape_json(latency->hdr), rc);
        put(object, metric_name(carried[m]), entry, rc);
    }
    return object;
}

/* ---- over time ---- */

static json_t *faults_of(const struct run_stage *stage, int *rc) {
    static const char *const members[] = {"kind", "target", "from_s", "to_s", "acted"};
    json_t *faults = json_array();
    for (size_t i = 0; i < json_array_size(stage->faults); i++) {
        const json_t *fault = json_array_get(stage->faults, i);
        json_t *copy = json_object();
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            json_t *value = json_object_get(fault, members[m]);
            *rc |= json_object_set(copy, members[m], value ? value : json_null());
        }
        *rc |= json_array_append_new(faults, copy);
    }
    return faults;
}

static double member_of(const json_t *second, const char *name) {
    return json_number_value(json_object_get(second, name));
}

/* Adds an interval of the seconds first .. end - 1: the sum of their grants, and the worst of their percentiles, since
 * percentiles can't be added up. */
static void add_interval(json_t *object, const struct run_stage *stage, size_t first, size_t end,
                         int *rc) {
    static const char *const parts[] = {"acquire_p50_ns", "acquire_p99_ns"};
    const json_t *next = json_array_get(stage->series, end);
    double from_s = member_of(json_array_get(stage->series, first), "t_s"), grants = 0,
           worst[2] = {0};
    double to_s = next ? member_of(next, "t_s") : stage->duration_s;
    for (size_t i = first; i < end; i++) {
        const json_t *second = json_array_get(stage->series, i);
        grants += member_of(second, "ok");
        for (int p = 0; p < 2; p++) worst[p] = fmax(worst[p], member_of(second, parts[p]));
    }
    if (!(to_s > from_s)) to_s = from_s + (double)(end - first);
    const double values[] = {from_s, to_s, grants, worst[0], worst[1]};
    static const char *const lists[] = {"from", "to", "grants", "p50", "p99"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        bool known = i < 3 || values[i] > 0; /* a second without grants has no percentiles */
        if (json_array_append_new(json_object_get(object, lists[i]),
                                  escape_json_figure(known ? values[i] : NAN)))
            *rc = -1;
    }
}

/* How a stage went: {"from": [s], "to": [s], "grants": [n], "p50": [ns], "p99": [ns], "merged": seconds, "faults",
 * "offered"}; null without a series. */
static json_t *time_of(const struct run_stage *stage, int *rc) {
    size_t count = json_array_size(stage->series);
    const json_t *last = json_array_get(stage->series, count - 1);
    if (count > 0 && json_is_true(json_object_get(last, "draining"))) count--;
    if (count == 0) return json_null();
    size_t merged = (count + INTERVALS_MAX - 1) / INTERVALS_MAX;
    json_t *object = json_pack("{s:[], s:[], s:[], s:[], s:[], s:i}", "from", "to", "grants", "p50",
                               "p99", "merged", (int)merged);
    for (size_t i = 0; i < count; i += merged)
        add_interval(object, stage, i, i + merged < count ? i + merged : count, rc);
    put(object, "faults", faults_of(stage, rc), rc);
    put(object, "offered", escape_json_figure(stage->offered_per_s), rc);
    return object;
}

static json_t *page_row_json(const struct report *report, const struct report_group *group,
                             const struct report_row *row, size_t *left, int *rc) {
    json_t *object = json_object();
    put(object, "lock", json_integer(row->lock - report->locks), rc);
    put(object, "state", escape_json(words_state(row->state)), rc);
    put(object, "figures", figures_of(group, row, rc), rc);
    put(object, "spread", spread_of_row(row, rc), rc);
    put(object, "repeats", json_integer(row->repeats), rc);
    put(object, "histograms", hists_of(row->typical, left, rc), rc);
    put(object, "time", time_of(row->typical, rc), rc);
    return object;
}

/* The load in words, without its rate. Malloced. */
static char *task_of(const struct run_stage *stage) {
    struct run_stage shape = *stage;
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(stage->arrival, ":"), stage->arrival);
    shape.arrival = kind;
    return report_load_text(&shape);
}

/* Stages of open loops that differ in their rate alone have one task: a sweep of rates. */
static void put_offered(json_t *object, const struct run_stage *stage, int *rc) {
    if (!(stage->offered_per_s > 0) || !stage->arrival) return;
    char *task = task_of(stage);
    put(object, "task", escape_json(task), rc);
    put(object, "offered", escape_json_figure(stage->offered_per_s), rc);
    free(task);
}

static json_t *group_of(const struct report *report, const struct report_group *group, size_t *left,
                        int *rc) {
    json_t *object = json_object(), *rows = json_array();
    put(object, "load", escape_json(group->load), rc);
    put(object, "clients", escape_json_figure(group->clients), rc);
    put(object, "first", json_boolean(group == report->ranked), rc); /* the views show it first */
    put(object, "rows", rows, rc);
    put_offered(object, group->rows[0].typical, rc);
    for (int r = 0; r < group->row_count && *rc == 0; r++) {
        if (json_array_append_new(rows, page_row_json(report, group, &group->rows[r], left, rc)))
            *rc = -1;
    }
    return object;
}

static json_t *page_lock_json(const struct report_lock *lock) {
    return json_pack("{s:o, s:s, s:b, s:i, s:o, s:o}", "label", escape_json(lock->label), "state",
                     words_state(lock->state), "real", (int)report_is_real(lock->stage),
                     "durability", (int)words_durability(lock->stage), "guarantee",
                     escape_json(words_guarantee(lock->stage)), "topology",
                     escape_json(lock->stage->topology));
}

int html_data(FILE *out, const struct report *report, struct lb_err *err) {
    int rc = 0;
    size_t left = HISTOGRAM_BYTES;
    char *dump = NULL;
    json_t *root = json_object(), *locks = json_array(), *groups = json_array(),
           *classes = json_array();
    put(root, "locks", locks, &rc);
    put(root, "groups", groups, &rc);
    put(root, "durabilities", classes, &rc);
    for (int i = 0; i < report->lock_count && rc == 0; i++) {
        rc |= json_array_append_new(locks, page_lock_json(&report->locks[i]));
    }
    for (int g = 0; g < report->group_count && rc == 0; g++) {
        const struct report_group *group = &report->groups[g];
        rc |= json_array_append_new(groups, group_of(report, group, &left, &rc));
    }
    for (int d = 0; d < DURABILITIES && rc == 0; d++) {
        rc |=
            json_array_append_new(classes, escape_json(words_durability_text((enum durability)d)));
    }
    if (rc == 0) dump = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    if (dump) escape_script(out, dump);
    free(dump);
    json_decref(root);
    return dump ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}
