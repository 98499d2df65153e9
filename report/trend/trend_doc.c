/* trend_doc: a history as a document, as JSON and as a page. See trend.h. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/doc/escape.h"
#include "report/page/doc_page.h"
#include "report/run/field_value.h"
#include "report/trend/trend.h"
#include "results/stats/rank.h"

#define BLOCKS 30 /* newest values that a line of blocks shows */
#define LATEST 10 /* the runs of the median without a gate */

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
    doc_span(doc, DOC_DETAIL, "%s; %s; %s; executor %s, environment %s; newest %s%s%s: %s",
             text[TREND_TOPOLOGY], text[TREND_DURABILITY], text[TREND_SERVER], text[TREND_EXECUTOR],
             text[TREND_ENVIRONMENT], text[TREND_TIME], *text[TREND_COMMIT] ? ", commit " : "",
             text[TREND_COMMIT], text[TREND_VERDICT]);
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
