/* capacity_doc: see capacity_doc.h. */
#include "report/capacity/capacity_doc.h"

#include <math.h>

#include "bench/base/output.h"
#include "report/doc/number.h"
#include "report/run/words.h"

static const char *const limits[] = {"no answer", "the promise", "generator", "range"};

/* The question that was the same for all locks of the file. */
static void add_question(struct doc *doc, const struct capacity_lock *lock) {
    char hold[80] = "", clients[NUMBER_TEXT_MAX];
    if (lock->hold) snprintf(hold, sizeof hold, ", hold %.60s", lock->hold);
    if (lock->by == CAPACITY_BY_RATE) {
        doc_say(
            doc, TONE_PLAIN,
            "The greatest rate of requests at random (Poisson) that keeps %s: keys %s%s, a pool of "
            "%s clients.",
            doc_or(lock->slo, NUMBER_NONE), doc_or(lock->keys, NUMBER_NONE), hold,
            number_count_text(lock->clients, clients));
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

/* The lowest probed load, if it broke the promise and no probe kept it: the lock carries less. NAN
 * otherwise. */
static double broken_from(const struct capacity_lock *lock) {
    const struct capacity_probe *lowest = lock->probes;
    for (int i = 0; i < lock->probe_count; i++) {
        if (lock->probes[i].verdict == PROMISE_KEPT) return NAN;
        if (lock->probes[i].value < lowest->value) lowest = &lock->probes[i];
    }
    return lock->probe_count > 0 && lowest->verdict == PROMISE_BROKEN ? lowest->value : NAN;
}

/* The load that a lock carries, and the sign before it: "at least" if the interval has no upper
 * end, "less than" a load that broke the promise if there is no answer. NAN: nothing is known. */
static double carries_of(const struct capacity_lock *lock, const char **ret_sign) {
    bool open = lock->answered && isnan(lock->high);
    double broken = lock->answered ? NAN : broken_from(lock);
    *ret_sign = open ? ">= " : isnan(broken) ? "" : "< ";
    return !lock->answered ? broken : open ? lock->low : lock->value;
}

static enum tone capacity_tone(const struct capacity_lock *lock) {
    bool good = lock->limited_by == CAPACITY_LIMIT_SLO || lock->limited_by == CAPACITY_LIMIT_RANGE;
    return lock->violated ? TONE_BAD : good ? TONE_PLAIN : TONE_WARN;
}

static void add_capacity_answer(struct doc *doc, const struct capacity_lock *lock) {
    char interval[WORDS_INTERVAL_MAX];
    const char *sign;
    double carries = carries_of(lock, &sign);
    add_load(doc, carries, sign, lock->by == CAPACITY_BY_RATE);
    doc_set_tone(doc, capacity_tone(lock));
    doc_cell(doc, "%s", lock->answered ? words_capacity_interval(lock, interval) : NUMBER_NONE);
}

static void add_capacity_lock(struct doc *doc, const struct capacity_lock *lock) {
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", lock->lock);
    doc_cell(doc, "%s", doc_or(lock->slo, NUMBER_NONE));
    doc_cell(doc, "%s", doc_or(lock->by_word, NUMBER_NONE));
    add_capacity_answer(doc, lock);
    doc_cell(doc, "%s", limits[lock->limited_by]);
    add_load(doc, lock->saturated_per_s, "", true);
    doc_cell(doc, "%s", words_guarantee_text(lock->guarantee));
    words_capacity_durability_cell(doc, lock);
    doc_cell(doc, "%s", doc_or(lock->server, NUMBER_NONE));
    doc_cell(doc, "%s", doc_or(lock->topology, NUMBER_NONE));
    doc_figure(doc, lock->probe_count);
    const char *why = lock->why ? lock->why : "";
    doc_cell(doc, "%s",
             lock->violated ? "Exclusion violated during the search: do not use it as a lock"
                            : why);
    doc_set_tone(doc, lock->violated ? TONE_BAD : *why ? TONE_WARN : TONE_PLAIN);
    if (lock->violated && *why) doc_span(doc, DOC_DETAIL, "%s", why);
}

/* Adds a sentence for each answer. */
static void add_answers(struct doc *doc, const struct capacity *capacity) {
    doc_box(doc);
    doc_set_only(doc, DOC_TERMINAL);
    for (int i = 0; i < capacity->lock_count; i++) {
        const struct capacity_lock *lock = &capacity->locks[i];
        char value[NUMBER_TEXT_MAX], interval[WORDS_INTERVAL_MAX];
        const char *sign, *unit = lock->by == CAPACITY_BY_RATE ? "/s" : " clients";
        double carries = carries_of(lock, &sign);
        if (isnan(carries))
            doc_say(doc, TONE_WARN, "%s: no answer", lock->lock);
        else
            doc_say(doc, lock->answered ? capacity_tone(lock) : TONE_WARN, "%s carries %s%s%s",
                    lock->lock, sign, number_text(carries, &number_plain, value), unit);
        doc_set_headline(doc);
        if (lock->answered)
            doc_span(doc, DOC_PLAIN, " (95 %%: %s), limited by %s",
                     words_capacity_interval(lock, interval),
                     lock->limited_by == CAPACITY_LIMIT_GENERATOR ? "the load generator"
                     : lock->limited_by == CAPACITY_LIMIT_RANGE   ? "the most that was tried"
                                                                  : limits[lock->limited_by]);
        if (lock->violated)
            doc_span(doc, DOC_PLAIN,
                     "; exclusion was violated during the search: do not use it as a lock");
    }
    doc_end(doc);
}

/* Adds when and on which machine the search ran, and the command that repeats it. */
static void add_notes(const struct capacity *capacity, struct doc *doc) {
    char machine[WORDS_MACHINE_MAX];
    words_machine(capacity->environment, machine, sizeof machine);
    doc_section(doc, "run", "The search");
    doc_say(doc, TONE_PLAIN, "%s to %s, %s %s%s%s; ", doc_or(capacity->started_at, "undated"),
            doc_or(capacity->ended_at, "its end"), doc_or(capacity->tool_name, "lockbench"),
            doc_or(capacity->tool_version, "of an unknown version"), *machine ? "; " : "", machine);
    doc_span(doc, DOC_INLINE, "%s", capacity->path);
    if (capacity->command) {
        doc_say(doc, TONE_PLAIN, "Run it again:");
        doc_code(doc, capacity->command);
    }
    doc_end(doc);
}

static bool any_closed_loop(const struct capacity *capacity) {
    bool any = false;
    for (int i = 0; i < capacity->lock_count; i++)
        any |= !isnan(capacity->locks[i].saturated_per_s);
    return any;
}

static void add_locks(const struct capacity *capacity, struct doc *doc) {
    bool loops = any_closed_loop(capacity);
    const struct doc_column columns[] = {
        {.title = "lock"},
        {.title = "promise", .only = DOC_MARKDOWN},
        {.title = "by", .only = DOC_MARKDOWN},
        {.title = "carries", .right = true},
        {.title = "95 % interval", .right = true},
        {.title = "limited by"},
        {.title = "closed loop", .right = true, .only = loops ? 0 : DOC_NONE},
        {.title = "guarantee", .brief = "", .below = true},
        {.title = "durability", .brief = "", .below = true, .joined = true, .words = true},
        {.title = "server", .brief = "", .below = true, .joined = true},
        {.title = "topology", .below = true, .joined = true},
        {.title = "probes", .figure = DOC_COUNT, .below = true, .joined = true},
        {.title = "why", .brief = "", .below = true, .words = true},
        {.title = NULL},
    };
    add_answers(doc, capacity);
    add_question(doc, &capacity->locks[0]);
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < capacity->lock_count; i++) add_capacity_lock(doc, &capacity->locks[i]);
    doc_end(doc);
    if (loops)
        doc_say(doc, TONE_PLAIN,
                "closed loop: what the lock granted in 3 s before the search, on a hot key to at "
                "most 8 clients, which always waited.");
}

static void add_capacity(const struct capacity *capacity, struct doc *doc) {
    if (capacity->partial)
        doc_say(doc, TONE_WARN, "Partial: %s", doc_or(capacity->partial_reason, NUMBER_NONE));
    if (capacity->lock_count > 0) add_locks(capacity, doc);
    add_notes(capacity, doc);
}

int capacity_write(const struct capacity *capacity, enum report_format format, bool color,
                   FILE *out, struct lb_err *err) {
    if (format == REPORT_JSON)
        return output_json(json_incref(capacity->root), JSON_INDENT(1) | JSON_REAL_PRECISION(10),
                           out, "the report", err);
    struct doc doc = {0};
    add_capacity(capacity, &doc);
    return doc_write_and_free(&doc, report_doc_format(format), color, out, err);
}
