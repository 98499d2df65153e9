/* capacity_doc: see capacity_doc.h. */
#include "report/capacity/capacity_doc.h"

#include <math.h>

#include "report/doc/number.h"
#include "report/run/words.h"

static bool any_model(const struct capacity *capacity) {
    for (int i = 0; i < capacity->lock_count; i++) {
        if (capacity->locks[i].modelled) return true;
    }
    return false;
}

/* What all locks of the file were asked. */
static void add_question(struct doc *doc, const struct capacity_lock *lock) {
    char hold[80] = "";
    if (lock->hold) snprintf(hold, sizeof hold, ", hold %.60s", lock->hold);
    if (lock->by == CAPACITY_BY_RATE) {
        doc_say(
            doc, TONE_PLAIN,
            "The greatest rate of requests at random (Poisson) that keeps %s: keys %s%s, a pool of "
            "%.0f clients.",
            doc_or(lock->slo, NUMBER_NONE), doc_or(lock->keys, NUMBER_NONE), hold, lock->clients);
    } else {
        doc_say(doc, TONE_PLAIN,
                "The most clients in a closed loop that keep %s: keys %s%s, think %s.",
                doc_or(lock->slo, NUMBER_NONE), doc_or(lock->keys, NUMBER_NONE), hold,
                doc_or(lock->think, NUMBER_NONE));
    }
}

static void add_load(struct doc *doc, double value, const char *before, bool by_rate) {
    char number[NUMBER_TEXT_MAX];
    doc_value(doc, value, "%s%s%s", before, number_text(value, &number_plain, number),
              by_rate && !isnan(value) ? "/s" : "");
}

static void add_answer(struct doc *doc, const struct capacity_lock *lock) {
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
    bool by_rate = lock->by == CAPACITY_BY_RATE, open = lock->answered && isnan(lock->high);
    bool good = lock->limited_by == CAPACITY_LIMIT_SLO || lock->limited_by == CAPACITY_LIMIT_RANGE;
    /* Without an upper end the lock carries at least so much: the lower end is sure. */
    double carries = !lock->answered ? NAN : open ? lock->low : lock->value;
    add_load(doc, carries, open ? ">= " : "", by_rate);
    doc_set_tone(doc, lock->violated ? TONE_BAD : good ? TONE_PLAIN : TONE_WARN);
    doc_cell(doc, "%s", "");
    if (lock->answered) {
        doc_span(doc, DOC_PLAIN, "%s .. %s", number_text(lock->low, &number_plain, low),
                 number_text(lock->high, &number_plain, high));
    } else {
        doc_span(doc, DOC_PLAIN, "%s", NUMBER_NONE);
    }
}

static void add_lock(struct doc *doc, const struct capacity_lock *lock) {
    static const char *const limits[] = {"no answer", "the promise", "generator", "range"};
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", lock->lock);
    doc_cell(doc, "%s", doc_or(lock->slo, NUMBER_NONE));
    doc_cell(doc, "%s", doc_or(lock->by_word, NUMBER_NONE));
    add_answer(doc, lock);
    doc_cell(doc, "%s", limits[lock->limited_by]);
    add_load(doc, lock->modelled ? lock->capacity_per_s : NAN, "", true);
    doc_figure(doc, lock->wait_predicted_ns);
    doc_figure(doc, lock->wait_measured_ns);
    doc_cell(doc, "%s", words_guarantee_text(lock->guarantee));
    doc_cell(doc, "%s", doc_or(lock->durability, NUMBER_NONE));
    doc_cell(doc, "%s", doc_or(lock->server, NUMBER_NONE));
    doc_cell(doc, "%s", doc_or(lock->topology, NUMBER_NONE));
    doc_figure(doc, lock->probe_count);
    const char *why = lock->why ? lock->why : "";
    doc_cell(doc, "%s",
             lock->violated
                 ? "EXCLUSION VIOLATED: it let two in during the search, so it is no lock"
                 : why);
    doc_set_tone(doc, lock->violated ? TONE_BAD : *why ? TONE_WARN : TONE_PLAIN);
    if (lock->violated && *why) doc_span(doc, DOC_DETAIL, "%s", why);
}

void capacity_doc(const struct capacity *capacity, struct doc *doc) {
    bool models = any_model(capacity);
    unsigned shown = models ? 0 : DOC_CSV;
    const struct doc_column columns[] = {
        {.title = "lock"},
        {.title = "promise", .only = DOC_MARKDOWN | DOC_HTML | DOC_CSV},
        {.title = "by", .only = DOC_MARKDOWN | DOC_HTML | DOC_CSV},
        {.title = "carries", .right = true},
        {.title = "95 % interval", .right = true},
        {.title = "limited by"},
        {.title = "1/(hold+handoff)", .brief = "1/(hold+h.)", .right = true, .only = shown},
        {.title = "M/D/1 wait", .brief = "M/D/1", .figure = DOC_TIME, .only = shown},
        {.title = "measured", .figure = DOC_TIME, .only = shown},
        {.title = "guarantee", .brief = "", .below = true},
        {.title = "durability", .brief = "", .below = true, .joined = true, .words = true},
        {.title = "server", .brief = "", .below = true, .joined = true},
        {.title = "topology", .below = true, .joined = true},
        {.title = "probes", .figure = DOC_COUNT, .below = true, .joined = true},
        {.title = "why", .brief = "", .below = true, .words = true},
        {.title = NULL},
    };
    if (capacity->partial)
        doc_say(doc, TONE_WARN, "PARTIAL: %s", doc_or(capacity->partial_reason, NUMBER_NONE));
    if (capacity->lock_count == 0) return;
    add_question(doc, &capacity->locks[0]);
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < capacity->lock_count; i++) add_lock(doc, &capacity->locks[i]);
    doc_end(doc);
    if (!models) return;
    doc_say(
        doc, TONE_PLAIN,
        "1/(hold+handoff): grants of one key if each waits for a handoff, with hold and handoff "
        "as measured around the answer; one that nobody waited for may cost less. M/D/1: the mean "
        "wait that theory expects of a fair queue at the greatest rate below the answer that was "
        "probed; measured: the mean wait there, from due to granted.");
}
