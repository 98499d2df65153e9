/* compare_text: a comparison for people: a table for the terminal, Markdown for a pull request. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare/compare.h"
#include "report/doc/escape.h"
#include "report/doc/number.h"
#include "report/doc/screen.h"

#define LINES_SHOWN 12 /* of differences, and of what one side lacks */

static const char *sign_of(enum compare_verdict verdict) {
    static const char *const signs[] = {"", "=", "better", "?", "WORSE"};
    return signs[verdict];
}

static enum tone tone_of(enum compare_verdict verdict) {
    static const enum tone tones[] = {TONE_PLAIN, TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD};
    return tones[verdict];
}

/* "[-1.0 %, +9.4 %]", or what is missing. size at least 64. */
static char *interval(const struct compare_figure *figure, char *text, size_t size) {
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
    if (isnan(figure->low)) {
        snprintf(text, size, "%s", NUMBER_NONE);
    } else if (isinf(figure->high) || isinf(figure->low)) {
        snprintf(text, size, "too few runs");
    } else {
        snprintf(text, size, "[%s, %s]", number_change_text(figure->low, low),
                 number_change_text(figure->high, high));
    }
    return text;
}

static char *value_text(double value, const struct compare_metric *metric, char *text) {
    return metric->is_time ? number_time_text(value, text)
                           : number_text(value, &number_plain, text);
}

/* What an inconclusive figure would need, or how sure a change is. */
static char *note(const struct compare_figure *figure, char *text, size_t size) {
    text[0] = '\0';
    if (figure->verdict == COMPARE_INCONCLUSIVE && figure->wanted >= COMPARE_WANTED_MAX) {
        snprintf(text, size, "too noisy for repeats to help");
    } else if (figure->verdict == COMPARE_INCONCLUSIVE) {
        snprintf(text, size, "~%d repeats a side would do", figure->wanted);
    } else if (figure->verdict != COMPARE_SAME && isnan(figure->p)) {
        snprintf(text, size, "nothing was granted any more");
    } else if (figure->verdict != COMPARE_SAME) {
        snprintf(text, size, "p = %.2g", figure->p);
    }
    return text;
}

/* "redis-setnx, 16 clients, one key, ..."; between two locks: "a -> b". Malloced. */
static char *row_title(const struct compare_row *row) {
    char *text = NULL;
    bool itself = strcmp(row->lock, row->new_lock) == 0;
    if (asprintf(&text, "%s%s%s, %.0f client%s, %s (%d and %d samples)%s", row->lock,
                 itself ? "" : " -> ", itself ? "" : row->new_lock, row->clients,
                 row->clients == 1 ? "" : "s", row->load, row->base_count, row->new_count,
                 row->violated ? ": EXCLUSION VIOLATED"
                 : row->stuck  ? ": STUCK"
                               : "") < 0)
        return NULL;
    return text;
}

/* The first line: what all of it comes to. */
static char *headline(const struct compare *compare, enum tone *ret_tone) {
    char *text = NULL;
    const int *counts = compare->counts;
    int exit_code = compare_exit(compare);
    *ret_tone = exit_code == LB_EXIT_OK             ? TONE_GOOD
                : exit_code == LB_EXIT_INCONCLUSIVE ? TONE_WARN
                                                    : TONE_BAD;
    const char *word = exit_code == LB_EXIT_VIOLATED     ? "EXCLUSION VIOLATED in the new runs"
                       : exit_code == LB_EXIT_REGRESSION ? "WORSE"
                       : exit_code == LB_EXIT_INCONCLUSIVE
                           ? "inconclusive: too few runs, or too noisy"
                           : "no regression shown";
    if (asprintf(
            &text,
            "%s. %d figure%s worse, %d better, %d without a change of %.3g %% shown, %d inconclusive",
            word, counts[COMPARE_WORSE], counts[COMPARE_WORSE] == 1 ? "" : "s",
            counts[COMPARE_BETTER], counts[COMPARE_SAME], 100 * compare->min_effect,
            counts[COMPARE_INCONCLUSIVE]) < 0)
        return NULL;
    return text;
}

/* What must be known before any figure is: a sentence each. */
static void say_first(const struct compare *compare, void (*say)(void *arg, const char *line),
                      void *arg) {
    char line[400];
    if (compare->partial_reason) {
        snprintf(line, sizeof line, "PARTIAL: %s", compare->partial_reason);
        say(arg, line);
    }
    if (compare->partial_count > 0) {
        snprintf(line, sizeof line,
                 "%d of the runs %s partial; only stages that came to their end are samples",
                 compare->partial_count, compare->partial_count == 1 ? "is" : "are");
        say(arg, line);
    }
    for (int i = 0; i < compare->difference_count && i < LINES_SHOWN; i++) {
        snprintf(line, sizeof line, "differs: %s", compare->differences[i]);
        say(arg, line);
    }
    if (compare->difference_count > LINES_SHOWN) {
        snprintf(line, sizeof line,
                 "... and %d more differences of plan or environment (--json has them)",
                 compare->difference_count - LINES_SHOWN);
        say(arg, line);
    }
    for (int i = 0; i < compare->alone_count && i < LINES_SHOWN; i++)
        say(arg, compare->alone[i].text);
    if (compare->alone_count > LINES_SHOWN) {
        snprintf(line, sizeof line, "... and %d more that only one side has (--json has them)",
                 compare->alone_count - LINES_SHOWN);
        say(arg, line);
    }
}

static void table_row(const struct screen *screen, const struct compare_row *row) {
    char *title = row_title(row);
    if (title) screen_say(screen, 2, row->violated ? TONE_BAD : TONE_PLAIN, "%s", title);
    free(title);
    bool alike = strcmp(row->guarantee, row->new_guarantee) == 0;
    screen_say(screen, 4, TONE_PLAIN, "  %s%s", alike ? "" : "base: ", row->guarantee);
    if (!alike) screen_say(screen, 4, TONE_PLAIN, "  new: %s", row->new_guarantee);
    for (int m = 0; m < COMPARE_METRICS; m++) {
        const struct compare_figure *figure = &row->figure[m];
        char text[NUMBER_TEXT_MAX], small[64];
        if (figure->verdict == COMPARE_UNKNOWN) continue;
        fputs("  ", screen->out);
        screen_put(screen, compare_metrics[m].title, -18, TONE_PLAIN);
        screen_put(screen, value_text(figure->base.median, &compare_metrics[m], text), 11,
                   TONE_PLAIN);
        screen_put(screen, value_text(figure->new.median, &compare_metrics[m], text), 11,
                   TONE_PLAIN);
        screen_put(screen, number_change_text(figure->shift, small), 10, TONE_PLAIN);
        fputs("  ", screen->out);
        screen_put(screen, interval(figure, small, sizeof small), -20, TONE_PLAIN);
        screen_put(screen, sign_of(figure->verdict), -7, tone_of(figure->verdict));
        char words[64];
        fprintf(screen->out, "%s\n", note(figure, words, sizeof words));
    }
    fputc('\n', screen->out);
}

static void say_on_screen(void *arg, const char *line) {
    screen_say(arg, 2, TONE_WARN, "%s", line);
}

int compare_write_table(const struct compare *compare, bool color, FILE *out) {
    const struct screen screen = {.out = out, .color = color};
    enum tone tone;
    char *head = headline(compare, &tone);
    if (!head) return -1;
    screen_say(&screen, 0, tone, "%s", head);
    free(head);
    say_first(compare, say_on_screen, (void *)(uintptr_t)&screen);
    fprintf(out, "\n  %-18s%11s%11s%10s  %-20s\n", "median of runs", "base", "new", "shift",
            "95 % interval");
    for (int i = 0; i < compare->row_count; i++) table_row(&screen, &compare->rows[i]);
    screen_say(
        &screen, 0, TONE_PLAIN,
        "A change is one of at least %.3g %% with p <= %.3g by Mann and Whitney's U, corrected by Holm over "
        "all figures; shift and interval by Hodges and Lehmann. One run is one sample.",
        100 * compare->min_effect, compare->alpha);
    return 0;
}

static void md_guarantee(FILE *out, const char *before, const char *text) {
    fputs(before, out);
    escape_md(out, text);
}

/* One lock under one load: what it is, then its figures. */
static void md_row(FILE *out, const struct compare_row *row) {
    static const char *const marks[] = {"", "", "✅ ", "❔ ", "❌ "};
    char *title = row_title(row);
    fputs("\n**", out);
    if (title) escape_md(out, title);
    free(title);
    bool alike = strcmp(row->guarantee, row->new_guarantee) == 0;
    md_guarantee(out, alike ? "**<br>" : "**<br>base: ", row->guarantee);
    if (!alike) md_guarantee(out, "<br>new: ", row->new_guarantee);
    fputs(
        "\n\n| figure | base | new | shift | 95 % interval | verdict | |\n|---|--:|--:|--:|---|---|---|\n",
        out);
    for (int m = 0; m < COMPARE_METRICS; m++) {
        const struct compare_figure *figure = &row->figure[m];
        char base[NUMBER_TEXT_MAX], new[NUMBER_TEXT_MAX], shift[64], range[64], words[64];
        if (figure->verdict == COMPARE_UNKNOWN) continue;
        fprintf(out, "| %s | %s | %s | %s | %s | %s%s | %s |\n", compare_metrics[m].title,
                value_text(figure->base.median, &compare_metrics[m], base),
                value_text(figure->new.median, &compare_metrics[m], new),
                number_change_text(figure->shift, shift), interval(figure, range, sizeof range),
                marks[figure->verdict], compare_word(figure->verdict),
                note(figure, words, sizeof words));
    }
}

static void say_in_md(void *arg, const char *line) {
    fputs("- ", arg);
    escape_md(arg, line);
    fputc('\n', arg);
}

int compare_write_md(const struct compare *compare, FILE *out) {
    enum tone tone;
    char *head = headline(compare, &tone);
    if (!head) return -1;
    fprintf(out, "**%s", tone == TONE_GOOD ? "✅ " : tone == TONE_WARN ? "⚠️ " : "❌ ");
    escape_md(out, head);
    fputs("**\n\n", out);
    free(head);
    say_first(compare, say_in_md, out);
    for (int i = 0; i < compare->row_count; i++) md_row(out, &compare->rows[i]);
    fprintf(
        out,
        "\nMedians of the samples; one run is one sample. A change is at least %.3g %% with p ≤ %.3g "
        "(Mann–Whitney, Holm over all figures); shift and interval by Hodges–Lehmann.\n",
        100 * compare->min_effect, compare->alpha);
    return 0;
}
