/* compare_doc: a comparison as a document. See compare.h. */
#include <math.h>
#include <string.h>

#include "report/compare/compare.h"
#include "report/compare/compare_parts.h"
#include "report/doc/number.h"
#include "report/page/doc_page.h"
#include "report/run/field_value.h"
#include "report/run/words.h"

#define LINES_SHOWN 12 /* the most lines of differences, and of locks that one side lacks */

static enum tone compared_tone(enum compare_verdict verdict) {
    static const enum tone tones[] = {TONE_PLAIN, TONE_PLAIN, TONE_PLAIN,
                                      TONE_GOOD,  TONE_WARN,  TONE_BAD};
    return tones[verdict];
}

/* Writes the interval, "[-1.0 %, +9.4 %]", or what is missing for one. size: at least 64. */
static char *interval_text(const struct compare_figure *figure, char *text, size_t size) {
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
    if (isnan(figure->low)) {
        snprintf(text, size, "%s", NUMBER_NONE);
    } else if (figure->low == -INFINITY) {
        snprintf(text, size, "too few samples");
    } else {
        snprintf(text, size, "[%s, %s]", number_change_text(figure->low, low),
                 number_change_text(figure->high, high));
    }
    return text;
}

/* size: at least NUMBER_TEXT_MAX. */
static char *shift_text(const struct compare_figure *figure, char *text, size_t size) {
    if (isinf(figure->shift)) {
        snprintf(text, size, "%s", isinf(figure->new.median) ? NUMBER_NEVER : "from 0");
        return text;
    }
    return number_change_text(figure->shift, text);
}

/* Writes what an inconclusive figure would need, or how sure a change is. text:
 * COMPARE_NEED_TEXT_MAX bytes. */
static char *note_text(const struct compare_row *row, const struct compare_figure *figure,
                       char *text) {
    compare_need_text(row, figure, text);
    bool changed = figure->verdict == COMPARE_BETTER || figure->verdict == COMPARE_WORSE;
    if (changed && isnan(figure->p)) {
        snprintf(text, COMPARE_NEED_TEXT_MAX, "nothing was granted any more");
    } else if (changed) {
        snprintf(text, COMPARE_NEED_TEXT_MAX, "p = %.2g", figure->p);
    }
    return text;
}

/* Why the exit code is 5: "inconclusive with 4 to 10 samples a side: too few, or too noisy". size: at least 96. */
static char *unsure_text(const struct compare *compare, char *text, size_t size) {
    struct compare_samples samples = compare_unsure_samples(compare);
    if (compare->counts[COMPARE_INCONCLUSIVE] == 0) {
        snprintf(text, size, "inconclusive: the new runs lack %d of the base's stages",
                 compare->missing);
    } else if (samples.most == 0) {
        snprintf(text, size, "inconclusive without any sample");
    } else if (samples.least == samples.most) {
        snprintf(text, size, "inconclusive with %d sample%s a side: too few, or too noisy",
                 samples.most, samples.most == 1 ? "" : "s");
    } else {
        snprintf(text, size, "inconclusive with %d to %d samples a side: too few, or too noisy",
                 samples.least, samples.most);
    }
    return text;
}

/* The first line, which sums up the comparison. */
static void add_headline(struct doc *doc, const struct compare *compare) {
    const int *counts = compare->counts;
    int exit_code = compare_exit(compare);
    bool failed = compare_fails(compare->state) != 0;
    char unsure[96];
    const char *word = failed                            ? compare_failure(compare->state)
                       : exit_code == LB_EXIT_REGRESSION ? "WORSE"
                       : exit_code == LB_EXIT_INCONCLUSIVE
                           ? unsure_text(compare, unsure, sizeof unsure)
                           : "no regression shown";
    doc_say(
        doc,
        exit_code == LB_EXIT_OK             ? TONE_GOOD
        : exit_code == LB_EXIT_INCONCLUSIVE ? TONE_WARN
                                            : TONE_BAD,
        "%s%s. %d figure%s worse, %d better, %d without a change above %.3g %%, %d inconclusive",
        word, failed ? " in the new runs" : "", counts[COMPARE_WORSE],
        counts[COMPARE_WORSE] == 1 ? "" : "s", counts[COMPARE_BETTER], counts[COMPARE_SAME],
        100 * COMPARE_SAME_TIMES * compare->min_effect, counts[COMPARE_INCONCLUSIVE]);
    doc_set_headline(doc);
}

/* Adds the facts that a reader must know before any figure. */
static void add_warnings(struct doc *doc, const struct compare *compare) {
    char judged[COMPARE_METRICS_TEXT_MAX];
    doc_list(doc, NULL);
    if (compare->metrics)
        doc_item(doc, TONE_PLAIN, "judged (--metric): %s; the other figures are shown only",
                 compare_metrics_text(compare->metrics, judged));
    if (compare_is_by_stage(compare))
        doc_item(doc, TONE_WARN,
                 COMPARE_BY_STAGE_WARNING ". Several runs of each side, in turns "
                                          "(run --repeat 10 --against...), tell the two apart");
    if (compare->partial_reason) doc_item(doc, TONE_WARN, "PARTIAL: %s", compare->partial_reason);
    if (compare->partial_count > 0)
        doc_item(doc, TONE_WARN,
                 "%d of the runs %s partial; only stages that came to their end are samples",
                 compare->partial_count, compare->partial_count == 1 ? "is" : "are");
    if (compare->limited_count > 0)
        doc_item(doc, TONE_WARN,
                 "%d of %d stages %s left out: their limit was the load generator, not the lock",
                 compare->limited_count, compare->stage_count,
                 compare->limited_count == 1 ? "is" : "are");
    for (int i = 0; i < compare->difference_count && i < LINES_SHOWN; i++)
        doc_item(doc, TONE_WARN, "differs: %s", compare->differences[i]);
    if (compare->difference_count > LINES_SHOWN)
        doc_item(doc, TONE_WARN,
                 "... and %d more differences of plan or environment (--json has them)",
                 compare->difference_count - LINES_SHOWN);
    for (int i = 0; i < compare->alone_count && i < LINES_SHOWN; i++)
        doc_item(doc, TONE_WARN, "%s", compare->alone[i].text);
    if (compare->alone_count > LINES_SHOWN)
        doc_item(doc, TONE_WARN, "... and %d more that only one side has (--json has them)",
                 compare->alone_count - LINES_SHOWN);
    doc_end(doc);
}

static void add_compared_columns(struct doc *doc, const struct compare *compare) {
    char median[40];
    snprintf(median, sizeof median, "median of %s", compare_samples_word(compare));
    const struct doc_column columns[] = {
        {.title = median},
        {.title = "base", .right = true},
        {.title = "new", .right = true},
        {.title = "shift", .right = true},
        {.title = "95 % interval"},
        {.title = "verdict"},
        {.title = "note", .words = true},
        {.title = NULL},
    };
    doc_columns(doc, columns);
}

static void add_compared_figure(struct doc *doc, const struct compare_row *row, int m) {
    const struct result_field *metric = compare_metric(m);
    const struct compare_figure *figure = &row->figure[m];
    char text[NUMBER_TEXT_MAX], small[64], note[COMPARE_NEED_TEXT_MAX];
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", metric->title);
    doc_value(doc, figure->base.median, "%s", field_figure_text(metric, figure->base.median, text));
    doc_value(doc, figure->new.median, "%s", field_figure_text(metric, figure->new.median, text));
    doc_value(doc, figure->shift, "%s", shift_text(figure, text, sizeof text));
    doc_cell(doc, "%s", interval_text(figure, small, sizeof small));
    doc_cell(doc, "%s", compare_word(figure->verdict));
    doc_set_tone(doc, compared_tone(figure->verdict));
    doc_cell(doc, "%s", note_text(row, figure, note));
}

/* Adds a lock: "redis-setnx, 16 clients, one key, ...", between two locks "a -> b", and then its
 * figures. */
static void add_compared_lock(struct doc *doc, const struct compare_row *row) {
    bool itself = strcmp(row->lock, row->new_lock) == 0;
    bool fails = compare_fails(row->state) != 0;
    doc_group(doc, fails ? TONE_BAD : TONE_PLAIN,
              "%s%s%s, %.0f client%s, %s (%d and %d samples)%s%s", row->lock, itself ? "" : " -> ",
              itself ? "" : row->new_lock, row->clients, row->clients == 1 ? "" : "s", row->load,
              row->base_count, row->new_count, fails ? ": " : "",
              fails ? words_state_title(row->state) : "");
    if (row->base_limited + row->new_limited > 0)
        doc_span(doc, DOC_DETAIL,
                 "stages left out, generator-limited: %d of the base, %d of the new",
                 row->base_limited, row->new_limited);
    bool alike = strcmp(row->guarantee, row->new_guarantee) == 0;
    doc_span(doc, DOC_DETAIL, "%s%s", alike ? "" : "base: ", row->guarantee);
    if (!alike) doc_span(doc, DOC_DETAIL, "new: %s", row->new_guarantee);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (row->figure[m].verdict != COMPARE_UNKNOWN) add_compared_figure(doc, row, m);
    }
}

void compare_doc(const struct compare *compare, struct doc *doc) {
    doc_box(doc);
    add_headline(doc, compare);
    doc_end(doc);
    doc_page_chart(doc, "shifts");
    doc_page_chart(doc, "sides");
    add_warnings(doc, compare);
    doc_table(doc, NULL, NULL);
    add_compared_columns(doc, compare);
    for (int i = 0; i < compare->row_count; i++) add_compared_lock(doc, &compare->rows[i]);
    doc_end(doc);
    doc_say(
        doc, TONE_PLAIN,
        "A change is one of at least %.3g %% with p <= %.3g by Mann and Whitney's U, corrected by "
        "Holm over all %sfigures; shift and interval by Hodges and Lehmann. No change shown: the "
        "interval excludes changes above %.3g %%.%s",
        100 * compare->min_effect, compare->alpha, compare->metrics ? "judged " : "",
        100 * COMPARE_SAME_TIMES * compare->min_effect,
        compare_is_by_stage(compare) ? "" : " One run is one sample.");
}

static const char *const csv_titles[] = {"lock",          "new_lock",    "clients",
                                         "load",          "figure",      "base_median",
                                         "new_median",    "shift",       "low",
                                         "high",          "p",           "verdict",
                                         "base_samples",  "new_samples", "base_guarantee",
                                         "new_guarantee", "samples_of",  "partial_reason",
                                         "partial_runs"};

static void add_csv_row(struct doc *doc, const struct compare *compare,
                        const struct compare_row *row, int metric) {
    const struct compare_figure *figure = &row->figure[metric];
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", row->lock);
    doc_cell(doc, "%s", row->new_lock);
    doc_cell(doc, "%.0f", row->clients);
    doc_cell(doc, "%s", row->load);
    doc_cell(doc, "%s", compare_metric(metric)->compared);
    field_figure_cell(doc, figure->base.median);
    field_figure_cell(doc, figure->new.median);
    doc_figure(doc, figure->shift);
    doc_figure(doc, figure->low);
    doc_figure(doc, figure->high);
    doc_figure(doc, figure->p);
    doc_cell(doc, "%s", compare_word(figure->verdict));
    doc_cell(doc, "%d", figure->base.count);
    doc_cell(doc, "%d", figure->new.count);
    doc_cell(doc, "%s", row->guarantee);
    doc_cell(doc, "%s", row->new_guarantee);
    doc_cell(doc, "%s", compare_samples_word(compare));
    doc_cell(doc, "%s", doc_or(compare->partial_reason, ""));
    doc_cell(doc, "%d", compare->partial_count);
}

void compare_csv(const struct compare *compare, struct doc *doc) {
    doc_table(doc, NULL, NULL);
    for (size_t c = 0; c < sizeof csv_titles / sizeof *csv_titles; c++)
        doc_column(doc, &(struct doc_column){.title = csv_titles[c]});
    for (int i = 0; i < compare->row_count; i++) {
        for (int m = 0; m < compare_metric_count(); m++) {
            if (compare->rows[i].figure[m].verdict != COMPARE_UNKNOWN)
                add_csv_row(doc, compare, &compare->rows[i], m);
        }
    }
    doc_end(doc);
}
