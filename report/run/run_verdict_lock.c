/* run_verdict_lock: sentences about one lock: what was seen of it, which requests failed, when it was away. See
 * run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- exclusion ---- */

static const char *plural(double count) {
    return count == 1 ? "" : "s";
}

/* The thing that must end before the server lets another client in: "lease", or "session" if there is no lease. */
static const char *lease_of(const struct run_stage *stage) {
    return words_is_leased(stage) ? "lease" : "session";
}

/* Adds the two clients of the first overlap. */
static void add_overlap(struct doc *doc, const struct run_stage *stage) {
    const json_t *holder = json_object_get(stage->overlap, "holder");
    const json_t *intruder = json_object_get(stage->overlap, "intruder");
    double held = result_number(holder, "client"), entered = result_number(intruder, "client");
    double key = result_number(stage->overlap, "key");
    char time[NUMBER_TEXT_MAX];
    if (isnan(held) || isnan(entered)) return;
    doc_span(doc, DOC_PLAIN, " First%s%s: client %.0f was admitted while client %.0f held",
             stage->id ? " in " : "", doc_or(stage->id, ""), entered, held);
    if (!isnan(key)) doc_span(doc, DOC_PLAIN, " key %.0f", key);
    double left = result_number(holder, "lease_end_ns") - result_number(intruder, "acquired_ns");
    if (fabs(left) < 1e15)
        doc_span(doc, DOC_PLAIN, ", %s %s its %s's end", number_time_text(fabs(left), time),
                 left < 0 ? "past" : "before", lease_of(stage));
    doc_span(doc, DOC_PLAIN, ".");
}

/* Adds "1 lost update, 2 second holders in 48,092 grants": what was seen. */
static void add_seen(struct doc *doc, const struct report_lock *lock) {
    const struct {
        double count;
        const char *what, *after;
    } parts[] = {
        {lock->sums.lost_updates, "lost update", ""},
        {lock->sums.double_holders, "second holder", ""},
        {lock->sums.expired_holders, "holder",
         words_is_leased(lock->stage) ? " past the lease's end" : " past the session's end"},
        {lock->sums.revoked, "grant", " lost inside the lease or session"},
        {lock->sums.ended, "session", " ended by the server"},
        {lock->sums.token_errors, "fencing token", " that did not grow"},
        {lock->sums.stuck, "key", " that nobody gets any more"},
        {lock->sums.held_elsewhere, "key", " held by somebody else in the end"},
        {lock->sums.passed_over, "client", " without a grant for the whole window"},
        {lock->sums.starved, "wait", " ended by the drain limit (run.drain)"},
    };
    const char *before = "";
    char count[NUMBER_TEXT_MAX];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!(parts[i].count > 0)) continue;
        doc_span(doc, DOC_PLAIN, "%s%s %s%s%s", before, number_count_text(parts[i].count, count),
                 parts[i].what, plural(parts[i].count), parts[i].after);
        before = ", ";
    }
    doc_span(doc, DOC_PLAIN, " in %s grants.", number_count_text(lock->sums.checked_grants, count));
}

/* Under a rate that the lock does not carry, the grants of the window may all be those of older requests. */
static void add_unchecked(struct doc *doc, const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    char text[NUMBER_TEXT_MAX], due[NUMBER_TEXT_MAX];
    doc_span(doc, DOC_PLAIN, "no request of the measured window was granted");
    if (lock->sums.checked_grants > 0)
        doc_span(doc, DOC_PLAIN, " (%s grant%s went to requests from before or after it)",
                 number_count_text(lock->sums.checked_grants, text),
                 plural(lock->sums.checked_grants));
    if (stage->missed > 0)
        doc_span(doc, DOC_PLAIN, "; %s of its %s requests could not be started in it",
                 number_count_text(stage->missed, text), number_count_text(stage->due, due));
    doc_span(doc, DOC_PLAIN, ".");
}

static void say_lock(struct doc *doc, const struct report_lock *lock) {
    bool seen =
        (lock->state >= LOCK_CAUGHT && lock->state != LOCK_MISSED) || lock->sums.token_errors > 0;
    if (!seen && lock->state != LOCK_HIDDEN && lock->state != LOCK_UNCHECKED) return;
    doc_say(doc, words_state_tone(lock->state), "%s: ", lock->label);
    if (lock->state == LOCK_CAUGHT)
        doc_span(doc, DOC_PLAIN, "broken on purpose, and caught, as it must be: ");
    if (lock->state == LOCK_HIDDEN)
        doc_span(doc, DOC_PLAIN,
                 "broken on purpose, in a way that this workload does not show: %s does.",
                 lock->stage->exposed_by);
    if (lock->state == LOCK_UNCHECKED) add_unchecked(doc, lock);
    if (seen) add_seen(doc, lock);
    if (seen && lock->ending && lock->ending->error)
        doc_span(doc, DOC_PLAIN, " It said: %s.", lock->ending->error);
    bool overlapped = lock->state == LOCK_VIOLATED || lock->state == LOCK_EXPIRED ||
                      lock->state == LOCK_REVOKED || lock->state == LOCK_ENDED;
    if (overlapped && lock->overlap) add_overlap(doc, lock->overlap);
}

static void say_residue(struct doc *doc, const struct report_lock *lock) {
    char count[NUMBER_TEXT_MAX];
    const struct run_stage *stage = lock->residue;
    if (!stage) return;
    doc_say(doc, TONE_WARN, "%s left %s thing%s on the server%s%s%s%s.", lock->label,
            number_count_text(stage->residue, count), plural(stage->residue),
            stage->id ? " after " : "", doc_or(stage->id, ""),
            stage->residue_example && *stage->residue_example ? ", e.g. " : "",
            doc_or(stage->residue_example, ""));
}

void run_verdict_lock(const struct report_lock *lock, struct doc *doc) {
    say_lock(doc, lock);
    say_residue(doc, lock);
}

/* ---- requests that failed ---- */

/* A second without a grant is no chance where the median second has so many: by Poisson's law one of
 * 20,000 has none. */
#define USUAL_GRANTS 10

struct failures {
    double attempts, failed, lost;
    int empty_seconds;
    bool halves;       /* the seconds are half ones */
    const char *error; /* the first that a stage names, or NULL */
};

static bool has_planned_fault(const struct run_stage *stage) {
    return stage->fault && strcmp(stage->fault, "none") != 0;
}

bool run_failed_mostly(const struct run_stage *stage) {
    /* A planned fault breaks requests by design, and clients ask again and again meanwhile. */
    if (has_planned_fault(stage) && stage->ok > 0) return false;
    return stage->attempts > 0 && run_failed_requests(stage) > stage->attempts / 2;
}

/* How long an element of the series is: with slo.stop half a second. */
static double second_s(const struct run_stage *stage) {
    const json_t *next = json_array_get(stage->series, 1);
    double begin_s = json_number_value(json_object_get(next, "t_s"));
    return begin_s > 0 && begin_s < 0.75 ? 0.5 : 1;
}

/* The grants in a whole second of the window; NAN for other elements of the series. */
static double grants_in(const struct run_stage *stage, const json_t *second) {
    double from_s = json_number_value(json_object_get(second, "t_s"));
    const json_t *ok = json_object_get(second, "ok");
    bool whole = !json_is_true(json_object_get(second, "draining")) && from_s >= 0 &&
                 from_s + second_s(stage) <= stage->duration_s;
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
    bool usual = number_median(grants, (int)count) >= USUAL_GRANTS &&
                 !(stage->inside_mean_ns >= 5e8 * second_s(stage)); /* all hold, nobody asks */
    free(grants);
    return usual ? empty : 0;
}

/* Over the lock's stages in which most requests failed; or over the others without a planned fault. */
static struct failures failures_of(const struct report *report, const struct report_lock *lock,
                                   bool mostly) {
    const struct run *run = report->run;
    struct failures sum = {0};
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        if (!report_is_of(lock, stage) || run_failed_mostly(stage) != mostly) continue;
        if (!mostly && has_planned_fault(stage)) continue;
        sum.attempts += report_count(stage->attempts);
        sum.failed += run_failed_requests(stage);
        sum.lost += report_count(stage->lost);
        sum.empty_seconds += empty_seconds(stage);
        sum.halves |= second_s(stage) < 1;
        if (!sum.error) sum.error = stage->error;
    }
    return sum;
}

static void say_failures(struct doc *doc, const struct report_lock *lock,
                         const struct failures *sum) {
    char failed[NUMBER_TEXT_MAX], attempts[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX];
    doc_say(doc, TONE_WARN, "%s: ", lock->label);
    const char *blank = "";
    if (sum->failed > 0) {
        doc_span(doc, DOC_PLAIN, "%s of %s requests failed%s%s.",
                 number_count_text(sum->failed, failed), number_count_text(sum->attempts, attempts),
                 sum->error ? ": " : "", doc_or(sum->error, ""));
        blank = " ";
    }
    if (sum->lost > 0) {
        doc_span(doc, DOC_PLAIN, "%s%s of its grants %s lost.", blank,
                 number_count_text(sum->lost, lost), sum->lost == 1 ? "was" : "were");
        blank = " ";
    }
    if (sum->empty_seconds > 0)
        doc_span(doc, DOC_PLAIN, "%sNothing was granted for %d %s second%s.", blank,
                 sum->empty_seconds, sum->halves ? "half" : "whole", plural(sum->empty_seconds));
}

void run_failed(const struct report *report, bool mostly, int most, struct doc *doc, bool *headed) {
    int said = 0;
    for (int i = 0; i < report->lock_count; i++) {
        struct failures sum = failures_of(report, &report->locks[i], mostly);
        if (sum.failed + sum.lost + sum.empty_seconds == 0 || said++ >= most) continue;
        say_failures(doc, &report->locks[i], &sum);
        if (!headed) continue;
        if (!*headed) doc_set_headline(doc);
        *headed = true;
        doc_set_shown(doc);
    }
    if (said > most)
        doc_span(doc, DOC_PLAIN, " The same for %d more lock%s.", said - most, plural(said - most));
}
