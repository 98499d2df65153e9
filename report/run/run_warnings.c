/* run_warnings: the warnings of a run and of its stages, the heavy ones first, since a terminal has room for a few. See
 * run_doc.h. */
#include <stdlib.h>
#include <string.h>

#include "report/run/run_doc.h"

#define WARNINGS_OPEN 8     /* more of them are folded in the page */
#define WARNINGS_TERMINAL 6 /* the most lines in a terminal; the page has all */
#define KINDS_MAX 64 /* the kinds that are told apart; the warnings of others count as known */

/* In the order in which they stand. */
enum weight {
    WEIGHT_ERROR, /* what a stage failed with */
    WEIGHT_RUN,   /* about the run as a whole */
    WEIGHT_NEW,   /* the first of its kind about a lock */
    WEIGHT_KNOWN, /* one that differs from an earlier one in its figures only */
    WEIGHT_ASIDE  /* about a control or the baseline, which nobody chooses */
};

struct warning {
    const char *name, *text; /* name: of the stage; NULL = of the run */
    enum weight weight;
    int place; /* in the order of the stages */
};

struct warnings {
    struct warning *item;
    int count;
    const char *kinds[KINDS_MAX];
    int kind_count;
};

/* True if the texts differ in their figures only. */
static bool same_kind(const char *a, const char *b) {
    static const char figures[] = "0123456789.";
    for (;; a++, b++) {
        a += strspn(a, figures);
        b += strspn(b, figures);
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static enum weight weigh(struct warnings *warnings, const struct run_stage *stage,
                         const char *text) {
    if (stage->control || stage->baseline) return WEIGHT_ASIDE;
    for (int k = 0; k < warnings->kind_count; k++)
        if (same_kind(warnings->kinds[k], text)) return WEIGHT_KNOWN;
    if (warnings->kind_count == KINDS_MAX) return WEIGHT_KNOWN;
    warnings->kinds[warnings->kind_count++] = text;
    return WEIGHT_NEW;
}

/* The error of a stage that is not among the warnings of the run already; NULL = none. */
static const char *new_error(const struct run *run, const struct run_stage *stage) {
    size_t i, length = stage->id ? strlen(stage->id) : 0;
    json_t *warning;
    json_array_foreach(run->warnings, i, warning) {
        const char *text = json_string_value(warning);
        if (stage->error && length > 0 && text && strncmp(text, stage->id, length) == 0 &&
            strncmp(text + length, ": ", 2) == 0 && strcmp(text + length + 2, stage->error) == 0)
            return NULL;
    }
    return stage->error;
}

static void put(struct warnings *warnings, enum weight weight, const char *name, const char *text) {
    warnings->item[warnings->count] =
        (struct warning){.name = name, .text = text, .weight = weight, .place = warnings->count};
    warnings->count++;
}

static const char *text_of(const json_t *warning) {
    return doc_or(json_string_value(warning), "?");
}

static int by_weight(const void *a, const void *b) {
    const struct warning *x = a, *y = b;
    return x->weight != y->weight ? (int)x->weight - (int)y->weight : x->place - y->place;
}

/* item: room for all warnings and for an error of each stage. */
static void gather(const struct run *run, struct warnings *warnings) {
    size_t i;
    json_t *warning;
    json_array_foreach(run->warnings, i, warning) {
        put(warnings, WEIGHT_RUN, NULL, text_of(warning));
    }
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        const char *name = doc_or(stage->id, stage->lock), *error = new_error(run, stage);
        if (error) put(warnings, WEIGHT_ERROR, name, error);
        json_array_foreach(stage->warnings, i, warning) {
            put(warnings, weigh(warnings, stage, text_of(warning)), name, text_of(warning));
        }
    }
    qsort(warnings->item, (size_t)warnings->count, sizeof *warnings->item, by_weight);
}

static size_t room_for(const struct run *run) {
    size_t room = json_array_size(run->warnings) + (size_t)run->stage_count;
    for (int s = 0; s < run->stage_count; s++) room += json_array_size(run->stages[s].warnings);
    return room;
}

void run_warnings(const struct run *run, struct doc *doc) {
    struct warnings warnings = {.item = calloc(room_for(run) + 1, sizeof *warnings.item)};
    doc->failed |= warnings.item == NULL;
    if (warnings.item) gather(run, &warnings);
    if (warnings.count == 0) goto out;
    doc_fold(doc, warnings.count <= WARNINGS_OPEN, "Warnings and failures (%d)", warnings.count);
    doc_list(doc, NULL);
    for (int i = 0; i < warnings.count; i++) {
        const struct warning *warning = &warnings.item[i];
        doc_item(doc, TONE_WARN, "Warning: ");
        if (i >= WARNINGS_TERMINAL) doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
        if (warning->name) doc_span(doc, DOC_STRONG, "%s", warning->name);
        doc_span(doc, DOC_PLAIN, "%s%s", warning->name ? ": " : "", warning->text);
    }
    if (warnings.count > WARNINGS_TERMINAL) {
        doc_item(doc, TONE_WARN, "... and %d more: in the page, --html, and in run.json",
                 warnings.count - WARNINGS_TERMINAL);
        doc_set_only(doc, DOC_TERMINAL);
    }
    doc_end(doc);
    doc_end(doc);
out:
    free(warnings.item);
}
