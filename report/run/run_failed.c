/* run_failed: the requests that the servers refused, that could not be asked, or whose answer was
 * lost. See run_doc.h. */
#include <math.h>
#include <string.h>

#include "report/run/run_doc.h"

struct failures {
    double attempts, refused, broken, unknown;
    int stages;
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

static void add_stage(struct failures *sum, const struct run_stage *stage) {
    sum->attempts += or_none(stage->attempts);
    sum->refused += or_none(stage->refused);
    sum->broken += or_none(stage->broken);
    sum->unknown += or_none(stage->unknown);
    if (!sum->error) sum->error = stage->error;
    sum->stages++;
}

/* Over the lock's stages in which most requests failed. */
static struct failures mostly_failed(const struct report *report, const struct report_lock *lock) {
    const struct run *run = report->runs[lock->run];
    struct failures sum = {0};
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        if (report_is_of(lock, lock->run, stage) && run_failed_mostly(stage))
            add_stage(&sum, stage);
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
        struct failures sum = mostly_failed(report, lock);
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
