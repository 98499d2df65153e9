/* run_failed: the requests that the servers refused, that could not be asked, or whose answer was
 * lost; and the seconds in which nobody was granted anything. See run_doc.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/run_doc.h"

/* A second without a grant is no chance where the median second has so many: by Poisson's law one of
 * 20,000 has none. */
#define USUAL_GRANTS 10

struct failures {
    double attempts, refused, broken, unknown, lost;
    int stages, empty_seconds;
    const char *error; /* the first that a stage names, or NULL */
};

static double or_none(double count) {
    return isnan(count) ? 0 : count;
}

static double failed_of(const struct run_stage *stage) {
    return or_none(stage->refused) + or_none(stage->broken) + or_none(stage->unknown);
}

static bool has_planned_fault(const struct run_stage *stage) {
    return stage->fault && strcmp(stage->fault, "none") != 0;
}

bool run_failed_mostly(const struct run_stage *stage) {
    /* A planned fault breaks requests by design, and clients ask again and again meanwhile. */
    if (has_planned_fault(stage) && stage->ok > 0) return false;
    return stage->attempts > 0 && failed_of(stage) > stage->attempts / 2;
}

/* The grants in a whole second of the window; NAN for other elements of the series. */
static double grants_in(const struct run_stage *stage, const json_t *second) {
    double from_s = json_number_value(json_object_get(second, "t_s"));
    const json_t *ok = json_object_get(second, "ok");
    bool whole = !json_is_true(json_object_get(second, "draining")) && from_s >= 0 &&
                 from_s + 1 <= stage->duration_s;
    return whole && json_is_number(ok) ? json_number_value(ok) : NAN;
}

/* The whole seconds without a grant, where the usual second has many; 0 when out of memory. Clients
 * of ticks do not ask all the time. */
static int empty_seconds(const struct run_stage *stage) {
    size_t count = json_array_size(stage->series);
    double *grants = stage->tick_ns > 0 ? NULL : calloc(count + 1, sizeof *grants);
    int empty = 0;
    if (!grants) return 0;
    for (size_t i = 0; i < count; i++) {
        grants[i] = grants_in(stage, json_array_get(stage->series, i));
        empty += grants[i] == 0;
    }
    bool usual = number_median(grants, (int)count) >= USUAL_GRANTS;
    free(grants);
    return usual ? empty : 0;
}

static void add_stage(struct failures *sum, const struct run_stage *stage) {
    sum->attempts += or_none(stage->attempts);
    sum->refused += or_none(stage->refused);
    sum->broken += or_none(stage->broken);
    sum->unknown += or_none(stage->unknown);
    sum->lost += or_none(stage->lost);
    sum->empty_seconds += empty_seconds(stage);
    if (!sum->error) sum->error = stage->error;
    sum->stages++;
}

/* Over those of the lock's stages of which `counts` is true. */
static struct failures failures_of(const struct report *report, const struct report_lock *lock,
                                   bool (*counts)(const struct run_stage *)) {
    const struct run *run = report->runs[lock->run];
    struct failures sum = {0};
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        if (report_is_of(lock, lock->run, stage) && counts(stage)) add_stage(&sum, stage);
    }
    return sum;
}

/* Adds " (272 refused, 1 broken)". */
static void add_kinds(struct doc *doc, const struct failures *sum) {
    const struct {
        double count;
        const char *word;
    } kinds[] = {{sum->refused, "refused"}, {sum->broken, "broken"}, {sum->unknown, "unknown"}};
    char count[NUMBER_TEXT_MAX];
    const char *before = " (";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].count == 0) continue;
        doc_span(doc, DOC_PLAIN, "%s%s %s", before, number_count_text(kinds[i].count, count),
                 kinds[i].word);
        before = ", ";
    }
    doc_span(doc, DOC_PLAIN, ")");
}

void run_failed(const struct report *report, struct doc *doc, bool *headed) {
    char failed[NUMBER_TEXT_MAX], attempts[NUMBER_TEXT_MAX];
    for (int i = 0; i < report->lock_count; i++) {
        const struct report_lock *lock = &report->locks[i];
        struct failures sum = failures_of(report, lock, run_failed_mostly);
        if (sum.stages == 0) continue;
        doc_say(doc, TONE_WARN, "REQUESTS FAILED: %s of %s of the requests of %s",
                number_count_text(sum.refused + sum.broken + sum.unknown, failed),
                number_count_text(sum.attempts, attempts), lock->label);
        if (!*headed) doc_set_headline(doc);
        *headed = true;
        doc_set_shown(doc);
        add_kinds(doc, &sum);
        doc_span(doc, DOC_PLAIN, "%s%s", sum.error ? ": " : ".", doc_or(sum.error, ""));
    }
}

static bool failed_unplanned(const struct run_stage *stage) {
    return !has_planned_fault(stage) && !run_failed_mostly(stage);
}

/* Adds "NOTHING GRANTED by a for 2 whole seconds, though clients asked." */
static void add_empty_seconds(struct doc *doc, const struct failures *sum, const char *by) {
    if (sum->empty_seconds == 0) return;
    doc_span(doc, DOC_PLAIN, "%s%s for %d whole second%s, though clients asked.",
             by ? "NOTHING GRANTED by " : " Nothing was granted", by ? by : "", sum->empty_seconds,
             sum->empty_seconds == 1 ? "" : "s");
}

static void say_some_failed(struct doc *doc, const struct failures *sum, const char *lock) {
    char count[NUMBER_TEXT_MAX], attempts[NUMBER_TEXT_MAX];
    doc_say(doc, TONE_WARN, "SOME REQUESTS FAILED: %s of the %s of %s",
            number_count_text(sum->refused + sum->broken + sum->unknown, count),
            number_count_text(sum->attempts, attempts), lock);
    add_kinds(doc, sum);
    doc_span(doc, DOC_PLAIN, "%s%s.", sum->error ? ": " : "", doc_or(sum->error, ""));
    if (sum->lost > 0)
        doc_span(doc, DOC_PLAIN, " %s of its grants %s lost.", number_count_text(sum->lost, count),
                 sum->lost == 1 ? "was" : "were");
    add_empty_seconds(doc, sum, NULL);
}

void run_outages(const struct report *report, struct doc *doc) {
    for (int i = 0; i < report->lock_count; i++) {
        const struct report_lock *lock = &report->locks[i];
        struct failures sum = failures_of(report, lock, failed_unplanned);
        if (sum.refused + sum.broken + sum.unknown > 0) {
            say_some_failed(doc, &sum, lock->label);
        } else if (sum.empty_seconds > 0) {
            doc_say(doc, TONE_WARN, "%s", "");
            add_empty_seconds(doc, &sum, lock->label);
        }
    }
}
