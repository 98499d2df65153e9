/* trend: a history as a set of series, and its gate. See trend.h. */
#include "report/trend/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    size_t size;
    FILE *out = open_memstream(&guarantee, &size);
    if (!out) return NULL;
    fprintf(out, "%s; %s; %s; executor %s, environment %s", text[TREND_TOPOLOGY],
            text[TREND_DURABILITY], text[TREND_SERVER], text[TREND_EXECUTOR],
            text[TREND_ENVIRONMENT]);
    if (fclose(out) == 0) return guarantee;
    free(guarantee);
    return NULL;
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
