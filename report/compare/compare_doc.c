/* compare_doc: a comparison as a document and as JSON. */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bench/base/output.h"
#include "bench/base/text.h"
#include "report/compare/compare.h"
#include "report/doc/escape.h"
#include "report/doc/number.h"
#include "report/run/column.h"
#include "report/run/words.h"

#define LINES_SHOWN 12 /* the most lines of differences, and of locks that one side lacks, ... */
#define LINES_BRIEF 3  /* ... and on the first screen */
#define ROOM 22        /* lines of figures, with a heading for each row, on the first screen */

/* What a sample is. */
static const char *samples_word(const struct compare *compare) {
    return compare->by_stage ? "stages" : "runs";
}

static const char *compare_word(enum compare_verdict verdict) {
    static const char *const words[] = {"unknown", "not judged",   "no change shown",
                                        "better",  "inconclusive", "worse"};
    return words[verdict];
}

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
        snprintf(text, size, "only %d, %d samples", figure->base.count, figure->new.count);
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

static bool has_changed(const struct compare_figure *figure) {
    return figure->verdict == COMPARE_WORSE || figure->verdict == COMPARE_BETTER;
}

#define NOTE_MAX 96

/* Writes how sure a change is, or why a figure has nothing to compare. text: NOTE_MAX bytes. */
static char *note_text(const struct compare_row *row, const struct compare_figure *figure,
                       char *text) {
    bool changed = has_changed(figure);
    bool of_new = figure->base.count > 0 && !figure->base.disturbed;
    int samples = of_new ? row->new_count : row->base_count;
    const char *side = of_new ? "new runs" : "base";
    text[0] = '\0';
    if (figure->base.disturbed || figure->new.disturbed) {
        snprintf(text, NOTE_MAX, "the load generator was the limit in the %s", side);
    } else if (changed && isnan(figure->p)) {
        snprintf(text, NOTE_MAX, "nothing was granted any more");
    } else if (changed) {
        snprintf(text, NOTE_MAX, "p = %.2g", figure->p);
    } else if (figure->base.count > 0 && figure->new.count > 0) {
        return text;
    } else {
        snprintf(text, NOTE_MAX, samples > 0 ? "not measured in the %s" : "no sample in the %s",
                 side);
    }
    return text;
}

static const char *failure_words(enum lock_state state) {
    return state == LOCK_VIOLATED  ? "Exclusion violated"
           : state == LOCK_REVOKED ? "Grants taken away"
           : state == LOCK_TOKENS  ? "Fencing tokens wrong"
           : state == LOCK_STUCK   ? "A lock stuck"
                                   : "Clients starved";
}

/* The first line, which sums up the comparison. */
static void add_headline(struct doc *doc, const struct compare *compare) {
    const int *counts = compare->counts;
    int exit_code = compare_exit(compare);
    bool failed = compare_fails(compare->state) != 0;
    bool lacks = counts[COMPARE_INCONCLUSIVE] == 0; /* then the reason for 5 is a missing stage */
    const char *word = failed                              ? failure_words(compare->state)
                       : exit_code == LB_EXIT_REGRESSION   ? "worse"
                       : exit_code != LB_EXIT_INCONCLUSIVE ? "no regression shown"
                       : lacks ? "inconclusive: the new runs lack stages of the base"
                               : "inconclusive: too few samples, or too noisy";
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

static void add_texts(struct doc *doc, const json_t *texts, int most, const char *before,
                      const char *what) {
    int count = (int)json_array_size(texts);
    for (int i = 0; i < count && i < most; i++)
        doc_item(doc, TONE_WARN, "%s%s", before,
                 json_string_value(json_array_get(texts, (size_t)i)));
    if (count > most)
        doc_item(doc, TONE_WARN, "... and %d more%s (--json has them)", count - most, what);
}

/* Adds the facts that a reader must know before any figure. */
static void add_warnings(struct doc *doc, const struct compare *compare, bool brief) {
    char judged[COMPARE_METRICS_TEXT_MAX];
    int most = brief ? LINES_BRIEF : LINES_SHOWN;
    doc_list(doc);
    if (compare->metrics)
        doc_item(doc, TONE_PLAIN, "judged (--metric): %s; the other figures are shown only",
                 compare_metrics_text(compare->metrics, judged));
    if (compare->newest > 0)
        doc_item(doc, TONE_PLAIN,
                 "new: the newest %d runs of each series; base: up to %d before them",
                 compare->newest, compare->newest);
    if (compare->by_stage)
        doc_item(
            doc, TONE_WARN,
            "the samples are the stages of one run a side: a change of the machine between the two runs looks "
            "like a change of the lock. Several runs of each side, in turns (run --repeat 10 --against...), "
            "tell the two apart");
    if (compare->partial_reason) doc_item(doc, TONE_WARN, "Partial: %s", compare->partial_reason);
    if (compare->partial_count > 0)
        doc_item(doc, TONE_WARN,
                 "%d of the runs %s partial; only stages that came to their end are samples",
                 compare->partial_count, compare->partial_count == 1 ? "is" : "are");
    if (compare->limited_count > 0)
        doc_item(
            doc, TONE_WARN,
            "%d of %d stages %s disturbed on the load generator's side: their p99 are not compared",
            compare->limited_count, compare->stage_count,
            compare->limited_count == 1 ? "was" : "were");
    add_texts(doc, compare->differences, most, "differs: ", " differences of plan or environment");
    add_texts(doc, compare->alone, most, "", " that only one side has");
    doc_end(doc);
}

static void add_compared_columns(struct doc *doc, const struct compare *compare) {
    char median[40];
    snprintf(median, sizeof median, "median of %s", samples_word(compare));
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
    char text[NUMBER_TEXT_MAX], small[64], note[NOTE_MAX];
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

/* What of a comparison is shown. */
struct extent {
    bool brief; /* the rows that fit a screen, those that got worse first; without details */
    bool all;   /* every figure; else the throughput, and those that changed */
    bool loads; /* the rows differ in their loads */
};

static bool is_shown(const struct compare_row *row, int m, struct extent extent) {
    const struct compare_figure *figure = &row->figure[m];
    return figure->verdict != COMPARE_UNKNOWN && (extent.all || m == 0 || has_changed(figure));
}

static int figures_of(const struct compare_row *row, struct extent extent) {
    int count = 0;
    for (int m = 0; m < compare_metric_count(); m++) count += is_shown(row, m, extent);
    return count;
}

#define RANKS 4
/* 0 = it fails; 1 = a figure got worse; 2 = one got better; 3 = nothing was shown. */
static int rank_of(const struct compare_row *row) {
    int rank = 3;
    for (int m = 0; m < compare_metric_count(); m++) {
        if (row->figure[m].verdict == COMPARE_WORSE) rank = 1;
        if (row->figure[m].verdict == COMPARE_BETTER && rank > 2) rank = 2;
    }
    return compare_fails(row->state) ? 0 : rank;
}

static void add_details(struct doc *doc, const struct compare_row *row, bool brief) {
    bool alike = strcmp(row->guarantee, row->new_guarantee) == 0;
    if (!brief && row->base_limited + row->new_limited > 0)
        doc_span(
            doc, DOC_DETAIL,
            "stages whose p99 is not compared, generator-limited: %d of the base, %d of the new",
            row->base_limited, row->new_limited);
    if (!brief || !alike) doc_span(doc, DOC_DETAIL, "%s%s", alike ? "" : "base: ", row->guarantee);
    if (!alike) doc_span(doc, DOC_DETAIL, "new: %s", row->new_guarantee);
}

/* Adds a lock: "redis-setnx, 16 clients, one key, ...", and then its figures. */
static void add_compared_lock(struct doc *doc, const struct compare_row *row, bool twin,
                              struct extent extent) {
    bool fails = compare_fails(row->state) != 0;
    doc_group(doc, fails ? TONE_BAD : TONE_PLAIN, "%s, %.0f client%s%s%s (%d and %d samples)%s%s",
              row->lock, row->clients, row->clients == 1 ? "" : "s", extent.loads ? ", " : "",
              extent.loads ? row->load : "", row->base_count, row->new_count, fails ? ": " : "",
              fails ? words_state_title(row->state) : "");
    add_details(doc, row, extent.brief && !twin);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (is_shown(row, m, extent)) add_compared_figure(doc, row, m);
    }
}

/* Whether another row is of the same lock and load, on other servers. */
static bool has_twin(const struct compare *compare, const struct compare_row *row) {
    for (int i = 0; i < compare->row_count; i++) {
        const struct compare_row *other = &compare->rows[i];
        if (strcmp(other->lock, row->lock) == 0 && other->clients == row->clients &&
            strcmp(other->load, row->load) == 0 && strcmp(other->guarantee, row->guarantee) != 0)
            return true;
    }
    return false;
}

/* Adds the rows; on one screen those first that got worse. */
static void add_rows(struct doc *doc, const struct compare *compare, bool brief, bool loads) {
    struct extent extent = {.brief = brief, .all = true, .loads = loads};
    int room = INT_MAX, lines = 0, left = 0, rows_left = 0;
    for (int i = 0; i < compare->row_count; i++) lines += 1 + figures_of(&compare->rows[i], extent);
    extent.all = !brief || lines <= ROOM;
    if (brief) room = ROOM;
    for (int i = 0; i < RANKS * compare->row_count; i++) {
        const struct compare_row *row = &compare->rows[i % compare->row_count];
        if ((brief ? rank_of(row) : 0) != i / compare->row_count) continue;
        int shown = figures_of(row, extent);
        bool fits =
            1 + shown <= room || (brief && i < compare->row_count); /* what fails is named */
        if (fits) add_compared_lock(doc, row, has_twin(compare, row), extent);
        room = fits && room > shown ? room - 1 - shown : 0;
        rows_left += !fits;
        left += figures_of(row, (struct extent){.all = true}) - (fits ? shown : 0);
    }
    if (left == 0) return;
    doc_note(doc, TONE_PLAIN, "Not shown (--full): %d figure%s, %d of the locks or loads.", left,
             left == 1 ? "" : "s", rows_left);
}

static void compare_doc(const struct compare *compare, bool brief, struct doc *doc) {
    bool loads = !brief;
    doc_box(doc);
    add_headline(doc, compare);
    doc_end(doc);
    add_warnings(doc, compare, brief);
    for (int i = 1; i < compare->row_count; i++)
        loads |= strcmp(compare->rows[i].load, compare->rows[0].load) != 0;
    if (!loads && compare->row_count > 0)
        doc_say(doc, TONE_PLAIN, "Load: %s.", compare->rows[0].load);
    doc_table(doc, NULL, NULL);
    add_compared_columns(doc, compare);
    add_rows(doc, compare, brief, loads);
    doc_end(doc);
    doc_say(
        doc, TONE_PLAIN,
        "A change is one of at least %.3g %% with p <= %.3g by Mann and Whitney's U, corrected by "
        "Holm over all %sfigures; shift and interval by Hodges and Lehmann. No change shown: the "
        "interval excludes changes above %.3g %%.%s",
        100 * compare->min_effect, COMPARE_ALPHA, compare->metrics ? "judged " : "",
        100 * COMPARE_SAME_TIMES * compare->min_effect,
        compare->by_stage ? "" : " One run is one sample.");
}

/* ---- JSON ---- */

/* The value of a figure: NAN becomes null, INFINITY RESULT_NEVER. */
static json_t *field_figure_json(double figure) {
    return isinf(figure) ? json_string(RESULT_NEVER) : escape_json_figure(figure);
}

static json_t *side_json(const struct compare_side *side) {
    json_t *values = json_array();
    for (int i = 0; i < side->count; i++)
        json_array_append_new(values, field_figure_json(side->values[i]));
    return json_pack("{s:o, s:o}", "median", field_figure_json(side->median), "values", values);
}

static json_t *compared_figure_json(const struct compare_figure *figure) {
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "verdict",
                     compare_word(figure->verdict), "base", side_json(&figure->base), "new",
                     side_json(&figure->new), "shift", escape_json_figure(figure->shift), "low",
                     escape_json_figure(figure->low), "high", escape_json_figure(figure->high), "p",
                     escape_json_figure(figure->p));
}

static json_t *row_json(const struct compare_row *row) {
    int fails = compare_fails(row->state);
    json_t *figures = json_object();
    for (int m = 0; m < compare_metric_count(); m++) {
        if (row->figure[m].verdict == COMPARE_UNKNOWN) continue;
        json_object_set_new(figures, compare_metric(m)->compared,
                            compared_figure_json(&row->figure[m]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:b, s:b, s:o}", "lock",
                     escape_json(row->lock), "load", escape_json(row->load), "clients",
                     escape_json_figure(row->clients), "base_guarantee",
                     escape_json(row->guarantee), "new_guarantee", escape_json(row->new_guarantee),
                     "base_samples", row->base_count, "new_samples", row->new_count, "base_limited",
                     row->base_limited, "new_limited", row->new_limited, "violated",
                     fails == LB_EXIT_VIOLATED, "stuck", fails == LB_EXIT_REGRESSION, "figures",
                     figures);
}

static json_t *texts_json(json_t *texts) {
    return texts ? json_incref(texts) : json_array();
}

static json_t *compare_json(const struct compare *compare) {
    json_t *rows = json_array();
    for (int i = 0; i < compare->row_count; i++)
        json_array_append_new(rows, row_json(&compare->rows[i]));
    return json_pack(
        "{s:s, s:i, s:s, s:b, s:o, s:i, s:b, s:f, s:f, s:o, s:o, s:o}", "schema",
        "lockbench.compare/3", "exit_code", compare_exit(compare), "samples_of",
        samples_word(compare), "partial", compare->partial_reason != NULL, "partial_reason",
        escape_json(compare->partial_reason), "partial_runs", compare->partial_count, "violated",
        compare_fails(compare->state) == LB_EXIT_VIOLATED, "min_effect", compare->min_effect,
        "alpha", COMPARE_ALPHA, "differences", texts_json(compare->differences), "only_one_side",
        texts_json(compare->alone), "rows", rows);
}

int compare_write(const struct compare *compare, enum compare_format format, bool brief, bool color,
                  FILE *out, struct lb_err *err) {
    struct doc doc = {0};
    if (format == COMPARE_JSON)
        return output_json(compare_json(compare), JSON_INDENT(1) | JSON_REAL_PRECISION(15), out,
                           "the comparison", err);
    compare_doc(compare, brief, &doc);
    return doc_write_and_free(&doc, format == COMPARE_MD ? DOC_MARKDOWN : DOC_TERMINAL, color, out,
                              err);
}
