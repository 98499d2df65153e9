/* trend_gate: finds the figures that became worse within the newest runs, over all series together.
 *
 * A gate over hundreds of figures is hundreds of tests: without a correction some of them would
 * shut it although nothing has changed. It corrects twice. A change point is the best of all places
 * where a figure may have changed, so its p is multiplied by the number of those places within the
 * gate (Bonferroni). Then the p-values of all figures of all series are corrected together, by the
 * method of Benjamini and Hochberg. It changes no change point. */
#include <math.h>
#include <stdlib.h>

#include "report/trend/trend_parts.h"
#include "results/stats/rank.h"

/* The changes that a gate is about: changes[first] .. changes[end - 1]. */
struct span {
    int first, end;
};

/* Finds the changes from value `from` on, the first of the newest runs. A newest level with too few runs is not counted yet,
 * since they may be outliers. */
static struct span newest_changes(const struct trend_figure *figure, int from) {
    struct span span = {0, figure->change_count};
    int until = figure->count;
    while (span.end > 0 && until - figure->changes[span.end - 1].index < TREND_LEVEL)
        until = figure->changes[--span.end].index;
    while (span.first < span.end && figure->changes[span.first].index < from) span.first++;
    return span;
}

int trend_runs_before(const struct trend_figure *figure, int change) {
    int from = change > 0 ? figure->changes[change - 1].index : 0;
    return figure->changes[change].index - from;
}

/* The last change, up to this one, whose level before has enough runs: fewer may be outliers. -1: there is none. */
static int settled_before(const struct trend_figure *figure, int change) {
    while (change >= 0 && trend_runs_before(figure, change) < TREND_LEVEL) change--;
    return change;
}

/* The p-value of the two levels that the gate compares: the one before change `first`, and the one after change `last`.
 * The changes between them have levels of their own, some of them of one run, whose p says nothing about
 * these two. -1: out of memory. */
static double p_of_levels(const struct trend_figure *figure, int first, int last) {
    const struct change_point *changes = figure->changes;
    int from = first > 0 ? changes[first - 1].index : 0;
    int end = last + 1 < figure->change_count ? changes[last + 1].index : figure->count;
    double *values = malloc((size_t)figure->count * sizeof *values);
    if (!values) return -1;
    int before = trend_level(figure, from, changes[first].index, values);
    int after = trend_level(figure, changes[last].index, end, values + before);
    double p = change_p(values, before, values + before, after);
    free(values);
    return p;
}

/* The change from the level before the first change among the newest runs to the level now, so that
 * a change that was undone does not count. 0, or -1 when out of memory. */
static int weigh(const struct trend_view *view, const struct trend_series *series, int metric,
                 struct trend_figure *figure) {
    const struct trend_ask *ask = &view->ask;
    int from = trend_newest(series, metric, ask->gate);
    struct span span = newest_changes(figure, from);
    int places = figure->count - (from > 0 ? from : 1);
    figure->p = 1;
    int first = span.first < span.end ? settled_before(figure, span.first) : -1;
    if (first < 0) return 0;
    double before = figure->changes[first].before, after = figure->changes[span.end - 1].after;
    figure->shift = before > 0 ? after / before - 1 : after > 0 ? INFINITY : 0;
    figure->worse = fabs(figure->shift) >= ask->min_effect && trend_is_worse(metric, before, after);
    if (!figure->worse) return 0;
    figure->p = fmin(1, places * p_of_levels(figure, first, span.end - 1));
    if (figure->p < 0) return -1;
    bool all_known = true;
    for (int c = first; c < span.end; c++) {
        const struct change_point *change = &figure->changes[c];
        if (!trend_is_worse(metric, change->before, change->after)) continue;
        const char *why = trend_acks_why(ask->acks, series, metric, change);
        all_known &= why != NULL;
        figure->acknowledged = why;
    }
    if (!all_known) figure->acknowledged = NULL;
    return 0;
}

/* Collects all figures of a view in which a new change could show, in their order. -1: out of memory. */
static int collect_figures(struct trend_view *view, struct trend_figure **figures) {
    int count = 0;
    for (int i = 0; i < view->count; i++) {
        struct trend_series *series = &view->series[i];
        series->few = view->ask.gate > 0 && !series->ended;
        for (int m = 0; m < compare_metric_count(); m++) {
            struct trend_figure *figure = &series->figure[m];
            figure->p = NAN;
            if (view->ask.gate == 0 || figure->count < TREND_RUNS || series->ended) continue;
            if (weigh(view, series, m, figure) != 0) return -1;
            figures[count++] = figure;
            series->few = false;
        }
        view->few += series->few;
    }
    view->judged = count;
    return count;
}

int trend_gate(struct trend_view *view) {
    size_t room = (size_t)view->count * (size_t)compare_metric_count() + 1;
    struct trend_figure **figures = malloc(room * sizeof *figures);
    double *p = malloc(room * sizeof *p);
    int count = figures && p ? collect_figures(view, figures) : -1, failed = count < 0;
    for (int i = 0; i < count; i++) p[i] = figures[i]->p;
    if (!failed) failed = rank_benjamini_hochberg(p, count);
    for (int i = 0; i < count && !failed; i++) {
        figures[i]->p = p[i];
        figures[i]->worse &= p[i] <= TREND_GATE_RATE;
        if (!figures[i]->worse) figures[i]->acknowledged = NULL;
        view->acknowledged += figures[i]->acknowledged != NULL;
        if (figures[i]->acknowledged) figures[i]->worse = false;
        view->worse += figures[i]->worse;
    }
    free(figures);
    free(p);
    return failed ? -1 : 0;
}
