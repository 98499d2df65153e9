/* run_verdict_lock: sentences about one lock: how it failed, which requests failed, when it was away. See
 * run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- exclusion ---- */

static const char *plural(double count) {
    return count == 1 ? "" : "s";
}

/* Adds the two clients of the first overlap. */
static void add_overlap(struct doc *doc, const struct run_stage *stage) {
    const struct run_holder *holder = &stage->holder, *intruder = &stage->intruder;
    char time[NUMBER_TEXT_MAX];
    if (isnan(holder->client) || isnan(intruder->client)) return;
    doc_span(doc, DOC_PLAIN, " First seen%s%s: client %.0f was admitted while client %.0f held",
             stage->id ? " in " : "", stage->id ? stage->id : "", intruder->client, holder->client);
    if (!isnan(stage->overlap_key)) doc_span(doc, DOC_PLAIN, " key %.0f", stage->overlap_key);
    double after = intruder->acquired_ns - holder->acquired_ns;
    if (after >= 0) doc_span(doc, DOC_PLAIN, ", %s after its grant", number_time_text(after, time));
    double left = holder->lease_end_ns - intruder->acquired_ns;
    if (left >= 0 && left < 1e15)
        doc_span(doc, DOC_PLAIN, " and %s before its %s's end", number_time_text(left, time),
                 words_lease(stage));
    if (left < 0)
        doc_span(doc, DOC_PLAIN, " and %s past its %s's end", number_time_text(-left, time),
                 words_lease(stage));
    doc_span(doc, DOC_PLAIN, ".");
}

/* Whether clients saw something as it happened. Holders on several hosts share no memory, and only the history shows
 * what they did. */
static bool is_seen(const struct report_lock *lock) {
    return lock->lost_updates + lock->double_holders > 0 ||
           (lock->history_violations == 0 &&
            (lock->history_expired == 0 || lock->expired_holders > 0));
}

/* Adds the findings about a lock that let two clients hold at once, or about a control that was
 * caught. A control that was caught by something else has no overlaps to tell. */
static void add_broken(struct doc *doc, const struct report_lock *lock) {
    const char *workload = lock->stage->workload, *comma = " ";
    bool overlapped = lock->lost_updates + lock->double_holders > 0;
    bool other = lock->early + lock->oversold + lock->history_violations + lock->history_expired +
                     lock->expired_holders + lock->stuck >
                 0;
    bool overlaps = (overlapped || !other) && is_seen(lock);
    bool leased = words_is_leased(lock->stage);
    const struct {
        double count;
        const char *what, *after;
        bool shown;
    } parts[] = {
        {lock->lost_updates, "lost update", "", overlaps},
        {lock->double_holders, "second holder", "", overlaps},
        {lock->early, "client", " let through before the count was down", lock->early > 0},
        {lock->oversold, "piece", " sold that were not there", lock->oversold > 0},
        {lock->history_expired, "outlived lease", " in the history of operations",
         lock->history_expired > 0 && lock->expired_holders == 0},
        {lock->history_violations, "violation", " in the history of operations",
         lock->history_violations > 0},
        {lock->expired_holders, "holder",
         leased ? " past the lease's end" : " past the session's end",
         lock->expired_holders > 0 && (workload || !overlapped)},
        {lock->stuck, "key", " that nobody gets any more", lock->stuck > 0},
    };
    char count[NUMBER_TEXT_MAX];
    if (lock->state == LOCK_CAUGHT) {
        doc_span(doc, DOC_PLAIN,
                 "%s is broken on purpose and was caught%s%s, as it must be:", lock->label,
                 workload ? " by " : "", workload ? workload : "");
    } else {
        doc_span(doc, DOC_PLAIN, "%s let two clients in at once:", lock->label);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].shown) continue;
        /* Adds "1 lost update and 2 second holders, 3 pieces sold ..." */
        doc_span(doc, DOC_PLAIN, "%s%s %s%s%s", i == 1 ? " and " : comma,
                 number_count_text(parts[i].count, count), parts[i].what, plural(parts[i].count),
                 parts[i].after);
        comma = ", ";
    }
    doc_span(doc, DOC_PLAIN, " in %s grants.", number_count_text(lock->grants, count));
}

static void say_residue(struct doc *doc, const struct report_lock *lock) {
    char count[NUMBER_TEXT_MAX];
    const struct run_stage *stage = lock->residue;
    if (!stage) return;
    doc_say(doc, TONE_WARN, "LEFT BEHIND: %s left %s thing%s on the server%s%s%s%s.", lock->label,
            number_count_text(stage->residue, count), plural(stage->residue),
            stage->id ? " after " : "", stage->id ? stage->id : "",
            stage->residue_example && *stage->residue_example ? ", e.g. " : "",
            stage->residue_example ? stage->residue_example : "");
}

/* Under a rate that the lock does not carry, the grants of the window may all be those of older requests. */
static void add_unchecked(struct doc *doc, const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    char text[NUMBER_TEXT_MAX], due[NUMBER_TEXT_MAX];
    doc_span(doc, DOC_PLAIN, "%s is %s: no request of the measured window was granted", lock->label,
             words_state(lock->state));
    if (lock->grants > 0)
        doc_span(doc, DOC_PLAIN, " (%s grant%s went to requests from before or after it)",
                 number_count_text(lock->grants, text), plural(lock->grants));
    doc_span(doc, DOC_PLAIN, ".");
    if (stage->missed > 0)
        doc_span(
            doc, DOC_PLAIN,
            " %s of its %s requests could not be started in it, since earlier ones still waited: the "
            "rate was too high.",
            number_count_text(stage->missed, text), number_count_text(stage->due, due));
}

/* Adds the findings about a lock, by its state. */
static void add_state(struct doc *doc, const struct report_lock *lock) {
    char twice[NUMBER_TEXT_MAX], grants[NUMBER_TEXT_MAX];
    bool leased = words_is_leased(lock->stage);
    switch (lock->state) {
    case LOCK_VIOLATED:
    case LOCK_CAUGHT:
        add_broken(doc, lock);
        break;
    case LOCK_STUCK:
        doc_span(doc, DOC_PLAIN, "%s left %s key%s free but that no client gets any more.",
                 lock->label, number_count_text(lock->stuck, twice),
                 lock->stuck == 1 ? " that is" : "s that are");
        break;
    case LOCK_STARVED:
        doc_span(doc, DOC_PLAIN,
                 "%s left %s wait%s without an end: the drain limit (run.drain) ended them.",
                 lock->label, number_count_text(lock->starved, twice), plural(lock->starved));
        break;
    case LOCK_EXPIRED:
        number_count_text(lock->grants, grants);
        number_count_text(fmax(lock->expired_holders, lock->history_expired), twice);
        doc_span(
            doc, DOC_PLAIN,
            "%s admitted %s client%s whose predecessor still worked: its %s had ended%s, in %s grants. "
            "The lock kept its promise; without fencing the work was not exclusive.",
            lock->label, twice, plural(fmax(lock->expired_holders, lock->history_expired)),
            words_lease(lock->stage), leased ? "" : ", and it did not notice", grants);
        break;
    case LOCK_ALONE:
        doc_span(
            doc, DOC_PLAIN,
            "%s is %s: no client had to wait for another holder, so whether it excludes is not known.",
            lock->label, words_state(lock->state));
        break;
    case LOCK_HIDDEN:
        doc_span(doc, DOC_PLAIN,
                 "%s is broken on purpose, in a way that this workload does not show: %s does.",
                 lock->label, lock->stage->exposed_by);
        break;
    case LOCK_UNCHECKED:
        add_unchecked(doc, lock);
        break;
    default:
        break;
    }
}

static void say_lock(struct doc *doc, const struct report_lock *lock, bool tested) {
    char tokens[NUMBER_TEXT_MAX];
    bool odd = lock->state == LOCK_ALONE || lock->state == LOCK_HIDDEN ||
               (lock->token_errors > 0 && lock->state < LOCK_EXPIRED);
    bool silent = lock->state == LOCK_BASELINE || lock->state == LOCK_CLEAN ||
                  lock->state == LOCK_MISSED || lock->state == LOCK_TOKENS ||
                  (lock->state == LOCK_ALONE && !(tested && report_is_real(lock->stage)));
    if (silent && !(lock->token_errors > 0)) return;
    doc_say(doc, odd ? TONE_WARN : words_state_tone(lock->state), "%s", "");
    if (!(silent && lock->state == LOCK_ALONE)) add_state(doc, lock);
    if (lock->token_errors > 0) {
        doc_span(doc, DOC_PLAIN, "%s%s's fencing tokens did not grow %s time%s.", silent ? "" : " ",
                 lock->label, number_count_text(lock->token_errors, tokens),
                 plural(lock->token_errors));
    }
    bool overlapped = lock->state == LOCK_VIOLATED || lock->state == LOCK_EXPIRED;
    if (overlapped && lock->overlap) add_overlap(doc, lock->overlap);
}

void run_verdict_lock(const struct report_lock *lock, bool tested, struct doc *doc) {
    say_lock(doc, lock, tested);
    say_residue(doc, lock);
}

/* ---- failed requests ---- */

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
