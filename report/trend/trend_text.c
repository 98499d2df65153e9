/* trend_text: a history for people: a table for the terminal, Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "report/doc/number.h"
#include "report/doc/screen.h"
#include "report/trend/trend.h"

#define BLOCKS 30 /* newest values that a line of blocks shows */
#define FEW 6     /* values: with fewer a change of level can hardly be told from scatter */
#define WORDS 400

static char *value_text(double value, int metric, char *text) {
    return compare_metrics[metric].is_time ? number_time_text(value, text)
                                           : number_text(value, &number_plain, text);
}

/* The newest values as blocks, the least of them lowest. text holds 3 * BLOCKS + 1 bytes. */
static char *blocks(const struct trend_figure *figure, char *text) {
    int from = figure->count > BLOCKS ? figure->count - BLOCKS : 0;
    double low = INFINITY, high = -INFINITY;
    char *to = text;
    for (int i = from; i < figure->count; i++) {
        low = fmin(low, figure->values[i]);
        high = fmax(high, figure->values[i]);
    }
    for (int i = from; i < figure->count; i++) {
        int level = high > low ? (int)lround(7 * (figure->values[i] - low) / (high - low)) : 3;
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
    if (change->before > 0) {
        shift[0] = ' ';
        number_change_text(change->after / change->before - 1, shift + 1);
    }
    bool settled = figure->count - change->index >= TREND_LEVEL;
    snprintf(text, WORDS, "%s%s: %s -> %s from %s%s%.60s (%.80s), p = %.1g%s%s%s",
             trend_is_worse(metric, change->before, change->after) ? "worse" : "better", shift,
             value_text(change->before, metric, before), value_text(change->after, metric, after),
             line->text[TREND_TIME], *commit ? ", commit " : "", commit, line->text[TREND_RUN],
             change->p, settled ? "" : "; so few runs may be outliers",
             *also ? "; changed there, too: " : "", also);
    return text;
}

/* What all of it comes to. */
static char *headline(const struct trend_view *view, enum tone *ret_tone, char *text, size_t size) {
    int violated = 0, changes = 0;
    for (int i = 0; i < view->count; i++) {
        violated += view->series[i].violated;
        for (int m = 0; m < COMPARE_METRICS; m++) changes += view->series[i].figure[m].change_count;
    }
    *ret_tone = trend_exit(view) != LB_EXIT_OK || violated ? TONE_BAD : TONE_PLAIN;
    int used = snprintf(text, size, "%s%d series, %d lines, %d change%s",
                        violated ? "EXCLUSION VIOLATED in the newest run of a series. " : "",
                        view->count, view->trend->count, changes, changes == 1 ? "" : "s");
    if (view->ask.gate > 0 && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used,
                 ". %d figure%s WORSE by %.3g %% or more within the last %d runs", view->worse,
                 view->worse == 1 ? "" : "s", 100 * view->ask.min_effect, view->ask.gate);
    return text;
}

static void table_figure(const struct trend_view *view, const struct trend_series *series,
                         int metric, const struct screen *screen, bool lines) {
    const struct trend_figure *figure = &series->figure[metric];
    char text[WORDS], line[3 * BLOCKS + 1];
    if (figure->count == 0) return;
    fputs("  ", screen->out);
    screen_put(screen, compare_metrics[metric].title, -20, TONE_PLAIN);
    screen_put(screen, value_text(figure->latest, metric, text), 11, TONE_PLAIN);
    screen_put(screen, value_text(figure->median, metric, text), 16, TONE_PLAIN);
    bool worse = figure->worse && view->ask.gate > 0;
    fprintf(screen->out, "%6d  ", figure->count);
    fprintf(screen->out, "%s\n", lines ? blocks(figure, line) : worse ? "WORSE" : "");
    for (int c = 0; c < figure->change_count; c++) {
        const struct change_point *change = &figure->changes[c];
        bool bad = trend_is_worse(metric, change->before, change->after);
        screen_say(screen, 6, bad ? TONE_WARN : TONE_GOOD, "      %s",
                   change_text(series, metric, change, text));
    }
}

static void table_series(const struct trend_view *view, const struct trend_series *series,
                         const struct screen *screen, bool lines) {
    const struct trend_line *newest = series->lines[series->count - 1];
    const char *clients = newest->text[TREND_CLIENTS];
    screen_say(screen, 2, series->violated ? TONE_BAD : TONE_BEST, "%s, %s client%s, %s",
               newest->text[TREND_LOCK], clients, strcmp(clients, "1") == 0 ? "" : "s",
               newest->text[TREND_LOAD]);
    screen_say(screen, 2, TONE_PLAIN, "  %s; %s; %s; executor %s, environment %s; newest %s: %s",
               newest->text[TREND_TOPOLOGY], newest->text[TREND_DURABILITY],
               newest->text[TREND_SERVER], newest->text[TREND_EXECUTOR],
               newest->text[TREND_ENVIRONMENT], newest->text[TREND_TIME],
               newest->text[TREND_VERDICT]);
    if (series->count < FEW)
        screen_say(screen, 2, TONE_WARN, "  %d run%s: too few to tell a change from scatter",
                   series->count, series->count == 1 ? "" : "s");
    for (int m = 0; m < COMPARE_METRICS; m++) table_figure(view, series, m, screen, lines);
    fputc('\n', screen->out);
}

int trend_write_table(const struct trend_view *view, bool color, bool lines, FILE *out) {
    const struct screen screen = {.out = out, .color = color};
    char text[300], last[40];
    enum tone tone;
    headline(view, &tone, text, sizeof text);
    screen_say(&screen, 0, tone, "%s", text);
    snprintf(last, sizeof last, "median of %d", view->ask.last);
    fprintf(out, "\n  %-20s%11s%16s%6s\n", "medians of runs", "latest", last, "runs");
    for (int i = 0; i < view->count; i++) table_series(view, &view->series[i], &screen, lines);
    screen_say(
        &screen, 0, TONE_PLAIN,
        "Changes by Hunter's algorithm: E-divisive means, Student's t-test with p < %g, windows of %d "
        "runs, at "
        "least %.3g %%. What ran on another kind of machine is a series of its own.",
        CHANGE_MAX_P, CHANGE_WINDOW, 100 * view->ask.min_effect);
    return 0;
}

static void md_series(const struct trend_series *series, FILE *out) {
    const struct trend_line *newest = series->lines[series->count - 1];
    char text[WORDS], line[3 * BLOCKS + 1];
    for (int m = 0; m < COMPARE_METRICS; m++) {
        const struct trend_figure *figure = &series->figure[m];
        if (figure->count == 0) continue;
        fputs("| ", out);
        escape_md(out, newest->text[TREND_LOCK]);
        fprintf(out, ", %s | ", newest->text[TREND_CLIENTS]);
        escape_md(out, newest->text[TREND_LOAD]);
        fputs(" | ", out);
        escape_md(out, newest->text[TREND_TOPOLOGY]);
        fputs(", ", out);
        escape_md(out, newest->text[TREND_DURABILITY]);
        fprintf(out, " | %s | %s | ", compare_metrics[m].title,
                value_text(figure->latest, m, text));
        fprintf(out, "%s | %d | %s | ", value_text(figure->median, m, text), figure->count,
                blocks(figure, line));
        for (int c = 0; c < figure->change_count; c++) {
            if (c > 0) fputs("; ", out);
            escape_md(out, change_text(series, m, &figure->changes[c], text));
        }
        fputs(" |\n", out);
    }
}

int trend_write_md(const struct trend_view *view, FILE *out) {
    char text[300];
    enum tone tone;
    headline(view, &tone, text, sizeof text);
    fprintf(out, "**%s**\n\n", text);
    fprintf(
        out,
        "| lock, clients | load | topology, durability | figure | latest | median of %d | runs | trend | "
        "changes |\n",
        view->ask.last);
    fputs("|---|---|---|---|---|---|---|---|---|\n", out);
    for (int i = 0; i < view->count; i++) md_series(&view->series[i], out);
    fprintf(
        out,
        "\nMedians of runs. Changes by Hunter's algorithm: p < %g, windows of %d runs, at least %.3g %%.\n",
        CHANGE_MAX_P, CHANGE_WINDOW, 100 * view->ask.min_effect);
    return 0;
}
