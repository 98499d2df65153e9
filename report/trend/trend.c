/* trend: a history that is read and judged; see trend.h. bench/tools/history writes it. */
#define _GNU_SOURCE
#include "report/trend/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/text.h"
#include "report/run/words.h"
#include "results/format/tree.h"

static int column_count(void) {
    return TREND_TEXTS + TREND_FIGURES + compare_metric_count();
}

static const char *column_name(int column) {
    static const char *const names[TREND_TEXTS + TREND_FIGURES] = {
        "time",     "run",         "lock",   "clients", "load",   "topology", "durability",
        "executor", "environment", "kernel", "server",  "commit", "verdict",  "repeats"};
    int metric = column - TREND_TEXTS - TREND_FIGURES;
    return metric < 0 ? names[column] : compare_metric(metric)->compared;
}

char *trend_header(void) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    for (int c = 0; c < column_count(); c++)
        fprintf(out, "%s%c", column_name(c), c + 1 < column_count() ? ',' : '\n');
    return fclose(out) == 0 ? text : NULL;
}

/* ---- reading ---- */

/* Reads a field in place, without its quotes. Returns the character after it. */
static char next_field(char **at, char **field) {
    char *from = *at, *to;
    bool quoted = *from == '"';
    *field = to = from += quoted;
    for (; *from && (quoted || !strchr(",\n", *from)); from++) {
        if (quoted && *from == '"' && *++from != '"') break;
        *to++ = *from;
    }
    char after = *from;
    *at = from + (after != '\0');
    *to = '\0';
    return after;
}

static bool read_number(const char *text, double *ret) {
    char *end;
    *ret = strcmp(text, RESULT_NEVER) == 0 ? INFINITY : NAN;
    if (!*text || isinf(*ret)) return true;
    *ret = strtod(text, &end);
    return *end == '\0' && isfinite(*ret) && *ret >= 0;
}

/* Reads the line at *at, which moves to the next one. place: its number. */
static int read_line(const struct trend *trend, int place, char **at, struct trend_line *line,
                     struct lb_err *err) {
    for (int c = 0; c < column_count(); c++) {
        char *field, after = next_field(at, &field);
        bool sound = after == (c + 1 < column_count() ? ',' : '\n');
        if (c < TREND_TEXTS)
            line->text[c] = field;
        else
            sound = sound && read_number(field, &line->number[c - TREND_TEXTS]);
        if (c == TREND_VERDICT) sound = sound && words_state_of(field, &line->state);
        if (sound) continue;
        return err_set(err, LB_EXIT_USAGE,
                       "%s:%d: is wrong at '%.40s' in the column '%s': remove the line, and append "
                       "its run again",
                       trend->path, place, field, column_name(c));
    }
    return 0;
}

/* Compares the columns that make a series; of_load: the lock and the load alone. */
static int by_series(const struct trend_line *a, const struct trend_line *b, bool of_load) {
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

static int by_time(const void *a, const void *b) {
    const struct trend_line *x = a, *y = b;
    int order = by_series(x, y, false);
    return order ? order : strcmp(x->text[TREND_TIME], y->text[TREND_TIME]);
}

/* The file has to begin with the columns of this version. */
static int read_lines(struct trend *trend, size_t size, const char *header, struct lb_err *err) {
    size_t length = strlen(header), room = 1;
    if (strncmp(trend->text, header, length) != 0 || strlen(trend->text) != size ||
        !utf8_is_valid(trend->text))
        return err_set(err, LB_EXIT_USAGE,
                       "%s: is no history of this version of lockbench, or no text: append to "
                       "another file (--file)",
                       trend->path);
    char *at = trend->text + length;
    for (const char *end = at; (end = strchr(end, '\n')); end++) room++;
    trend->lines = calloc(room, sizeof *trend->lines);
    if (!trend->lines) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (; *at; trend->count++) {
        if (read_line(trend, trend->count + 2, &at, &trend->lines[trend->count], err) != 0)
            return -1;
    }
    qsort(trend->lines, (size_t)trend->count, sizeof *trend->lines, by_time);
    return 0;
}

struct trend *trend_file(const char *path, struct lb_err *err) {
    size_t length;
    struct trend *trend = calloc(1, sizeof *trend);
    char *header = trend_header();
    if (trend) trend->path = strdup(path);
    if (!trend || !trend->path || !header) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
    } else {
        trend->text =
            tree_file(path, "a history", "the file that `lockbench history RUN... --append` made",
                      &length, err);
        if (trend->text && read_lines(trend, length, header, err) == 0) {
            free(header);
            return trend;
        }
    }
    free(header);
    trend_free(trend);
    return NULL;
}

void trend_free(struct trend *trend) {
    if (!trend) return;
    compare_free(trend->gate);
    free(trend->series);
    free(trend->lines);
    free(trend->text);
    free(trend->path);
    free(trend);
}

/* ---- series and their gate ---- */

/* False if the runs of this lock and load have gone on in another series: on another machine, with other options. */
static bool is_newest(const struct trend *trend, const struct trend_series *series) {
    const struct trend_line *own = &series->lines[series->count - 1];
    for (int i = 0; i < trend->count; i++) {
        const struct trend_line *other = &trend->lines[i];
        if (by_series(own, other, true) == 0 &&
            strcmp(own->text[TREND_TIME], other->text[TREND_TIME]) < 0)
            return false;
    }
    return true;
}

static int fill_series(struct trend *trend, struct lb_err *err) {
    if (trend->count == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "%s: has no line yet: lockbench history RUN... --append adds them",
                       trend->path);
    trend->series = calloc((size_t)trend->count, sizeof *trend->series);
    if (!trend->series) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < trend->count; i++) {
        const struct trend_line *line = &trend->lines[i];
        if (i == 0 || by_series(line - 1, line, false) != 0)
            trend->series[trend->series_count++].lines = line;
        trend->series[trend->series_count - 1].count++;
    }
    for (int i = 0; i < trend->series_count; i++)
        trend->series[i].judged = is_newest(trend, &trend->series[i]);
    return 0;
}

/* Writes a figure's values, as far as there are any, and returns their number. */
static int values_of(const struct trend_line *lines, int count, int metric, double *values) {
    int known = 0;
    for (int i = 0; i < count; i++) {
        double value = lines[i].number[TREND_FIGURES + metric];
        if (!isnan(value)) values[known++] = value;
    }
    return known;
}

/* The samples of one side: the figures of so many lines. -1: out of memory. */
static int fill_side(const struct trend_line *lines, int count, int metric,
                     struct compare_side *side) {
    side->values = calloc((size_t)count + 1, sizeof *side->values);
    if (side->values) side->count = values_of(lines, count, metric, side->values);
    return side->values ? 0 : -1;
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
                                .load = strdup(new->text[TREND_LOAD]),
                                .guarantee = guarantee_of(base), /* its servers may be older */
                                .new_guarantee = guarantee_of(new),
                                .clients = atoi(new->text[TREND_CLIENTS]),
                                .state = LOCK_BASELINE};
    if (!row->load || !row->guarantee || !row->new_guarantee)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < base_count; i++) row->base_count += base[i].number[TREND_REPEATS] > 0;
    for (int i = 0; i < new_count; i++) row->new_count += new[i].number[TREND_REPEATS] > 0;
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

static int fill_gate(struct trend *trend, struct lb_err *err) {
    struct compare *gate = trend->gate = calloc(1, sizeof *gate);
    if (gate) gate->rows = calloc((size_t)trend->series_count, sizeof *gate->rows);
    if (!gate || !gate->rows) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    gate->newest = trend->ask.gate;
    gate->min_effect = trend->ask.min_effect;
    gate->metrics = trend->ask.metrics;
    for (int i = 0; i < trend->series_count; i++) {
        if (!trend->series[i].judged) continue;
        struct compare_row *row = &gate->rows[gate->row_count++];
        if (fill_row(&trend->series[i], trend->ask.gate, row, err) != 0) return -1;
        gate->state = report_worse(gate->state, row->state);
    }
    return compare_judge(gate) == 0 ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

struct trend *trend_read(const char *path, const struct trend_ask *ask, struct lb_err *err) {
    struct trend *trend = trend_file(path, err);
    if (!trend) return NULL;
    trend->ask = *ask;
    if (fill_series(trend, err) == 0 && fill_gate(trend, err) == 0) return trend;
    trend_free(trend);
    return NULL;
}
