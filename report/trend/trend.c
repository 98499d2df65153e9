/* trend: series, their change points, and the figures that became worse. See trend.h. */
#include "report/trend/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/trend/trend_parts.h"
#include "results/stats/rank.h"

bool trend_is_worse(int metric, double before, double after) {
    return compare_metric(metric)->better > 0 ? after < before : after > before;
}

/* The number that stands for "never" in computations: so far above the greatest measured value that a
 * level of "never" is a change that counts. */
static double stand_in_for_never(const struct trend_figure *figure, double min_effect) {
    double greatest = 0;
    for (int i = 0; i < figure->count; i++) {
        if (isfinite(figure->values[i])) greatest = fmax(greatest, figure->values[i]);
    }
    return greatest > 0 ? (1.05 + 2 * min_effect) * greatest : 1;
}

#define NEAR 2 /* values before and after one that show whether a "never" is alone */

/* True for a "never" among values of which most are numbers. As a number, it would make the scatter so
 * great that no change of the others is significant. */
static bool is_lone_never(const struct trend_figure *figure, int at) {
    int from = at > NEAR ? at - NEAR : 0;
    int to = at + NEAR < figure->count ? at + NEAR + 1 : figure->count;
    return isinf(figure->values[at]) && isfinite(rank_median(figure->values + from, to - from));
}

/* The values of a figure without each lone "never", as numbers, and where they are in the figure. */
struct finite {
    double *values;
    int *place, count;
};

int trend_level(const struct trend_figure *figure, int from, int to, double *values) {
    int count = 0;
    for (int i = from; i < to; i++) {
        if (!is_lone_never(figure, i)) values[count++] = fmin(figure->values[i], figure->never);
    }
    return count;
}

static int fill_finite(const struct trend_figure *figure, struct finite *finite) {
    size_t room = (size_t)figure->count + 1;
    *finite = (struct finite){malloc(room * sizeof *finite->values),
                              malloc(room * sizeof *finite->place), 0};
    if (!finite->values || !finite->place) return -1;
    for (int i = 0; i < figure->count; i++) {
        if (is_lone_never(figure, i)) continue;
        finite->place[finite->count] = i;
        finite->values[finite->count++] = fmin(figure->values[i], figure->never);
    }
    return 0;
}

/* Change c of those that were found, as it is printed: its index is one in the figure, and its levels are medians, so one
 * outlier does not move them, and one with "never" in half of its runs or more is "never". Levels with the same median
 * are told by their means. */
static struct change_point with_levels(const struct trend_figure *figure,
                                       const struct finite *finite, int found, int c) {
    const struct change_point *changes = figure->changes;
    struct change_point change = changes[c];
    int from = c > 0 ? finite->place[changes[c - 1].index] : 0;
    int to = c + 1 < found ? finite->place[changes[c + 1].index] : figure->count;
    change.index = finite->place[change.index];
    double before = rank_median(figure->values + from, change.index - from);
    double after = rank_median(figure->values + change.index, to - change.index);
    if (before == after && isfinite(before)) return change; /* 0 in most of both, for example */
    change.before = before;
    change.after = after;
    return change;
}

/* The size of a change as it is printed. NAN: out of memory. */
static double size_of(const struct change_point *change) {
    if (change->before == change->after) return 0;
    return change->before != 0 ? fabs(change->after / change->before - 1) : INFINITY;
}

/* The smallest change, if it is too small to count; else -1. -2: out of memory. */
static int too_small(const struct trend_figure *figure, const struct finite *finite, int found,
                     double min_effect) {
    int smallest = -1;
    double least = min_effect;
    for (int c = 0; c < found; c++) {
        const struct change_point change = with_levels(figure, finite, found, c);
        double size = size_of(&change);
        if (isnan(size)) return -2;
        if (!(size < least)) continue;
        least = size;
        smallest = c;
    }
    return smallest;
}

/* Fills figure->changes in the indices of `finite`. The number, or -1 when out of memory. */
static int search_changes(struct trend_figure *figure, const struct finite *finite,
                          const struct trend_ask *ask) {
    /* The size is that of the printed levels, so the search itself asks for none. */
    const struct change_options options = {CHANGE_WINDOW, CHANGE_MAX_P, 0};
    int found = change_points(finite->values, finite->count, &options, figure->changes), away = -1;
    while (found > 0 && (away = too_small(figure, finite, found, ask->min_effect)) >= 0)
        found = change_points_without(finite->values, finite->count, &options, figure->changes,
                                      found, away);
    return away == -2 ? -1 : found;
}

/* Finds the change points. 0, or -1 when out of memory. */
static int find_changes(struct trend_figure *figure, const struct trend_ask *ask) {
    struct finite finite;
    figure->never = stand_in_for_never(figure, ask->min_effect);
    int found = fill_finite(figure, &finite) == 0 ? search_changes(figure, &finite, ask) : -1;
    struct change_point *printed = malloc(((size_t)figure->count + 1) * sizeof *printed);
    if (!printed) found = -1;
    for (int c = 0; c < found; c++) {
        printed[c] = with_levels(figure, &finite, found, c);
        if (isnan(size_of(&printed[c]))) found = -1;
    }
    if (found > 0) memcpy(figure->changes, printed, (size_t)found * sizeof *printed);
    figure->change_count = found < 0 ? 0 : found;
    free(printed);
    free(finite.values);
    free(finite.place);
    return found < 0 ? -1 : 0;
}

/* True if the series has another figure that takes this one's place: then this one is not
 * followed. */
static bool gives_way(const struct trend_series *series, int metric) {
    for (int m = 0; m < compare_metric_count(); m++) {
        const char *instead_of = compare_metric(m)->instead_of;
        if (!instead_of || strcmp(instead_of, compare_metric(metric)->path) != 0) continue;
        for (int i = 0; i < series->count; i++) {
            if (!isnan(series->lines[i]->figure[m])) return true;
        }
    }
    return false;
}

int trend_newest(const struct trend_series *series, int metric, int runs) {
    const struct trend_figure *figure = &series->figure[metric];
    int from = figure->count;
    while (from > 0 && figure->lines[from - 1] >= series->count - runs) from--;
    return from;
}

static int fill_figure(struct trend_series *series, int metric, const struct trend_ask *ask) {
    struct trend_figure *figure = &series->figure[metric];
    size_t room = (size_t)series->count + 1;
    figure->values = malloc(room * sizeof *figure->values);
    figure->lines = malloc(room * sizeof *figure->lines);
    figure->changes = malloc(room * sizeof *figure->changes);
    if (!figure->values || !figure->lines || !figure->changes) return -1;
    bool followed = !gives_way(series, metric);
    for (int i = 0; i < series->count; i++) {
        double value = series->lines[i]->figure[metric];
        if (isnan(value) || !followed) continue;
        figure->values[figure->count] = value;
        figure->lines[figure->count++] = i;
    }
    int from = trend_newest(series, metric, ask->last);
    figure->latest = figure->count > 0 ? figure->values[figure->count - 1] : NAN;
    figure->median = rank_median(figure->values + from, figure->count - from);
    if (find_changes(figure, ask) != 0) return -1;
    return 0;
}

static int by_series_and_time(const void *a, const void *b) {
    const struct trend_line *x = *(const struct trend_line *const *)a,
                            *y = *(const struct trend_line *const *)b;
    int order = trend_by_series(x, y);
    return order ? order : (x > y) - (x < y); /* the trend's lines are in the order of time */
}

static bool has_figures(const struct trend_line *line) {
    for (int m = 0; m < compare_metric_count(); m++) {
        if (!isnan(line->figure[m])) return true;
    }
    return false;
}

/* Counts the stages of the gate's runs that were left out because the load generator was their
 * limit. */
static void count_limited(struct trend_series *series, const struct trend_ask *ask) {
    int usable = 0, without = 0;
    int from = series->count > ask->gate ? series->count - ask->gate : 0;
    for (int i = from; i < series->count && ask->gate > 0; i++) {
        int limited = atoi(series->lines[i]->text[TREND_LIMITED]);
        bool has = has_figures(series->lines[i]);
        series->limited += limited > 0 ? limited : 0;
        usable += has;
        without += limited > 0 && !has;
    }
    series->inconclusive = without > 0 && usable < TREND_LEVEL;
}

/* True if the user chose a figure by name that older runs have and fewer than TREND_LEVEL of the gate's runs: such a
 * gate would look at nothing and stay open. */
static bool lacks_chosen(const struct trend_series *series, const struct trend_ask *ask) {
    for (int m = 0; m < compare_metric_count() && ask->metrics && ask->gate > 0; m++) {
        int older = trend_newest(series, m, ask->gate);
        if (older >= TREND_LEVEL && series->figure[m].count - older < TREND_LEVEL) return true;
    }
    return false;
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
    series->state = lines[count - 1]->state;
    count_limited(series, &view->ask);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (!choice_has(view->ask.metrics, m)) continue;
        if (fill_figure(series, m, &view->ask) != 0) return -1;
    }
    series->inconclusive |= lacks_chosen(series, &view->ask);
    return 0;
}

static bool same_load(const struct trend_series *a, const struct trend_series *b) {
    static const enum trend_text key[] = {TREND_LOCK, TREND_LOAD, TREND_CLIENTS};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        if (strcmp(a->lines[0]->text[key[i]], b->lines[0]->text[key[i]]) != 0) return false;
    }
    return true;
}

/* The last line of a series before `since`; NULL if fewer than TREND_LEVEL lines are before it: a gate
 * could have compared nothing with so few. */
static const struct trend_line *last_before(const struct trend_series *series,
                                            const struct trend_line *since) {
    int count = 0;
    while (count < series->count && series->lines[count] < since) count++;
    return count < TREND_LEVEL ? NULL : series->lines[count - 1];
}

/* Of the series with one lock and load, first .. end - 1: fills `before` of the one with the newest
 * run. */
static void find_before(struct trend_view *view, int first, int end, int young) {
    struct trend_series *newest = &view->series[first];
    for (int i = first; i < end; i++) {
        struct trend_series *one = &view->series[i];
        if (one->lines[one->count - 1] > newest->lines[newest->count - 1]) newest = one;
    }
    for (int i = first; i < end && newest->count <= young; i++) {
        const struct trend_line *line = last_before(&view->series[i], newest->lines[0]);
        if (line && (!newest->before || line > newest->before)) newest->before = line;
    }
    newest->uncompared = newest->before && newest->count <= view->ask.gate;
    view->uncompared += newest->uncompared;
}

/* The series of a lock and load are neighbours. */
static void find_young(struct trend_view *view, int young) {
    for (int first = 0, end; first < view->count; first = end) {
        for (end = first + 1;
             end < view->count && same_load(&view->series[first], &view->series[end]);)
            end++;
        find_before(view, first, end, young);
    }
}

static bool same_lock(const struct trend_series *a, const struct trend_series *b) {
    return strcmp(a->lines[0]->text[TREND_LOCK], b->lines[0]->text[TREND_LOCK]) == 0;
}

/* Marks the series that are young and those that have ended, and counts what the others leave out.
 * The series of a lock are neighbours. */
static void sum_up(struct trend_view *view) {
    int enough = view->ask.gate > TREND_ENDED ? view->ask.gate : TREND_ENDED;
    find_young(view, enough);
    for (int from = 0, to; from < view->count; from = to) {
        /* the newest line of this lock that has `enough` lines of its series from there on */
        const struct trend_line *since = NULL;
        for (to = from; to < view->count && same_lock(&view->series[from], &view->series[to]);
             to++) {
            const struct trend_series *one = &view->series[to];
            const struct trend_line *line =
                one->count >= enough ? one->lines[one->count - enough] : NULL;
            if (line && (!since || line > since)) since = line;
        }
        for (int i = from; i < to; i++) {
            struct trend_series *one = &view->series[i];
            one->ended = since && one->lines[one->count - 1] < since;
            if (one->ended) continue;
            view->inconclusive += one->inconclusive;
            view->limited += one->limited;
        }
    }
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
    }
    if (!failed) sum_up(view);
    if (!failed) failed = trend_gate(view);
    if (failed) err_set(err, LB_EXIT_MACHINE, "out of memory");
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
    bool worse = view->worse > 0;
    for (int i = 0; i < view->count; i++) {
        int failed = view->series[i].ended ? 0 : compare_fails(view->series[i].state);
        if (failed == LB_EXIT_VIOLATED) return failed;
        worse |= failed != 0;
    }
    if (view->ask.gate > 0 && worse) return LB_EXIT_REGRESSION;
    bool nothing = view->few > 0 && view->judged == 0;
    return view->inconclusive + view->uncompared > 0 || nothing ? LB_EXIT_INCONCLUSIVE : LB_EXIT_OK;
}

/* Writes the names of those columns in which two lines differ. */
static char *name_differences(const struct trend_line *a, const struct trend_line *b,
                              const enum trend_text *columns, size_t count, char *text,
                              size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        if (strcmp(a->text[columns[i]], b->text[columns[i]]) == 0) continue;
        int wrote =
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", trend_columns[columns[i]]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return text;
}

char *trend_differs(const struct trend_series *series, char *text, size_t size) {
    static const enum trend_text key[] = {TREND_TOPOLOGY, TREND_DURABILITY, TREND_EXECUTOR,
                                          TREND_ENVIRONMENT};
    const struct trend_line *first = series->lines[0];
    const struct trend_line *before = series->before ? series->before : first;
    return name_differences(first, before, key, sizeof key / sizeof *key, text, size);
}

char *trend_also(const struct trend_series *series, const struct trend_figure *figure,
                 const struct change_point *change, char *text, size_t size) {
    static const enum trend_text others[] = {TREND_HOST, TREND_KERNEL, TREND_SERVER, TREND_REPEATS};
    const struct trend_line *now = series->lines[figure->lines[change->index]];
    const struct trend_line *before = series->lines[figure->lines[change->index - 1]];
    return name_differences(now, before, others, sizeof others / sizeof *others, text, size);
}
