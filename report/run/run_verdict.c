/* run_verdict: the verdict of a report in sentences: first whether every lock excluded, or what was found instead, then what
 * makes the figures doubtful, then the sentences of each lock, and last what ran on which servers. See run_doc.h. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bench/base/verdict.h"
#include "report/run/run_doc.h"

/* Controls, baselines and the simulator are not counted among the locks that are clean or were not
 * tested. */
static bool is_in(const struct report_lock *lock, enum lock_state state) {
    bool silent = state == LOCK_CLEAN || state == LOCK_ALONE || state == LOCK_UNCHECKED;
    return lock->state == state && (!silent || report_is_real(lock->stage));
}

static int count_state(const struct report *report, enum lock_state state) {
    int count = 0;
    for (int i = 0; i < report->lock_count; i++) count += is_in(&report->locks[i], state);
    return count;
}

#define FAILED_SAID 3 /* locks most of whose requests failed */
#define NAMES_MAX 8   /* in a sentence; the tables have all */

struct names {
    const char *name[NAMES_MAX];
    int count;
};

static void note(struct names *names, const char *name) {
    if (names->count < NAMES_MAX) names->name[names->count] = name;
    names->count++;
}

/* Adds "a, b and c", or "a, b and 7 more", to the last sentence. */
static void add_names(struct doc *doc, const struct names *names) {
    int more = names->count - NAMES_MAX;
    for (int i = 0; i < names->count && i < NAMES_MAX; i++)
        doc_span(doc, DOC_PLAIN, "%s%s",
                 i == 0                               ? ""
                 : i == names->count - 1 && more <= 0 ? " and "
                                                      : ", ",
                 names->name[i]);
    if (more > 0) doc_span(doc, DOC_PLAIN, " and %d more", more);
}

/* Adds all locks in a state. */
static void add_lock_names(struct doc *doc, const struct report *report, enum lock_state state) {
    struct names names = {.count = 0};
    for (int i = 0; i < report->lock_count; i++)
        if (is_in(&report->locks[i], state)) note(&names, report->locks[i].label);
    add_names(doc, &names);
}

/* ---- what is missing ---- */

/* Adds " Not reached: a, b and c." Such locks are in no table. */
static void add_not_reached(struct doc *doc, const struct run *run) {
    struct names names = {.count = 0};
    size_t at = 0;
    for (const char *lock; (lock = report_not_reached(run, &at));) note(&names, lock);
    if (names.count == 0) return;
    doc_span(doc, DOC_PLAIN, " Not reached: ");
    add_names(doc, &names);
    doc_span(doc, DOC_PLAIN, ".");
    doc_set_shown(doc);
}

static void say_partial(struct doc *doc, const struct run *run) {
    int incomplete = 0;
    for (int s = 0; s < run->stage_count; s++) incomplete += report_incomplete(&run->stages[s]);
    if (!run->partial && incomplete == 0 && report_count_not_reached(run) == 0) return;
    doc_say(doc, TONE_WARN, "Incomplete%s%s", run->partial_reason ? ": " : "",
            doc_or(run->partial_reason, ""));
    if (incomplete > 0)
        doc_span(doc, DOC_PLAIN, " (%d of %d stages)", incomplete, run->stage_count);
    doc_span(doc, DOC_PLAIN, ".");
    add_not_reached(doc, run);
}

/* ---- whether the locks exclude ---- */

/* Begins the first of the sentences that answer the question. */
static void set_headline(struct doc *doc, bool *headed) {
    if (!*headed) doc_set_headline(doc);
    *headed = true;
}

/* Adds " (untested: a and b)". */
static void add_others(struct doc *doc, const struct report *report, enum lock_state state) {
    if (count_state(report, state) == 0) return;
    doc_span(doc, DOC_PLAIN, " (%s: ", words_state(state));
    add_lock_names(doc, report, state);
    doc_span(doc, DOC_PLAIN, ")");
}

/* Says how many locks excluded, of how many: "every lock" only if none failed and all were tested. */
static void say_how_many(struct doc *doc, const struct report *report, const char *one,
                         double grants) {
    int clean = count_state(report, LOCK_CLEAN), all = 0;
    for (int state = LOCK_ALONE; state <= LOCK_VIOLATED; state++)
        if (state != LOCK_HIDDEN && state != LOCK_CAUGHT && state != LOCK_MISSED)
            all += count_state(report, (enum lock_state)state);
    char total[NUMBER_TEXT_MAX];
    bool whole = report_count_not_reached(report->run) == 0;
    if (clean == 1) {
        doc_say(doc, whole ? TONE_GOOD : TONE_WARN, "%s excluded", one);
    } else if (clean == all && whole) {
        doc_say(doc, TONE_GOOD, "Every lock excluded: %d locks", clean);
    } else {
        doc_say(doc, whole ? TONE_GOOD : TONE_WARN, "%d of the %d locks%s excluded", clean, all,
                whole ? "" : " that ran");
    }
    add_others(doc, report, LOCK_ALONE);
    add_others(doc, report, LOCK_UNCHECKED);
    doc_span(doc, DOC_PLAIN, ", no overlap in %s grants to competing clients.",
             number_count_text(grants, total));
    if (count_state(report, LOCK_CAUGHT) == 0) return;
    doc_span(doc, DOC_PLAIN, " Broken on purpose, and caught: ");
    add_lock_names(doc, report, LOCK_CAUGHT);
    doc_span(doc, DOC_PLAIN, ".");
}

static void say_clean(struct doc *doc, const struct report *report, bool *headed) {
    const struct report_lock *least = NULL; /* of those whose bound holds */
    const char *one = NULL;
    double grants = 0;
    char few[NUMBER_TEXT_MAX], one_in[NUMBER_TEXT_MAX];
    for (int i = 0; i < report->lock_count; i++) {
        const struct report_lock *lock = &report->locks[i];
        if (!is_in(lock, LOCK_CLEAN)) continue;
        grants += lock->competing;
        one = lock->label;
        if (report_hardly_tested(lock)) continue;
        if (!least || lock->competing < least->competing) least = lock;
    }
    if (!one) return;
    say_how_many(doc, report, one, grants);
    set_headline(doc, headed);
    if (!least) return; /* all were hardly tested: no bound holds */
    doc_span(doc, DOC_PLAIN, " Least tried: %s, %s such grants, ", least->label,
             number_count_text(least->competing, few));
    if (isnan(report_bound(least)))
        doc_span(doc, DOC_PLAIN, "too few for a bound.");
    else
        doc_span(doc, DOC_PLAIN, "so fewer than 1 in %s overlaps (bound 3/n, 95 %%).",
                 number_count_text(floor(least->competing / 3), one_in));
}

/* Adds the uncertainty of the clocks of several hosts to the bound. */
static void say_apart(struct doc *doc, const struct report *report) {
    double unseen_ns = NAN;
    char text[NUMBER_TEXT_MAX];
    for (int i = 0; i < report->lock_count; i++) {
        if (is_in(&report->locks[i], LOCK_CLEAN))
            unseen_ns = fmax(unseen_ns, run_hosts_lock_unseen_ns(report, &report->locks[i]));
    }
    if (!isnan(unseen_ns))
        doc_say(
            doc, TONE_PLAIN,
            "Between hosts, overlaps shorter than %s may go unseen (four times the error of the "
            "clocks).",
            number_time_text(unseen_ns, text));
    run_hosts_say_lost(report->run, doc);
}

/* A second grant that arrives a round trip later finds that the holder has gone. */
static void say_hardly_tested(struct doc *doc, const struct report *report, bool *headed) {
    const struct report_lock *longest = NULL;
    int count = 0;
    for (int i = 0; i < report->lock_count; i++) {
        const struct report_lock *lock = &report->locks[i];
        if (lock->state != LOCK_CLEAN || !report_hardly_tested(lock)) continue;
        if (!longest || lock->inside_ns > longest->inside_ns) longest = lock;
        count++;
    }
    if (!longest) return;
    char inside[NUMBER_TEXT_MAX], trip[NUMBER_TEXT_MAX];
    doc_say(doc, TONE_WARN,
            "Exclusion was hardly tested for %d lock%s: %s was held for %s, less than a round trip "
            "(%s). Set load.hold to a round trip or more.",
            count, count == 1 ? "" : "s", longest->label,
            number_time_text(longest->inside_ns, inside),
            number_time_text(longest->round_trip_ns, trip));
    set_headline(doc, headed);
}

static bool any_well_tested(const struct report *report) {
    bool any = false;
    for (int i = 0; i < report->lock_count; i++)
        any |= is_in(&report->locks[i], LOCK_CLEAN) && !report_hardly_tested(&report->locks[i]);
    return any;
}

static bool showed(const struct report_lock *lock, const char *verdict) {
    return is_in(lock, LOCK_CAUGHT) && strcmp(doc_or(lock->stage->verdict, ""), verdict) == 0;
}

/* The controls that make the verdict of a run: those that were run by their names are judged like any lock. */
static struct names chosen(const struct report *report) {
    static const enum verdict bad[] = {VERDICT_VIOLATED, VERDICT_EXPIRED, VERDICT_STUCK};
    const struct run *run = report->run;
    bool is_bad = false;
    struct names names = {.count = 0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_bad |= verdict_is(run->verdict, bad[i]);
    for (int s = 0; s < run->stage_count && is_bad; s++)
        is_bad =
            run->stages[s].control || strcmp(doc_or(run->stages[s].verdict, ""), run->verdict) != 0;
    for (int i = 0; i < report->lock_count && is_bad; i++)
        if (showed(&report->locks[i], run->verdict)) note(&names, report->locks[i].label);
    return names;
}

static void say_chosen(struct doc *doc, const struct report *report, bool *headed) {
    struct names names = chosen(report);
    if (names.count == 0) return;
    doc_say(doc, TONE_BAD, "%s", "");
    add_names(doc, &names);
    doc_span(doc, DOC_PLAIN, " did what a lock broken on purpose does: %s.", report->run->verdict);
    set_headline(doc, headed);
}

/* Of a lock that failed only in stages in which the wall clock jumped. */
static const char stepped[] =
    "lost grants when this machine's wall clock jumped forward, by which servers on it end "
    "leases: no word on the lock itself before a run without such a jump";

/* What may be found, the worst first. */
static const struct {
    enum lock_state state;
    bool stepped;
} findings[] = {{LOCK_VIOLATED, false}, {LOCK_REVOKED, false}, {LOCK_VIOLATED, true},
                {LOCK_REVOKED, true},   {LOCK_TOKENS, false},  {LOCK_MISSED, false},
                {LOCK_STUCK, false},    {LOCK_HELD, false},    {LOCK_STARVED, false},
                {LOCK_ENDED, false},    {LOCK_EXPIRED, false}};

static void say_findings(struct doc *doc, const struct report *report, bool *headed) {
    say_chosen(doc, report, headed);
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++) {
        struct names names = {.count = 0};
        for (int l = 0; l < report->lock_count; l++) {
            const struct report_lock *lock = &report->locks[l];
            if (is_in(lock, findings[i].state) && lock->stepped == findings[i].stepped)
                note(&names, lock->label);
        }
        if (names.count == 0) continue;
        doc_say(doc, words_state_tone(findings[i].state), "%s", "");
        add_names(doc, &names);
        doc_span(doc, DOC_PLAIN, "%s%s.", findings[i].state == LOCK_MISSED ? ", " : " ",
                 findings[i].stepped ? stepped : words_state_title(findings[i].state));
        if (findings[i].state == LOCK_MISSED) doc_set_shown(doc);
        set_headline(doc, headed);
    }
}

/* Where some lock is clean, its sentence names those that were not tested. */
static void say_untested(struct doc *doc, const struct report *report) {
    static const enum lock_state states[] = {LOCK_ALONE, LOCK_UNCHECKED};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (count_state(report, LOCK_CLEAN) > 0 || count_state(report, states[i]) == 0) continue;
        doc_say(doc, TONE_WARN, "Nothing is said of ");
        add_lock_names(doc, report, states[i]);
        doc_span(doc, DOC_PLAIN, ": %s.", words_state(states[i]));
    }
}

static void say_headline(struct doc *doc, const struct report *report) {
    bool headed = false;
    say_findings(doc, report, &headed);
    run_failed(report, true, FAILED_SAID, doc, &headed);
    bool well = any_well_tested(report);
    if (!well) say_hardly_tested(doc, report, &headed);
    say_clean(doc, report, &headed);
    say_apart(doc, report);
    if (well) say_hardly_tested(doc, report, &headed);
    if (headed) say_untested(doc, report);
    if (headed) return;
    bool checked = count_state(report, LOCK_ALONE) > 0 || count_state(report, LOCK_UNCHECKED) == 0;
    doc_say(doc, TONE_WARN, "%s",
            checked
                ? "Not tested: no client of a lock for use had to wait for another holder."
                : "Not checked: no request of the measured window was granted by a lock for use.");
    doc_set_headline(doc);
}

/* True if something was found that no missing stage could change. */
static bool any_bad(const struct report *report) {
    for (int i = 0; i < report->lock_count; i++) {
        if (words_state_tone(report->locks[i].state) == TONE_BAD) return true;
    }
    return chosen(report).count > 0;
}

void run_safe(const struct report *report, struct doc *doc) {
    bool bad = any_bad(report);
    if (!bad) say_partial(doc, report->run);
    say_headline(doc, report);
    if (bad) say_partial(doc, report->run);
}

/* ---- what makes the figures doubtful ---- */

/* Names figures that partly measure the tool itself, before a reader comes to them. */
static void say_limited(struct doc *doc, const struct report *report) {
    int limited = 0, rows = 0;
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        for (int r = 0; r < group->row_count; r++) {
            if (!report_is_real(group->rows[r].typical)) continue;
            /* A less busy machine would not help where requests failed. */
            limited += group->rows[r].limited && !run_failed_mostly(group->rows[r].typical);
            rows++;
        }
    }
    if (limited > 0)
        doc_say(doc, TONE_WARN, "In %d of the %d rows of locks %s (~).", limited, rows,
                words_help(WORDS_LIMITED));
}

/* Says what the rounds can tell apart. */
static void say_rounds(struct doc *doc, const struct report *report) {
    const struct report_group *group = report->ranked;
    int locks = 0;
    for (int r = 0; group && r < group->row_count; r++) locks += group->rows[r].candidate;
    if (!group || (!group->paired && (group->rounds > 1 || locks < 2))) return;
    int rounds = group->rounds;
    double resolution = group->resolution;
    bool unlike = resolution > RANKING_MULTIPLE - 1;
    if (rounds < RANKING_ROUNDS)
        doc_say(doc, TONE_WARN,
                "Unproven: %d round%s over all locks; an interval needs %d: --set run.repeat=7.",
                rounds, rounds == 1 ? "" : "s", RANKING_ROUNDS);
    else if (unlike)
        doc_say(
            doc, TONE_WARN,
            "Unproven: within %d rounds a lock that ran twice in each differed from itself%s: run again on a less "
            "busy machine, or with --set run.repeat=15.",
            rounds, isinf(resolution) ? "" : " by more than 100 %");
    else if (isnan(resolution))
        doc_say(doc, TONE_PLAIN, "Trust: %d rounds over all locks.", rounds);
    else
        doc_say(doc, TONE_PLAIN,
                "Trust: %d rounds over all locks; differences under %.0f %% can't be told.", rounds,
                ceil(100 * resolution));
    if (rounds < RANKING_ROUNDS || unlike) doc_set_shown(doc);
}

#define OVERLOADED 0.1 /* of the requests */

/* Names rates that no queue survives: its times are as long as the run. */
static void say_overloaded(struct doc *doc, const struct report *report) {
    const struct run_stage *worst = NULL;
    char missed[NUMBER_TEXT_MAX], due[NUMBER_TEXT_MAX];
    int over = 0;
    for (int s = 0; s < report->run->stage_count; s++) {
        const struct run_stage *stage = &report->run->stages[s];
        if (!(stage->due > 0) || !(stage->missed > OVERLOADED * stage->due)) continue;
        over++;
        if (!worst || stage->missed / stage->due > worst->missed / worst->due) worst = stage;
    }
    if (worst)
        doc_say(doc, TONE_WARN,
                "In %d stage%s requests came faster than the lock took them (%s: %s of %s not "
                "started), so waits grow with the run: find the rate with lockbench capacity.",
                over, over == 1 ? "" : "s", doc_or(worst->lock, "?"),
                number_count_text(worst->missed, missed), number_count_text(worst->due, due));
}

void run_trust(const struct report *report, struct doc *doc) {
    say_rounds(doc, report);
    say_limited(doc, report);
    say_overloaded(doc, report);
}

void run_verdict(const struct report *report, struct doc *doc) {
    doc_box(doc);
    doc_set_headline(doc);
    run_safe(report, doc);
    run_failed(report, false, INT_MAX, doc, NULL);
    run_slo_verdict(report, doc);
    run_trust(report, doc);
    for (int state = LOCK_VIOLATED; state >= LOCK_BASELINE; state--) {
        for (int i = 0; i < report->lock_count; i++)
            if ((int)report->locks[i].state == state) run_verdict_lock(&report->locks[i], doc);
    }
    run_ran(report, doc);
    doc_end(doc);
}
