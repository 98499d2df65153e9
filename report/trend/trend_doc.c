/* trend_doc: a history as a document. See trend.h. */
#include <math.h>
#include <string.h>

#include "report/doc/number.h"
#include "report/page/doc_page.h"
#include "report/run/field_value.h"
#include "report/run/words.h"
#include "report/trend/trend_parts.h"

#define BLOCKS 30 /* newest values that a line of blocks shows */
#define WORDS 400

/* Writes the newest values as block characters, the least value as the lowest block. text holds 3 *
 * BLOCKS + 1 bytes. */
static char *blocks_text(const struct trend_figure *figure, char *text) {
    int from = figure->count > BLOCKS ? figure->count - BLOCKS : 0;
    double low = INFINITY, high = -INFINITY;
    char *to = text;
    for (int i = from; i < figure->count; i++) {
        low = fmin(low, fmin(figure->values[i], figure->never));
        high = fmax(high, fmin(figure->values[i], figure->never));
    }
    for (int i = from; i < figure->count; i++) {
        double value = fmin(figure->values[i], figure->never);
        int level = high > low ? (int)lround(7 * (value - low) / (high - low)) : 3;
        *to++ = '\xe2'; /* U+2581 .. U+2588 */
        *to++ = '\x96';
        *to++ = (char)(0x81 + level);
    }
    *to = '\0';
    return text;
}

/* "worse, -8.2 % on 2026-11-10T12:00:00Z with commit abc in 20261110-contended: 23,000 -> 21,100 (p
 * = 1e-6)". */
static char *change_text(const struct trend_series *series, int metric,
                         const struct change_point *change, char *text) {
    const struct trend_figure *figure = &series->figure[metric];
    const struct trend_line *line = series->lines[figure->lines[change->index]];
    const char *commit = line->text[TREND_COMMIT];
    char before[NUMBER_TEXT_MAX], after[NUMBER_TEXT_MAX], also[100],
        shift[NUMBER_TEXT_MAX + 1] = "";
    trend_also(series, figure, change, also, sizeof also);
    if (change->before > 0 && isfinite(change->after)) {
        shift[0] = ' ';
        number_change_text(change->after / change->before - 1, shift + 1);
    }
    int number = (int)(change - figure->changes);
    bool settled = figure->count - change->index >= TREND_LEVEL &&
                   trend_runs_before(figure, number) >= TREND_LEVEL;
    snprintf(text, WORDS, "%s%s: %s -> %s from %s%s%.60s (%.80s), p = %.1g%s%s%s",
             trend_is_worse(metric, change->before, change->after) ? "worse" : "better", shift,
             field_figure_text(compare_metric(metric), change->before, before),
             field_figure_text(compare_metric(metric), change->after, after),
             line->text[TREND_TIME], *commit ? ", commit " : "", commit, line->text[TREND_RUN],
             change->p, settled ? "" : "; so few runs may be outliers",
             *also ? "; changed there, too: " : "", also);
    return text;
}

/* Adds the sentences that sum up the history. */
static void add_headline(struct doc *doc, const struct trend_view *view) {
    int changes = 0;
    enum lock_state failed = LOCK_UNCHECKED; /* the worst one: the states are in order */
    for (int i = 0; i < view->count; i++) {
        enum lock_state state = view->series[i].state;
        if (compare_fails(state) && state > failed && !view->series[i].ended) failed = state;
        for (int m = 0; m < compare_metric_count(); m++)
            changes += view->series[i].figure[m].change_count;
    }
    bool has_failed = compare_fails(failed) != 0;
    doc_say(doc, trend_exit(view) != LB_EXIT_OK || has_failed ? TONE_BAD : TONE_PLAIN,
            "%s%s%d series, %d lines, %d change%s", has_failed ? words_state_title(failed) : "",
            has_failed ? " in the newest run of a series. " : "", view->count, view->trend->count,
            changes, changes == 1 ? "" : "s");
    if (view->trend->copies > 0)
        doc_span(doc, DOC_PLAIN, ". Lines that are there again, and not counted: %d",
                 view->trend->copies);
    if (view->ask.gate > 0)
        doc_span(doc, DOC_PLAIN, ". %d figure%s WORSE by %.3g %% or more within the last %d runs",
                 view->worse, view->worse == 1 ? "" : "s", 100 * view->ask.min_effect,
                 view->ask.gate);
    if (view->ask.gate > 0 && view->acknowledged > 0)
        doc_span(doc, DOC_PLAIN, ", %d more acknowledged", view->acknowledged);
    if (view->inconclusive > 0)
        doc_span(
            doc, DOC_PLAIN,
            ". %d series INCONCLUSIVE: fewer than %d of those runs have the figures that are judged",
            view->inconclusive, TREND_LEVEL);
    if (view->uncompared > 0)
        doc_span(
            doc, DOC_PLAIN,
            ". %d series INCONCLUSIVE: %s began within those runs, so nothing compares %s with "
            "the runs before",
            view->uncompared, view->uncompared == 1 ? "it" : "they",
            view->uncompared == 1 ? "it" : "them");
    if (view->few > 0)
        doc_span(doc, DOC_PLAIN,
                 ". %d series NOT JUDGED: too few runs, and a change shows from %d on%s", view->few,
                 TREND_RUNS, view->judged > 0 ? "" : "; INCONCLUSIVE");
    doc_set_headline(doc);
    if (view->limited > 0)
        doc_say(doc, TONE_WARN,
                "%d stage%s of those runs %s left out: their limit was the load generator, not the "
                "lock.",
                view->limited, view->limited == 1 ? "" : "s", view->limited == 1 ? "is" : "are");
}

static void add_trend_figure(struct doc *doc, const struct trend_view *view,
                             const struct trend_series *series, int metric) {
    const struct trend_figure *figure = &series->figure[metric];
    const struct result_field *field = compare_metric(metric);
    char text[WORDS], line[3 * BLOCKS + 1];
    bool worse = figure->worse && view->ask.gate > 0, bad = false;
    bool known = figure->acknowledged && view->ask.gate > 0;
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", field->title);
    doc_value(doc, figure->latest, "%s", field_figure_text(field, figure->latest, text));
    doc_value(doc, figure->median, "%s", field_figure_text(field, figure->median, text));
    doc_figure(doc, figure->count);
    doc_cell(doc, "%s", worse ? "WORSE" : known ? "acknowledged" : "");
    if (worse) doc_set_tone(doc, TONE_BAD);
    doc_cell(doc, "%s", blocks_text(figure, line));
    doc_cell(doc, "%s", "");
    for (int c = 0; c < figure->change_count; c++) {
        const struct change_point *change = &figure->changes[c];
        bad |= trend_is_worse(metric, change->before, change->after);
        doc_span(doc, DOC_DETAIL, "%s", change_text(series, metric, change, text));
    }
    if (known) doc_span(doc, DOC_DETAIL, "acknowledged: %s", figure->acknowledged);
    if (figure->change_count > 0) doc_set_tone(doc, bad ? TONE_WARN : TONE_GOOD);
}

/* Adds, in one line, the figures of a lock that the gate counts or that are acknowledged. */
static void add_gate_line(struct doc *doc, const struct trend_series *series, bool known) {
    char text[WORDS];
    size_t used = 0;
    for (int m = 0; m < compare_metric_count() && used < sizeof text; m++) {
        const struct trend_figure *figure = &series->figure[m];
        if (known ? !figure->acknowledged : !figure->worse) continue;
        int wrote = snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                             compare_metric(m)->title);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    if (used) doc_span(doc, DOC_DETAIL, "%s: %s", known ? "acknowledged" : "WORSE", text);
}

/* Says that nothing compares a young series with what was before it, and why. */
static void add_before(struct doc *doc, const struct trend_series *series) {
    char differs[100];
    const char *const *text = (const char *const *)series->before->text;
    trend_differs(series, differs, sizeof differs);
    doc_span(doc, DOC_DETAIL,
             "new: nothing compares the %d run%s of this series with the older runs of this lock "
             "and load (newest %s%s%.60s), which differ in: %s%s",
             series->count, series->count == 1 ? "" : "s", text[TREND_TIME],
             *text[TREND_COMMIT] ? ", commit " : "", text[TREND_COMMIT], differs,
             strstr(differs, trend_columns[TREND_ENVIRONMENT])
                 ? " (the machine, the build of lockbench, an option of the lock or of acquire)"
                 : "");
}

static void add_series(struct doc *doc, const struct trend_view *view,
                       const struct trend_series *series) {
    const struct trend_line *newest = series->lines[series->count - 1];
    const char *const *text = (const char *const *)newest->text;
    enum tone tone = series->ended                  ? TONE_PLAIN
                     : compare_fails(series->state) ? TONE_BAD
                                                    : TONE_BEST;
    doc_group(doc, tone, "%s, %s client%s, %s", text[TREND_LOCK], text[TREND_CLIENTS],
              strcmp(text[TREND_CLIENTS], "1") == 0 ? "" : "s", text[TREND_LOAD]);
    doc_span(doc, DOC_DETAIL, "%s; %s; %s; executor %s, environment %s; newest %s: %s",
             text[TREND_TOPOLOGY], text[TREND_DURABILITY], text[TREND_SERVER], text[TREND_EXECUTOR],
             text[TREND_ENVIRONMENT], text[TREND_TIME], text[TREND_VERDICT]);
    if (series->ended)
        doc_span(doc, DOC_DETAIL,
                 "ended: the newest runs of this lock are in other series; this one is not judged");
    if (series->before) add_before(doc, series);
    add_gate_line(doc, series, false);
    add_gate_line(doc, series, true);
    if (series->count < TREND_RUNS)
        doc_span(doc, DOC_DETAIL, "%d run%s: too few to tell a change from scatter", series->count,
                 series->count == 1 ? "" : "s");
    for (int m = 0; m < compare_metric_count(); m++)
        if (series->figure[m].count > 0) add_trend_figure(doc, view, series, m);
}

void trend_doc(const struct trend_view *view, bool lines, struct doc *doc) {
    char median[40];
    const struct doc_column columns[] = {
        {.title = "medians of runs"},
        {.title = "latest", .right = true},
        {.title = median, .right = true},
        {.title = "runs", .figure = DOC_COUNT},
        {.title = "gate", .only = view->ask.gate > 0 ? 0 : DOC_CSV},
        {.title = "trend", .only = lines ? 0 : DOC_CSV},
        {.title = "changes", .brief = "", .words = true, .below = true},
        {.title = NULL},
    };
    doc_box(doc);
    add_headline(doc, view);
    doc_end(doc);
    doc_page_chart(doc, "trend");
    doc_page_chart(doc, "changes");
    snprintf(median, sizeof median, "median of %d", view->ask.last);
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < view->count; i++) add_series(doc, view, &view->series[i]);
    doc_end(doc);
    doc_say(
        doc, TONE_PLAIN,
        "Changes by Hunter's algorithm: E-divisive means, Student's t-test with p < %g, windows "
        "of %d runs, medians at least %.3g %% apart. What ran on another kind of machine is a series of its own.",
        CHANGE_MAX_P, CHANGE_WINDOW, 100 * view->ask.min_effect);
    if (view->ask.gate > 0)
        doc_say(
            doc, TONE_PLAIN,
            "The gate is corrected over all figures of all series (Benjamini and Hochberg): it shuts "
            "with a probability of at most %.3g %% if neither a lock nor the load of the machine has "
            "changed and the runs are independent. A shared machine whose load changes may shut it; "
            "--metric chooses the figures that count.",
            100 * TREND_GATE_RATE);
}
