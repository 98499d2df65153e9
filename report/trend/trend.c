/* trend: series, their change points, and what has become worse. See trend.h. */
#include "report/trend/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/words.h"
#include "report/trend/trend_parts.h"
#include "results/stats/rank.h"

bool trend_is_worse(int metric, double before, double after) {
    return compare_metric(metric)->better > 0 ? after < before : after > before;
}

/* From the level before the first change among the newest runs to the level now: a change that was
 * undone since is none. The newest levels with too few runs to tell them from outliers are none
 * yet. */
static void weigh(struct trend_figure *figure, int metric, const struct trend_ask *ask) {
    int first = 0, changes = figure->change_count, end = figure->count;
    while (changes > 0 && end - figure->changes[changes - 1].index < TREND_LEVEL)
        end = figure->changes[--changes].index;
    while (first < changes && figure->changes[first].index < figure->count - ask->gate) first++;
    if (first == changes) return;
    double before = figure->changes[first].before, after = figure->changes[changes - 1].after;
    figure->shift = before > 0 ? after / before - 1 : after > 0 ? INFINITY : 0;
    figure->worse = fabs(figure->shift) >= ask->min_effect && trend_is_worse(metric, before, after);
}

static int fill_figure(struct trend_series *series, int metric, const struct trend_ask *ask) {
    struct trend_figure *figure = &series->figure[metric];
    const struct change_options options = {CHANGE_WINDOW, CHANGE_MAX_P, ask->min_effect};
    size_t room = (size_t)series->count + 1;
    figure->values = malloc(room * sizeof *figure->values);
    figure->lines = malloc(room * sizeof *figure->lines);
    figure->changes = malloc(room * sizeof *figure->changes);
    if (!figure->values || !figure->lines || !figure->changes) return -1;
    for (int i = 0; i < series->count; i++) {
        double value = series->lines[i]->figure[metric];
        if (isnan(value)) continue;
        figure->values[figure->count] = value;
        figure->lines[figure->count++] = i;
    }
    int from = figure->count > ask->last ? figure->count - ask->last : 0;
    figure->latest = figure->count > 0 ? figure->values[figure->count - 1] : NAN;
    figure->median = rank_median(figure->values + from, figure->count - from);
    int found = change_points(figure->values, figure->count, &options, figure->changes);
    if (found < 0) return -1;
    figure->change_count = found;
    weigh(figure, metric, ask);
    return 0;
}

static int by_series_and_time(const void *a, const void *b) {
    const struct trend_line *x = *(const struct trend_line *const *)a,
                            *y = *(const struct trend_line *const *)b;
    int order = trend_by_series(x, y);
    return order ? order : (x > y) - (x < y); /* the trend's lines are in the order of time */
}

static int add_series(struct trend_view *view, const struct trend_line **lines, int count) {
    struct trend_series *more = realloc(view->series, (size_t)(view->count + 1) * sizeof *more);
    if (!more) return -1;
    view->series = more;
    struct trend_series *series = &more[view->count++];
    *series = (struct trend_series){.lines = malloc((size_t)count * sizeof *series->lines),
                                    .count = count};
    if (!series->lines) return -1;
    memcpy(series->lines, lines, (size_t)count * sizeof *series->lines);
    const char *verdict = lines[count - 1]->text[TREND_VERDICT];
    series->violated = strcmp(verdict, words_state(LOCK_VIOLATED)) == 0 ||
                       strcmp(verdict, words_state(LOCK_TOKENS)) == 0;
    for (int m = 0; m < compare_metric_count(); m++) {
        if (view->ask.metric >= 0 && view->ask.metric != m) continue;
        if (fill_figure(series, m, &view->ask) != 0) return -1;
        view->worse += series->figure[m].worse;
    }
    return 0;
}

struct trend_view *trend_look(const struct trend *trend, const struct trend_ask *ask,
                              struct lb_err *err) {
    int count = 0, failed = 0;
    struct trend_view *view = calloc(1, sizeof *view);
    const struct trend_line **lines = malloc(((size_t)trend->count + 1) * sizeof *lines);
    if (!view || !lines) {
        failed = err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    view->trend = trend;
    view->ask = *ask;
    for (int i = 0; i < trend->count; i++) {
        bool wanted = !ask->lock || strcmp(ask->lock, trend->lines[i].text[TREND_LOCK]) == 0;
        if (wanted) lines[count++] = &trend->lines[i];
    }
    if (count == 0) {
        failed = ask->lock ? err_set(err, LB_EXIT_USAGE, "%s: has no line of lock '%.80s'",
                                     trend->path, ask->lock)
                           : err_set(err, LB_EXIT_USAGE, "%s: has no line yet", trend->path);
        goto out;
    }
    qsort(lines, (size_t)count, sizeof *lines, by_series_and_time);
    for (int from = 0, to; from < count && !failed; from = to) {
        for (to = from + 1; to < count && trend_by_series(lines[from], lines[to]) == 0;) to++;
        failed = add_series(view, lines + from, to - from);
        if (failed) err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
out:
    free(lines);
    if (!failed) return view;
    trend_view_free(view);
    return NULL;
}

void trend_view_free(struct trend_view *view) {
    if (!view) return;
    for (int i = 0; i < view->count; i++) {
        for (int m = 0; m < compare_metric_count(); m++) {
            free(view->series[i].figure[m].values);
            free(view->series[i].figure[m].lines);
            free(view->series[i].figure[m].changes);
        }
        free(view->series[i].lines);
    }
    free(view->series);
    free(view);
}

int trend_exit(const struct trend_view *view) {
    for (int i = 0; i < view->count; i++) {
        if (view->series[i].violated) return LB_EXIT_VIOLATED;
    }
    return view->ask.gate > 0 && view->worse > 0 ? LB_EXIT_REGRESSION : LB_EXIT_OK;
}

char *trend_also(const struct trend_series *series, const struct trend_figure *figure,
                 const struct change_point *change, char *text, size_t size) {
    static const enum trend_text others[] = {TREND_HOST, TREND_KERNEL, TREND_SERVER, TREND_REPEATS};
    const struct trend_line *now = series->lines[figure->lines[change->index]];
    const struct trend_line *before = series->lines[figure->lines[change->index - 1]];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(now->text[others[i]], before->text[others[i]]) == 0 || used >= size) continue;
        int wrote =
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", trend_columns[others[i]]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return text;
}
