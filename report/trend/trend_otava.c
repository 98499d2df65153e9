/* trend_otava: a history as files that Apache Otava reads. Otava needs a number in each cell: a run without figures is no
 * row, a figure that another run lacks is no column, and a series without a column is no test. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/output.h"
#include "report/doc/escape.h"
#include "report/trend/trend_parts.h"
#include "results/format/tree.h"

static bool is_row(const struct trend_series *series, const struct trend_line *line) {
    for (int m = 0; m < compare_metric_count(); m++) {
        if (series->figure[m].count > 0 && !isnan(line->figure[m])) return true;
    }
    return false;
}

static int count_rows(const struct trend_series *series) {
    int rows = 0;
    for (int i = 0; i < series->count; i++) rows += is_row(series, series->lines[i]);
    return rows;
}

static bool is_column(const struct trend_series *series, int metric, int rows) {
    return rows > 0 && series->figure[metric].count == rows;
}

static bool is_test(const struct trend_series *series) {
    int rows = count_rows(series);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (is_column(series, m, rows)) return true;
    }
    return false;
}

/* Writes what is left out of a series. used: something was written before. */
static bool put_left_out(const struct trend_series *series, const char *name, bool used,
                         FILE *out) {
    int rows = count_rows(series), without = series->count - rows;
    const char *before = ": ";
    bool test = is_test(series), any = !test || without > 0;
    for (int m = 0; m < compare_metric_count(); m++)
        any |= series->figure[m].count > 0 && !is_column(series, m, rows);
    if (!any) return used;
    fprintf(out, "%s%s", used ? "; " : "", name);
    if (!test) fputs(": all of it", out);
    if (test && without > 0) {
        fprintf(out, ": %d run%s without figures", without, without == 1 ? "" : "s");
        before = ", ";
    }
    for (int m = 0; m < compare_metric_count() && test; m++) {
        if (series->figure[m].count == 0 || is_column(series, m, rows)) continue;
        fprintf(out, "%s%s", before, compare_metric(m)->compared);
        before = ", ";
    }
    return true;
}

/* Opens a file for writing, unless it is one that the view was read from. */
static FILE *create(const struct trend_view *view, const char *folder, const char *name,
                    struct lb_err *err) {
    char *path = NULL;
    FILE *out = NULL;
    const struct trend_acks *acks = view->ask.acks;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    if (tree_same_file(path, view->trend->path) || (acks && tree_same_file(path, acks->path))) {
        err_set(err, LB_EXIT_USAGE,
                "%s: would be written over, and it is the history%s: name another folder", path,
                tree_same_file(path, view->trend->path) ? "" : "'s acknowledgements");
    } else if (!(out = fopen(path, "we"))) {
        err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    }
    free(path);
    return out;
}

static int done(FILE *out, const char *folder, struct lb_err *err) {
    int failed = output_check(out, folder, err);
    if (fclose(out) == 0) return failed;
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", folder, strerror(errno));
}

static int write_series(const struct trend_view *view, const struct trend_series *series,
                        const char *folder, const char *name, struct lb_err *err) {
    char file[300];
    int rows = count_rows(series);
    snprintf(file, sizeof file, "%s.csv", name);
    FILE *out = create(view, folder, file, err);
    if (!out) return -1;
    fputs("time,commit,run", out);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (is_column(series, m, rows)) fprintf(out, ",%s", compare_metric(m)->compared);
    }
    for (int i = 0; i < series->count; i++) {
        const struct trend_line *line = series->lines[i];
        if (!is_row(series, line)) continue;
        fprintf(out, "\n%s,", line->text[TREND_TIME]);
        escape_csv(out, line->text[TREND_COMMIT]);
        fputc(',', out);
        escape_csv(out, line->text[TREND_RUN]);
        for (int m = 0; m < compare_metric_count(); m++) {
            double value = fmin(line->figure[m], series->figure[m].never);
            if (is_column(series, m, rows)) fprintf(out, ",%.9g", value);
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
    int rows = count_rows(series);
    fputs("  # ", out);
    /* one line */
    put_string(json_sprintf("%s clients, %s", clients, load), JSON_ENSURE_ASCII, out);
    fprintf(out, "\n  %s:\n    type: csv\n    file: ", name);
    if (put_string(json_sprintf("%s/%s.csv", folder, name), 0, out) != 0)
        return err_set(err, LB_EXIT_USAGE, "%s: a name that is no UTF-8 cannot be in otava.yaml",
                       folder);
    fputs("\n    time_column: time\n    attributes: [commit, run]\n    metrics:\n", out);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (is_column(series, m, rows))
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

/* Writes the tests, and a file for each. Returns their number, or -1 with err. */
static int write_tests(const struct trend_view *view, const char *folder, FILE *out, FILE *left_out,
                       struct lb_err *err) {
    int tests = 0, failed = 0;
    bool used = false;
    for (int i = 0; i < view->count && !failed; i++) {
        const struct trend_series *series = &view->series[i];
        char name[200];
        series_name(series, i, name, sizeof name);
        used = put_left_out(series, name, used, left_out);
        if (!is_test(series)) continue;
        if (tests++ == 0) fputs("tests:\n", out);
        failed = write_test(series, folder, name, out, err);
        if (!failed) failed = write_series(view, series, folder, name, err);
    }
    if (tests == 0) fputs("tests: {}\n", out);
    return failed ? -1 : tests;
}

int trend_write_otava(const struct trend_view *view, const char *folder, struct trend_otava *ret,
                      struct lb_err *err) {
    struct trend_otava wrote = {.tests = -1};
    size_t size;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", folder, strerror(errno));
    FILE *out = create(view, folder, "otava.yaml", err);
    if (!out) return -1;
    FILE *left_out = open_memstream(&wrote.left_out, &size);
    if (!left_out) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        fclose(out);
        return -1;
    }
    wrote.tests = write_tests(view, folder, out, left_out, err);
    int failed = wrote.tests < 0;
    if (fclose(left_out) != 0 && !failed) failed = err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (done(out, folder, err) != 0) failed = -1;
    if (!failed) {
        *ret = wrote;
        return 0;
    }
    free(wrote.left_out);
    return -1;
}
