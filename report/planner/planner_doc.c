/* planner_doc: a planner's answers as a document. See planner.h. */
#include <math.h>

#include "report/doc/number.h"
#include "report/planner/planner.h"
#include "report/run/words.h"

#define TIGHT 1.2 /* margins below this are called tight */

static enum tone planner_tone(const struct planner_answer *answer) {
    static const enum tone tones[] = {TONE_GOOD, TONE_WARN, TONE_WARN, TONE_BAD};
    return answer->verdict == PLANNER_CARRIES && answer->margin < TIGHT ? TONE_WARN
                                                                        : tones[answer->verdict];
}

/* "carries 2.30x", "carries 1.10x, tight", "too much", and the basis if that is the model. */
static char *verdict_text(const struct planner_answer *answer, char *text, size_t size) {
    char margin[NUMBER_TEXT_MAX + 20] = "", times[NUMBER_TEXT_MAX];
    number_text(answer->margin, &number_plain, times);
    if (answer->verdict == PLANNER_CARRIES)
        snprintf(margin, sizeof margin, " %sx%s", times, answer->margin < TIGHT ? ", tight" : "");
    if (answer->verdict == PLANNER_TOO_MUCH && !isnan(answer->margin))
        snprintf(margin, sizeof margin, ", at most %sx", times);
    snprintf(text, size, "%s%s%s", planner_word(answer->verdict), margin,
             answer->model && answer->verdict != PLANNER_UNKNOWN ? " (model)" : "");
    return text;
}

static const char *impossible_text(const struct planner *planner, char *text, size_t size) {
    const struct planner_ask *ask = &planner->ask;
    char rate[NUMBER_TEXT_MAX], keys[NUMBER_TEXT_MAX], hold[NUMBER_TEXT_MAX],
        percent[NUMBER_TEXT_MAX];
    snprintf(text, size,
             "No mutex can: %s/s on %s key%s, each held for %s%s, hold %s for %s %% of the time.",
             number_text(ask->rate, &number_plain, rate), number_count_text(ask->keys, keys),
             ask->keys == 1 ? "" : "s",
             number_time_text(planner->held * ask->keys / ask->rate * 1e9, hold),
             isnan(ask->hold_ns) ? " as measured" : "", ask->keys == 1 ? "it" : "each",
             number_text(100 * planner->held, &number_plain, percent));
    return text;
}

/* "390/s (360 .. 425) for acquire_due.p99<=20ms, hold 1ms, keys 1, 64 clients; redis 7.0.15;
 * results/... of 2026-..." */
static char *evidence_text(const struct planner_answer *answer, char *text, size_t size) {
    const struct capacity_lock *lock = answer->lock;
    char value[NUMBER_TEXT_MAX], interval[WORDS_INTERVAL_MAX], clients[NUMBER_TEXT_MAX], found[200];
    const char *unit = lock->by == CAPACITY_BY_RATE ? "/s" : " clients";
    snprintf(found, sizeof found, "%s%s (%s)", number_text(lock->value, &number_plain, value), unit,
             words_capacity_interval(lock, interval));
    snprintf(text, size, "%s for %s, hold %s, keys %s, %s clients; %s; %s of %s",
             lock->answered ? found : "no answer", doc_or(lock->slo, "not stated"),
             doc_or(lock->hold, "not stated"), doc_or(lock->keys, "not stated"),
             number_count_text(lock->clients, clients), doc_or(lock->server, "not stated"),
             answer->from->dir, doc_or(answer->from->started_at, "not stated"));
    return text;
}

static const struct doc_column columns[] = {
    {.title = "lock"},
    {.title = "verdict",
     .help = "the verdict, and the margin: the load that certainly keeps the promise (too much: "
             "certainly breaks it), divided by the load asked for"},
    {.title = "guarantee"},
    {.title = "topology"},
    {.title = "durability", .words = true},
    {.title = "why", .brief = "", .words = true, .below = true},
    {.title = "measured", .words = true, .below = true},
    {.title = NULL},
};

static void add_planner_answer(struct doc *doc, const struct planner_answer *answer) {
    const struct capacity_lock *lock = answer->lock;
    char text[600];
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", lock->lock);
    doc_cell(doc, "%s", verdict_text(answer, text, sizeof text));
    doc_set_tone(doc, planner_tone(answer));
    doc_cell(doc, "%s", words_guarantee_text(lock->guarantee));
    doc_cell(doc, "%s", doc_or(lock->topology, "not stated"));
    words_capacity_durability_cell(doc, lock);
    doc_cell(doc, "%s", answer->why ? answer->why : "");
    if (answer->settle) doc_command(doc, "would settle it", answer->settle);
    doc_cell(doc, "%s", evidence_text(answer, text, sizeof text));
}

static void add_left_out(const struct planner *planner, struct doc *doc) {
    if (planner->unsafe > 0)
        doc_say(doc, TONE_PLAIN,
                "Left out: %d without any guarantee (locks broken on purpose, and baselines).",
                planner->unsafe);
}

/* A sentence for each file that was cut off and has given an answer. */
static void add_partial(const struct planner *planner, struct doc *doc) {
    for (int i = 0; i < planner->count; i++) {
        const struct capacity *from = planner->answers[i].from;
        bool said = !from->partial;
        for (int before = 0; before < i; before++) said |= planner->answers[before].from == from;
        if (said) continue;
        doc_say(doc, TONE_WARN,
                "PARTIAL: %s: %s. Locks may be missing in it, and the answer of %s, its last lock, "
                "may be of fewer probes than usual.",
                from->path, doc_or(from->partial_reason, "the search was cut off"),
                from->locks[from->lock_count - 1].lock);
    }
}

void planner_doc(const struct planner *planner, struct doc *doc) {
    char text[600];
    doc_say(doc, TONE_PLAIN, "%s", planner_ask_text(&planner->ask, text, sizeof text));
    doc_set_headline(doc);
    if (planner->impossible)
        doc_say(doc, TONE_BAD, "%s", impossible_text(planner, text, sizeof text));
    if (planner->count == 0) {
        doc_say(doc, TONE_WARN, "No capacity of %s was measured.",
                planner->ask.lock ? planner->ask.lock : "any lock");
        if (planner->settle) doc_command(doc, "would settle it", planner->settle);
        add_left_out(planner, doc);
        return;
    }
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < planner->count; i++) add_planner_answer(doc, &planner->answers[i]);
    doc_end(doc);
    add_partial(planner, doc);
    add_left_out(planner, doc);
    doc_say(
        doc, TONE_PLAIN,
        "The order is not by speed: the locks that carry the load come first, then the stronger "
        "guarantee, the more durable setting and the greater margin. The margin is the load at "
        "which the lock certainly keeps the promise, divided by the load that was asked for.");
}
