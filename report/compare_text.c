/* compare_text: a comparison for people: a table for the terminal, Markdown for a pull request. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "report/escape.h"
#include "report/number.h"
#include "report/screen.h"

#define DIFFERENCES_SHOWN 12

static const char *sign_of(enum compare_verdict verdict) {
    static const char *const signs[] = {"", "=", "better", "?", "WORSE"};
    return signs[verdict];
}

static enum tone tone_of(enum compare_verdict verdict) {
    static const enum tone tones[] = {TONE_PLAIN, TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD};
    return tones[verdict];
}

/* "+5.2 %"; size at least 24. */
static char *percent(double shift, char *text, size_t size) {
    if (isnan(shift)) {
        snprintf(text, size, "%s", NUMBER_NONE);
    } else if (isinf(shift) || shift >= 99) {
        snprintf(text, size, shift > 0 ? "+inf" : "-inf");
    } else {
        snprintf(text, size, "%+.1f %%", 100 * shift);
    }
    return text;
}

/* "[-1.0 %, +9.4 %]", or what is missing. size at least 64. */
static char *interval(const struct compare_figure *figure, char *text, size_t size) {
    char low[24], high[24];
    if (isinf(figure->high) || figure->low <= -1) {
        snprintf(text, size, "too few runs");
    } else {
        snprintf(text, size, "[%s, %s]", percent(figure->low, low, sizeof low),
                 percent(figure->high, high, sizeof high));
    }
    return text;
}

static char *value_text(double value, const struct compare_metric *metric, char *text) {
    return metric->is_time ? number_time_text(value, text) : number_text(value, &number_plain, text);
}

/* "base n=10, new n=10"; then what an inconclusive figure would need. */
static char *note(const struct compare_figure *figure, char *text, size_t size) {
    text[0] = '\0';
    if (figure->verdict == COMPARE_INCONCLUSIVE) {
        snprintf(text, size, "~%d repeats a side would do", figure->wanted);
    } else if (figure->verdict != COMPARE_SAME) {
        snprintf(text, size, "p = %.2g", figure->p);
    }
    return text;
}

/* "redis-setnx, 16 clients, one key, ...". Malloced. */
static char *row_title(const struct compare_row *row) {
    char *text = NULL;
    bool itself = strcmp(row->lock, row->new_lock) == 0;
    if (asprintf(&text, "%s%s%s, %.0f client%s, %s (%d and %d runs)%s", row->lock, itself ? "" : " -> ",
                 itself ? "" : row->new_lock, row->clients, row->clients == 1 ? "" : "s", row->load,
                 row->base_count, row->new_count,
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
    const char *word = exit_code == LB_EXIT_VIOLATED       ? "EXCLUSION VIOLATED in the new runs"
                       : exit_code == LB_EXIT_REGRESSION   ? "WORSE"
                       : exit_code == LB_EXIT_INCONCLUSIVE ? "inconclusive: too few runs, or too noisy"
                                                           : "no regression shown";
    if (asprintf(&text,
                 "%s. %d figures worse, %d better, %d without a change of %.3g %% shown, %d inconclusive",
                 word, counts[COMPARE_WORSE], counts[COMPARE_BETTER], counts[COMPARE_SAME],
                 100 * compare->min_effect, counts[COMPARE_INCONCLUSIVE]) < 0)
        return NULL;
    return text;
}

static void table_row(const struct screen *screen, const struct compare_row *row) {
    char *title = row_title(row);
    if (title) screen_say(screen, 2, row->violated ? TONE_BAD : TONE_PLAIN, "%s", title);
    free(title);
    for (int m = 0; m < COMPARE_METRICS; m++) {
        const struct compare_figure *figure = &row->figure[m];
        char text[NUMBER_TEXT_MAX], small[64];
        if (figure->verdict == COMPARE_UNKNOWN) continue;
        fputs("  ", screen->out);
        screen_put(screen, compare_metrics[m].title, -18, TONE_PLAIN);
        screen_put(screen, value_text(figure->base.median, &compare_metrics[m], text), 11, TONE_PLAIN);
        screen_put(screen, value_text(figure->new.median, &compare_metrics[m], text), 11, TONE_PLAIN);
        screen_put(screen, percent(figure->shift, small, sizeof small), 10, TONE_PLAIN);
        fputs("  ", screen->out);
        screen_put(screen, interval(figure, small, sizeof small), -20, TONE_PLAIN);
        screen_put(screen, sign_of(figure->verdict), -7, tone_of(figure->verdict));
        char words[64];
        fprintf(screen->out, "%s\n", note(figure, words, sizeof words));
    }
    fputc('\n', screen->out);
}

int compare_write_table(const struct compare *compare, bool color, FILE *out) {
    const struct screen screen = {.out = out, .color = color};
    enum tone tone;
    char *head = headline(compare, &tone);
    if (!head) return -1;
    screen_say(&screen, 0, tone, "%s", head);
    free(head);
    for (int i = 0; i < compare->difference_count && i < DIFFERENCES_SHOWN; i++) {
        screen_say(&screen, 2, TONE_WARN, "differs: %s", compare->differences[i]);
    }
    if (compare->difference_count > DIFFERENCES_SHOWN) {
        screen_say(&screen, 2, TONE_WARN, "... and %d more differences of plan or environment",
                   compare->difference_count - DIFFERENCES_SHOWN);
    }
    for (int i = 0; i < compare->alone_count; i++) {
        screen_say(&screen, 2, TONE_WARN, "%s", compare->alone[i]);
    }
    fprintf(out, "\n  %-18s%11s%11s%10s  %-20s\n", "median of runs", "base", "new", "shift", "95 % interval");
    for (int i = 0; i < compare->row_count; i++) table_row(&screen, &compare->rows[i]);
    screen_say(
        &screen, 0, TONE_PLAIN,
        "A change is one of at least %.3g %% with p <= %.3g by Mann and Whitney's U, corrected by Holm over "
        "all figures; shift and interval by Hodges and Lehmann. One run is one sample.",
        100 * compare->min_effect, compare->alpha);
    return 0;
}

static void md_row(FILE *out, const struct compare_row *row) {
    for (int m = 0; m < COMPARE_METRICS; m++) {
        const struct compare_figure *figure = &row->figure[m];
        static const char *const marks[] = {"", "", "✅ ", "❔ ", "❌ "};
        char base[NUMBER_TEXT_MAX], new[NUMBER_TEXT_MAX], shift[64], range[64], words[64];
        if (figure->verdict == COMPARE_UNKNOWN) continue;
        fputs("| ", out);
        escape_md(out, row->lock);
        if (strcmp(row->lock, row->new_lock) != 0) {
            fputs(" → ", out);
            escape_md(out, row->new_lock);
        }
        fprintf(out, ", %.0f | %s | %s | %s | %s %s | %s%s | %s |\n", row->clients, compare_metrics[m].title,
                value_text(figure->base.median, &compare_metrics[m], base),
                value_text(figure->new.median, &compare_metrics[m], new),
                percent(figure->shift, shift, sizeof shift), interval(figure, range, sizeof range),
                marks[figure->verdict], compare_word(figure->verdict), note(figure, words, sizeof words));
    }
}

int compare_write_md(const struct compare *compare, FILE *out) {
    enum tone tone;
    char *head = headline(compare, &tone);
    if (!head) return -1;
    fprintf(out, "**%s", tone == TONE_GOOD ? "✅ " : tone == TONE_WARN ? "⚠️ " : "❌ ");
    escape_md(out, head);
    fputs("**\n\n", out);
    free(head);
    for (int i = 0; i < compare->difference_count; i++) {
        fputs("- differs: ", out);
        escape_md(out, compare->differences[i]);
        fputc('\n', out);
    }
    for (int i = 0; i < compare->alone_count; i++) {
        fputs("- ", out);
        escape_md(out, compare->alone[i]);
        fputc('\n', out);
    }
    if (compare->difference_count + compare->alone_count > 0) fputc('\n', out);
    fputs("| lock, clients | figure | base | new | shift, 95 % interval | verdict | "
          "|\n|---|---|---|---|---|---|---|\n",
          out);
    for (int i = 0; i < compare->row_count; i++) md_row(out, &compare->rows[i]);
    fprintf(out,
            "\nMedians of runs; one run is one sample. A change is at least %.3g %% with p ≤ %.3g "
            "(Mann–Whitney, Holm over all figures); shift and interval by Hodges–Lehmann.\n",
            100 * compare->min_effect, compare->alpha);
    return 0;
}
