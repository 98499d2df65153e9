/* run_verdict_lock: what the verdict says about one lock. See run_doc.h. */
#include <math.h>

#include "report/run/run_doc.h"

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
