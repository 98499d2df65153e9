/* trend: a history as a set of series, its gate, and what is shown of it. See trend.h. */
#define _GNU_SOURCE
#include "report/trend/trend.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/page/doc_page.h"
#include "report/run/field_value.h"
#include "results/stats/rank.h"

#define BLOCKS 30 /* newest values that a line of blocks shows */
#define LATEST 10 /* the runs of the median without a gate */

int trend_by_series(const struct trend_line *a, const struct trend_line *b, bool of_load) {
    static const enum trend_text key[] = {TREND_LOCK,       TREND_LOAD,       TREND_CLIENTS,
                                          TREND_TOPOLOGY,   TREND_DURABILITY, TREND_EXECUTOR,
                                          TREND_ENVIRONMENT};
    int order = 0, count = of_load ? 3 : (int)(sizeof key / sizeof *key);
    for (int i = 0; i < count && !order; i++) {
        const char *x = a->text[key[i]], *y = b->text[key[i]];
        order = key[i] == TREND_CLIENTS ? atoi(x) - atoi(y) : strcmp(x, y);
    }
    return order;
}

static const struct trend_line *newest_of(const struct trend_series *series) {
    return &series->lines[series->count - 1];
}

/* False if the runs of this lock and load have gone on in another series: on another machine, with other options. */
static bool is_newest(const struct trend_view *view, const struct trend_series *series) {
    for (int i = 0; i < view->count; i++) {
        const struct trend_line *own = newest_of(series), *other = newest_of(&view->series[i]);
        if (trend_by_series(own, other, true) == 0 &&
            strcmp(own->text[TREND_TIME], other->text[TREND_TIME]) < 0)
            return false;
    }
    return true;
}

static int fill_series(struct trend_view *view, struct lb_err *err) {
    const struct trend *trend = view->trend;
    view->series = calloc((size_t)trend->count + 1, sizeof *view->series);
    if (!view->series) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int from = 0, to; from < trend->count; from = to) {
        const struct trend_line *first = &trend->lines[from];
        for (to = from; to < trend->count; to++) {
            if (trend_by_series(first, &trend->lines[to], false) != 0) break;
        }
        if (!view->ask.lock || strcmp(view->ask.lock, first->text[TREND_LOCK]) == 0)
            view->series[view->count++] = (struct trend_series){.lines = first, .count = to - from};
    }
    for (int i = 0; i < view->count; i++)
        view->series[i].judged = is_newest(view, &view->series[i]);
    if (view->count > 0) return 0;
    if (view->ask.lock && trend->count > 0)
        return err_set(err, LB_EXIT_USAGE, "%s: has no line of lock '%.80s'", trend->path,
                       view->ask.lock);
    return err_set(err, LB_EXIT_USAGE,
                   "%s: has no line yet: lockbench history RUN... --append adds them", trend->path);
}

/* ---- the gate ---- */

/* The samples of one side: the figures of so many lines. -1: out of memory. */
static int fill_side(const struct trend_line *lines, int count, int metric,
                     struct compare_side *side) {
    side->made = count;
    side->values = calloc((size_t)count + 1, sizeof *side->values);
    if (!side->values) return -1;
    for (int i = 0; i < count; i++) {
        if (!isnan(lines[i].figure[metric])) side->values[side->count++] = lines[i].figure[metric];
    }
    return 0;
}

/* The lines that have samples, and those that have none because of the load generator. */
static void count_lines(const struct trend_line *lines, int count, int *samples, int *limited) {
    for (int i = 0; i < count; i++) {
        bool is_sample = atoi(lines[i].text[TREND_REPEATS]) > 0;
        *samples += is_sample;
        *limited += !is_sample && atoi(lines[i].text[TREND_LIMITED]) > 0;
    }
}

static char *guarantee_of(const struct trend_line *line) {
    const char *const *text = (const char *const *)line->text;
    char *guarantee = NULL;
    if (asprintf(&guarantee, "%s; %s; %s; executor %s, environment %s", text[TREND_TOPOLOGY],
                 text[TREND_DURABILITY], text[TREND_SERVER], text[TREND_EXECUTOR],
                 text[TREND_ENVIRONMENT]) < 0)
        return NULL;
    return guarantee;
}

/* Fills a row with the newest runs of a series, and with as many before them. */
static int fill_row(const struct trend_series *series, int runs, struct compare_row *row,
                    struct lb_err *err) {
    int new_count = series->count < runs ? series->count : runs;
    int before = series->count - new_count, base_count = before < runs ? before : runs;
    const struct trend_line *new = series->lines + before, *base = new - base_count;
    *row = (struct compare_row){.lock = new->text[TREND_LOCK],
                                .new_lock = new->text[TREND_LOCK],
                                .load = strdup(new->text[TREND_LOAD]),
                                .guarantee = guarantee_of(base), /* its servers may be older */
                                .new_guarantee = guarantee_of(new),
                                .clients = atoi(new->text[TREND_CLIENTS]),
                                .state = LOCK_BASELINE};
    if (!row->load || !row->guarantee || !row->new_guarantee)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    count_lines(base, base_count, &row->base_count, &row->base_limited);
    count_lines(new, new_count, &row->new_count, &row->new_limited);
    for (int i = 0; i < new_count; i++) row->state = report_worse(row->state, new[i].state);
    for (int m = 0; m < compare_metric_count(); m++) {
        struct compare_figure *figure = &row->figure[m];
        if (fill_side(base, base_count, m, &figure->base) != 0 ||
            fill_side(new, new_count, m, &figure->new) != 0)
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
        if (compare_test(row, m, err) != 0) return -1;
    }
    return 0;
}

static int fill_gate(struct trend_view *view, struct lb_err *err) {
    struct compare *gate = view->gate = calloc(1, sizeof *gate);
    if (gate) gate->rows = calloc((size_t)view->count, sizeof *gate->rows);
    if (!gate || !gate->rows) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    gate->min_effect = view->ask.min_effect;
    gate->metrics = view->ask.metrics;
    for (int i = 0; i < view->count; i++) {
        if (!view->series[i].judged) continue;
        struct compare_row *row = &gate->rows[gate->row_count++];
        if (fill_row(&view->series[i], view->ask.gate, row, err) != 0) return -1;
        gate->state = report_worse(gate->state, row->state);
    }
    return compare_judge(gate) == 0 ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

struct trend_view *trend_look(const struct trend *trend, const struct trend_ask *ask,
                              struct lb_err *err) {
    struct trend_view *view = calloc(1, sizeof *view);
    if (!view) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    view->trend = trend;
    view->ask = *ask;
    if (fill_series(view, err) == 0 && (ask->gate == 0 || fill_gate(view, err) == 0)) return view;
    trend_view_free(view);
    return NULL;
}

void trend_view_free(struct trend_view *view) {
    if (!view) return;
    compare_free(view->gate);
    free(view->series);
    free(view);
}

int trend_exit(const struct trend_view *view) {
    return view->gate ? compare_exit(view->gate) : LB_EXIT_OK;
}

/* ---- what is shown ---- */

/* Writes the newest values as block characters, the least one as the lowest block; "never" is as high as the greatest.
 * text holds 3 * BLOCKS + 1 bytes. */
static char *blocks_text(const double *values, int count, char *text) {
    const double *from = values + (count > BLOCKS ? count - BLOCKS : 0), *end = values + count;
    double low = INFINITY, high = -INFINITY;
    char *to = text;
    for (const double *value = from; value < end; value++) {
        low = fmin(low, *value);
        if (isfinite(*value)) high = fmax(high, *value);
    }
    for (; from < end; from++) {
        double part = high > low ? (fmin(*from, high) - low) / (high - low) : 0.5;
        memcpy(to, "\xe2\x96\x81", 3); /* U+2581 .. U+2588 */
        to[2] = (char)(to[2] + lround(7 * part));
        to += 3;
    }
    *to = '\0';
    return text;
}

/* Adds the row of a figure that any run measured. values has room for all of them. */
static void add_figure(struct doc *doc, const struct trend_view *view,
                       const struct trend_series *series, int metric, double *values) {
    const struct result_field *field = compare_metric(metric);
    char text[NUMBER_TEXT_MAX], blocks[3 * BLOCKS + 1];
    int count = 0, wanted = view->ask.gate > 0 ? view->ask.gate : LATEST;
    for (int i = 0; i < series->count; i++) {
        double value = series->lines[i].figure[metric];
        if (!isnan(value)) values[count++] = value;
    }
    if (count == 0 || !choice_has(view->ask.metrics, metric)) return;
    int newest = count < wanted ? count : wanted;
    double median = rank_median(values + count - newest, newest);
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", field->title);
    doc_value(doc, values[count - 1], "%s", field_figure_text(field, values[count - 1], text));
    doc_value(doc, median, "%s", field_figure_text(field, median, text));
    doc_figure(doc, count);
    doc_cell(doc, "%s", blocks_text(values, count, blocks));
}

static void add_series(struct doc *doc, const struct trend_view *view,
                       const struct trend_series *series, double *values) {
    const struct trend_line *newest = &series->lines[series->count - 1];
    const char *const *text = (const char *const *)newest->text;
    doc_group(doc, compare_fails(newest->state) ? TONE_BAD : TONE_PLAIN, "%s, %s client%s, %s",
              text[TREND_LOCK], text[TREND_CLIENTS],
              strcmp(text[TREND_CLIENTS], "1") == 0 ? "" : "s", text[TREND_LOAD]);
    char *guarantee = guarantee_of(newest);
    doc_span(doc, DOC_DETAIL, "%s; newest %s%s%s: %s", doc_or(guarantee, ""), text[TREND_TIME],
             *text[TREND_COMMIT] ? ", commit " : "", text[TREND_COMMIT], text[TREND_VERDICT]);
    free(guarantee);
    if (!series->judged)
        doc_span(
            doc, DOC_DETAIL,
            "older: the newest runs of this lock and load have another topology, durability, executor or "
            "environment, and no gate judges this one");
    for (int m = 0; m < compare_metric_count(); m++) add_figure(doc, view, series, m, values);
}

void trend_doc(const struct trend_view *view, bool blocks, struct doc *doc) {
    char median[40];
    const struct doc_column columns[] = {
        {.title = "medians of runs"},
        {.title = "latest", .right = true},
        {.title = median, .right = true},
        {.title = "runs", .figure = DOC_COUNT},
        {.title = "trend", .only = blocks ? 0 : DOC_CSV},
        {.title = NULL},
    };
    double *values = malloc((size_t)view->trend->count * sizeof *values);
    snprintf(median, sizeof median, "median of %d", view->ask.gate > 0 ? view->ask.gate : LATEST);
    if (!values) doc->failed = true;
    if (view->gate) {
        compare_doc(view->gate, doc);
        doc_say(doc, TONE_PLAIN,
                "New: the newest %d runs of each series. Base: up to %d before them.",
                view->ask.gate, view->ask.gate);
    }
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < view->count && values; i++) add_series(doc, view, &view->series[i], values);
    doc_end(doc);
    free(values);
}

static json_t *series_json(const struct trend_view *view, const struct trend_series *series) {
    const char *const *text = (const char *const *)series->lines[series->count - 1].text;
    json_t *runs = json_array(), *figures = json_object();
    for (int i = 0; i < series->count; i++) {
        const char *const *of = (const char *const *)series->lines[i].text;
        json_array_append_new(runs, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i}", "time",
                                              of[TREND_TIME], "run", of[TREND_RUN], "commit",
                                              of[TREND_COMMIT], "kernel", of[TREND_KERNEL],
                                              "server", of[TREND_SERVER], "verdict",
                                              of[TREND_VERDICT], "repeats", atoi(of[TREND_REPEATS]),
                                              "limited", atoi(of[TREND_LIMITED])));
    }
    for (int m = 0; m < compare_metric_count(); m++) {
        json_t *values = json_array();
        if (!choice_has(view->ask.metrics, m)) continue;
        for (int i = 0; i < series->count; i++)
            json_array_append_new(values, field_figure_json(series->lines[i].figure[m]));
        json_object_set_new(figures, compare_metric(m)->compared, values);
    }
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "lock", text[TREND_LOCK],
                     "clients", atoi(text[TREND_CLIENTS]), "load", text[TREND_LOAD], "topology",
                     text[TREND_TOPOLOGY], "durability", text[TREND_DURABILITY], "executor",
                     text[TREND_EXECUTOR], "environment", text[TREND_ENVIRONMENT], "judged",
                     (int)series->judged, "runs", runs, "figures", figures);
}

int trend_write_json(const struct trend_view *view, FILE *out, struct lb_err *err) {
    json_t *all = json_array();
    for (int i = 0; i < view->count; i++)
        json_array_append_new(all, series_json(view, &view->series[i]));
    json_t *json = json_pack("{s:s, s:i, s:i, s:o, s:o}", "schema", "lockbench.history/2",
                             "exit_code", trend_exit(view), "gate", view->ask.gate, "comparison",
                             view->gate ? compare_json(view->gate) : json_null(), "series", all);
    return output_json(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the history", err);
}

int trend_page(const struct trend_view *view, FILE *out, struct lb_err *err) {
    struct doc doc = {0};
    struct doc_page page = {.command = "lockbench history",
                            .title = "Figures from run to run",
                            .about = view->trend->path};
    trend_doc(view, true, &doc);
    int rc = doc_page_write(&page, &doc, out, err);
    doc_free(&doc);
    return rc;
}
