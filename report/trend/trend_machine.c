/* trend_machine: a history for programs: JSON, and files that Apache Otava reads. */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    json_t *json = json_pack(
        "{s:s, s:b, s:o, s:o, s:o, s:b, s:o, s:s?, s:o, s:o, s:o}", "title",
        compare_metric(metric)->title, "is_time", (int)result_field_is_time(compare_metric(metric)),
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
    return output_json(trend_json(view), JSON_INDENT(1), out, "the answer", err);
}

/* Otava needs a number in every cell, so a figure that some run lacks is left out. */
static bool is_full(const struct trend_series *series, int metric) {
    return series->figure[metric].count == series->count;
}

static FILE *create(const char *folder, const char *name, struct lb_err *err) {
    char *path = NULL;
    FILE *out = asprintf(&path, "%s/%s", folder, name) >= 0 ? fopen(path, "we") : NULL;
    if (!out) err_set(err, LB_EXIT_MACHINE, "%s/%s: %s", folder, name, strerror(errno));
    free(path);
    return out;
}

static int done(FILE *out, const char *folder, struct lb_err *err) {
    int failed = output_check(out, folder, err);
    if (fclose(out) == 0) return failed;
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", folder, strerror(errno));
}

static int write_series(const struct trend_series *series, const char *folder, const char *name,
                        struct lb_err *err) {
    char file[300];
    snprintf(file, sizeof file, "%s.csv", name);
    FILE *out = create(folder, file, err);
    if (!out) return -1;
    fputs("time,commit,run", out);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (is_full(series, m)) fprintf(out, ",%s", compare_metric(m)->compared);
    }
    for (int i = 0; i < series->count; i++) {
        const struct trend_line *line = series->lines[i];
        fprintf(out, "\n%s,", line->text[TREND_TIME]);
        escape_csv(out, line->text[TREND_COMMIT]);
        fputc(',', out);
        escape_csv(out, line->text[TREND_RUN]);
        for (int m = 0; m < compare_metric_count(); m++) {
            double value = fmin(line->figure[m], series->figure[m].never);
            if (is_full(series, m)) fprintf(out, ",%.9g", value);
        }
    }
    fputc('\n', out);
    return done(out, folder, err);
}

/* Writes a text from elsewhere as a JSON string, which YAML reads too. Steals the reference. 0, or
 * -1 if the text is no UTF-8. */
static int put_string(json_t *text, size_t flags, FILE *out) {
    int failed = text ? json_dumpf(text, out, JSON_ENCODE_ANY | flags) : -1;
    json_decref(text);
    return failed;
}

static int write_test(const struct trend_series *series, const char *folder, const char *name,
                      FILE *out, struct lb_err *err) {
    const struct trend_line *newest = series->lines[series->count - 1];
    const char *clients = newest->text[TREND_CLIENTS], *load = newest->text[TREND_LOAD];
    fputs("  # ", out);
    /* one line */
    put_string(json_sprintf("%s clients, %s", clients, load), JSON_ENSURE_ASCII, out);
    fprintf(out, "\n  %s:\n    type: csv\n    file: ", name);
    if (put_string(json_sprintf("%s/%s.csv", folder, name), 0, out) != 0)
        return err_set(err, LB_EXIT_USAGE, "%s: a name that is no UTF-8 cannot be in otava.yaml",
                       folder);
    fputs("\n    time_column: time\n    attributes: [commit, run]\n    metrics:\n", out);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (is_full(series, m))
            fprintf(out, "      %s: {column: %s, direction: %d}\n", compare_metric(m)->compared,
                    compare_metric(m)->compared, compare_metric(m)->better > 0 ? 1 : -1);
    }
    return 0;
}

/* "redis-setnx.c64.1": the number is needed because the names of two series may differ only in
 * characters that a file name can't have. */
static void series_name(const struct trend_series *series, int index, char *name, size_t size) {
    const struct trend_line *newest = series->lines[series->count - 1];
    snprintf(name, size, "%.100s.c%.20s.%d", newest->text[TREND_LOCK], newest->text[TREND_CLIENTS],
             index + 1);
    for (char *c = name; *c; c++) {
        bool plain =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!plain && !strchr("-._", *c)) *c = '_';
    }
}

int trend_write_otava(const struct trend_view *view, const char *folder, struct lb_err *err) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", folder, strerror(errno));
    FILE *out = create(folder, "otava.yaml", err);
    if (!out) return -1;
    int failed = 0;
    fputs("tests:\n", out);
    for (int i = 0; i < view->count && !failed; i++) {
        char name[200];
        series_name(&view->series[i], i, name, sizeof name);
        failed = write_test(&view->series[i], folder, name, out, err);
        if (!failed) failed = write_series(&view->series[i], folder, name, err);
    }
    int closed = done(out, folder, err);
    return failed ? -1 : closed;
}
