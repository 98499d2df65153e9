/* trend_machine: a history for programs, as JSON. See trend.h. */
#include <jansson.h>
#include <math.h>

#include "bench/base/output.h"
#include "report/doc/escape.h"
#include "report/run/field_value.h"
#include "report/trend/trend_parts.h"

static json_t *level_json(double level) {
    return isinf(level) ? json_string(RESULT_NEVER) : json_real(level);
}

static json_t *change_json(const struct trend_series *series, int metric,
                           const struct change_point *change) {
    const struct trend_figure *figure = &series->figure[metric];
    const struct trend_line *line = series->lines[figure->lines[change->index]];
    double shift = change->before > 0 ? change->after / change->before - 1 : NAN;
    char also[100];
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:f, s:b, s:s}", "index", change->index,
                     "time", line->text[TREND_TIME], "commit", line->text[TREND_COMMIT], "run",
                     line->text[TREND_RUN], "before", level_json(change->before), "after",
                     level_json(change->after), "shift", escape_json_figure(shift), "p", change->p,
                     "worse", (int)trend_is_worse(metric, change->before, change->after), "also",
                     trend_also(series, figure, change, also, sizeof also));
}

/* Returns the value, or NULL, with the value released, if a part of it could not be made. */
static json_t *whole_or_null(json_t *value, int failed) {
    if (!failed) return value;
    json_decref(value);
    return NULL;
}

static json_t *changes_json(const struct trend_series *series, int metric) {
    const struct trend_figure *figure = &series->figure[metric];
    json_t *changes = json_array();
    int failed = 0;
    for (int i = 0; i < figure->change_count; i++)
        failed |= json_array_append_new(changes, change_json(series, metric, &figure->changes[i]));
    return whole_or_null(changes, failed);
}

static json_t *trend_figure_json(const struct trend_series *series, int metric) {
    const struct trend_figure *figure = &series->figure[metric];
    json_t *values = json_array(), *lines = json_array();
    int failed = 0;
    for (int i = 0; i < figure->count; i++) {
        failed |= json_array_append_new(values, field_figure_json(figure->values[i]));
        failed |= json_array_append_new(lines, json_integer(figure->lines[i]));
    }
    const struct result_field *field = compare_metric(metric);
    json_t *json = json_pack(
        "{s:s, s:b, s:b, s:o, s:o, s:o, s:b, s:o, s:s?, s:o, s:o, s:o}", "title", field->title,
        "is_time", (int)result_field_is_time(field), "is_share", (int)result_field_is_share(field),
        "latest", field_figure_json(figure->latest), "median", field_figure_json(figure->median),
        "shift", escape_json_figure(figure->shift), "worse", (int)figure->worse, "gate_p",
        escape_json_figure(figure->p), "acknowledged", figure->acknowledged, "changes",
        changes_json(series, metric), "values", values, "lines", lines);
    return whole_or_null(json, failed);
}

/* How a program names a run of the history. The caller owns it. */
static json_t *run_json(const struct trend_line *line) {
    return json_pack("{s:s, s:s, s:s}", "time", line->text[TREND_TIME], "commit",
                     line->text[TREND_COMMIT], "run", line->text[TREND_RUN]);
}

/* The newest run of the series before a young one, and what differs. */
static json_t *before_json(const struct trend_series *series) {
    char differs[100];
    json_t *json = run_json(series->before);
    int failed = json_object_set_new(json, "differs",
                                     json_string(trend_differs(series, differs, sizeof differs)));
    return whole_or_null(json, failed);
}

/* The runs of a series, in the order of time: the indices of values refer to these. */
static json_t *lines_json(const struct trend_series *series) {
    json_t *lines = json_array();
    int failed = 0;
    for (int i = 0; i < series->count; i++)
        failed |= json_array_append_new(lines, run_json(series->lines[i]));
    return whole_or_null(lines, failed);
}

static json_t *figures_json(const struct trend_series *series) {
    json_t *figures = json_object();
    int failed = 0;
    for (int m = 0; m < compare_metric_count(); m++) {
        if (series->figure[m].count > 0)
            failed |= json_object_set_new(figures, compare_metric(m)->compared,
                                          trend_figure_json(series, m));
    }
    return whole_or_null(figures, failed);
}

static json_t *series_json(const struct trend_series *series) {
    static const enum trend_text texts[] = {TREND_LOCK,        TREND_CLIENTS,    TREND_LOAD,
                                            TREND_TOPOLOGY,    TREND_DURABILITY, TREND_EXECUTOR,
                                            TREND_ENVIRONMENT, TREND_TIME,       TREND_VERDICT};
    const struct trend_line *newest = series->lines[series->count - 1];
    json_t *json = json_object();
    int failed = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        failed |=
            json_object_set_new(json, trend_columns[texts[i]], json_string(newest->text[texts[i]]));
    failed |= json_object_set_new(json, "runs", json_integer(series->count));
    failed |= json_object_set_new(json, "ended", json_boolean(series->ended));
    failed |= json_object_set_new(json, "limited", json_integer(series->limited));
    failed |= json_object_set_new(json, "inconclusive", json_boolean(series->inconclusive));
    failed |= json_object_set_new(json, "uncompared", json_boolean(series->uncompared));
    failed |= json_object_set_new(json, "few", json_boolean(series->few));
    failed |=
        json_object_set_new(json, "before", series->before ? before_json(series) : json_null());
    failed |= json_object_set_new(json, "figures", figures_json(series));
    failed |= json_object_set_new(json, "lines", lines_json(series));
    return whole_or_null(json, failed);
}

json_t *trend_json(const struct trend_view *view) {
    json_t *all = json_array();
    int failed = 0;
    for (int i = 0; i < view->count; i++)
        failed |= json_array_append_new(all, series_json(&view->series[i]));
    json_t *json =
        json_pack("{s:s, s:i, s:i, s:f, s:f, s:i, s:o}", "schema", "lockbench.history/1",
                  "exit_code", trend_exit(view), "gate", view->ask.gate, "min_effect",
                  view->ask.min_effect, "max_p", CHANGE_MAX_P, "worse", view->worse, "series", all);
    return whole_or_null(json, failed);
}

int trend_write_json(const struct trend_view *view, FILE *out, struct lb_err *err) {
    return output_json(trend_json(view), JSON_INDENT(1) | JSON_REAL_PRECISION(15), out,
                       "the answer", err);
}
