/* run_verdict: the verdict of a report in sentences: first what is missing, unless something worse
 * was found, then whether every lock excluded, then whether the generator was the limit, then the sentences of each lock, and last what ran on which servers.
 * See run_doc.h. */
#include <math.h>
#include <string.h>

#include "bench/base/verdict.h"
#include "report/run/run_doc.h"

static const char *plural(double count) {
    return count == 1 ? "" : "s";
}

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

/* Adds "a, b and c", all locks in a state, to the last sentence. */
static void add_lock_names(struct doc *doc, const struct report *report, enum lock_state state) {
    int left = count_state(report, state);
    for (int i = 0; i < report->lock_count; i++) {
        if (!is_in(&report->locks[i], state)) continue;
        left--;
        doc_span(doc, DOC_PLAIN, "%s%s", report->locks[i].label,
                 left > 1    ? ", "
                 : left == 1 ? " and "
                             : "");
    }
}

static int count_not_reached(const struct report *report) {
    int count = 0;
    for (int r = 0; r < report->run_count; r++) count += report_count_not_reached(report->runs[r]);
    return count;
}

/* Adds " Not reached: a, b and c." */
static void add_not_reached(struct doc *doc, const struct run *run) {
    int left = report_count_not_reached(run);
    size_t at = 0;
    if (left == 0) return;
    doc_span(doc, DOC_PLAIN, " Not reached: ");
    for (const char *lock; (lock = report_not_reached(run, &at));) {
        left--;
        doc_span(doc, DOC_PLAIN, "%s%s", lock, left > 1 ? ", " : left == 1 ? " and " : ".");
    }
}

static void say_partial(struct doc *doc, const struct report *report) {
    char letter[8];
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        int incomplete = 0;
        for (int s = 0; s < run->stage_count; s++) incomplete += report_incomplete(&run->stages[s]);
        if (!run->partial && incomplete == 0 && report_count_not_reached(run) == 0) continue;
        char stages[64] = "";
        if (incomplete) {
            snprintf(stages, sizeof stages, "; %d of %d stages that began %s incomplete",
                     incomplete, run->stage_count, incomplete == 1 ? "is" : "are");
        }
        doc_say(
            doc, TONE_WARN,
            "PARTIAL: %s%s is incomplete%s%s%s. These figures were measured; the rest is missing.",
            report->run_count > 1 ? "run " : "this run",
            report->run_count > 1 ? report_run_letter(r, letter) : "",
            run->partial_reason ? ": " : "", doc_or(run->partial_reason, ""), stages);
        add_not_reached(doc, run);
        /* Such locks are in no table. */
        if (report_count_not_reached(run) > 0) doc_set_shown(doc);
    }
}

/* Begins the first of the sentences that answer the question. */
static void set_headline(struct doc *doc, bool *headed) {
    if (!*headed) doc_set_headline(doc);
    *headed = true;
}

/* Adds the uncertainty of the clocks of several hosts to the bound. */
static void say_apart(struct doc *doc, const struct report *report) {
    double unseen_ns = NAN;
    char text[NUMBER_TEXT_MAX];
    for (int i = 0; i < report->lock_count; i++) {
        if (is_in(&report->locks[i], LOCK_CLEAN))
            unseen_ns = fmax(unseen_ns, run_hosts_lock_unseen_ns(report, &report->locks[i]));
    }
    if (isnan(unseen_ns)) return;
    doc_say(
        doc, TONE_PLAIN,
        "Between hosts, overlaps shorter than %s may go unseen (four times the error of the clocks).",
        number_time_text(unseen_ns, text));
    for (int r = 0; r < report->run_count; r++) run_hosts_say_lost(report->runs[r], doc);
}

/* Adds ", 2 are untested". */
static void add_count(struct doc *doc, const struct report *report, enum lock_state state) {
    int count = count_state(report, state);
    if (count > 0)
        doc_span(doc, DOC_PLAIN, ", %d %s %s", count, count == 1 ? "is" : "are",
                 words_state(state));
}

/* Says how many locks excluded, of how many: "every lock" only if none failed and all were tested. */
static void say_how_many(struct doc *doc, const struct report *report, const char *one,
                         double grants) {
    int clean = count_state(report, LOCK_CLEAN);
    int failed = count_state(report, LOCK_VIOLATED) + count_state(report, LOCK_EXPIRED) +
                 count_state(report, LOCK_STUCK) + count_state(report, LOCK_STARVED) +
                 count_state(report, LOCK_TOKENS);
    int untested = count_state(report, LOCK_UNCHECKED) + count_state(report, LOCK_ALONE);
    char total[NUMBER_TEXT_MAX];
    bool whole = count_not_reached(report) == 0;
    enum tone tone = whole ? TONE_GOOD : TONE_WARN;
    if (clean == 1) {
        doc_say(doc, tone, "%s excluded", one);
    } else if (untested > 0 || !whole) {
        doc_say(doc, tone, "%d of %s%d locks%s excluded", clean, whole ? "" : "the ",
                clean + failed + untested, whole ? "" : " that ran");
        add_count(doc, report, LOCK_ALONE);
        add_count(doc, report, LOCK_UNCHECKED);
    } else if (failed > 0) {
        doc_say(doc, tone, "The others excluded: %d locks", clean);
    } else {
        doc_say(doc, tone, "Every lock that claims to exclude did: %d locks", clean);
    }
    if (report->run_count > 1) doc_span(doc, DOC_PLAIN, " (those of each run counted)");
    doc_span(doc, DOC_PLAIN, "%s no overlap in %s grants to competing clients.",
             clean > 1 && (untested > 0 || !whole) ? ":" : ",", number_count_text(grants, total));
}

static void say_clean(struct doc *doc, const struct report *report, bool *headed) {
    const struct report_lock *least = NULL; /* of those whose bound holds */
    const char *one = NULL;
    double grants = 0;
    int clean = count_state(report, LOCK_CLEAN);
    for (int i = 0; i < report->lock_count; i++) {
        const struct report_lock *lock = &report->locks[i];
        if (!is_in(lock, LOCK_CLEAN)) continue;
        grants += lock->competing;
        one = lock->label;
        if (report_hardly_tested(lock)) continue;
        if (!least || lock->competing < least->competing) least = lock;
    }
    if (clean == 0) return;
    say_how_many(doc, report, one, grants);
    set_headline(doc, headed);
    say_apart(doc, report);
    if (!least) return; /* all were hardly tested: no bound holds */
    char few[NUMBER_TEXT_MAX], one_in[NUMBER_TEXT_MAX];
    number_count_text(least->competing, few);
    number_count_text(floor(least->competing / 3), one_in);
    if (isnan(report_bound(least))) {
        doc_say(doc, TONE_WARN, "The least tried is %s, with %s such grants: too few for a bound.",
                least->label, few);
    } else if (clean == 1) {
        doc_say(doc, TONE_GOOD,
                "With 95 %% confidence fewer than 1 grant in %s overlaps (bound 3/n).", one_in);
    } else {
        doc_say(
            doc, TONE_GOOD,
            "The least tried is %s, with %s such grants: with 95 %% confidence fewer than 1 in %s "
            "of them overlaps (bound 3/n).",
            least->label, few, one_in);
    }
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
            "Exclusion was hardly tested for %d lock%s: holders stayed inside for %s at most on "
            "average (%s), and a round trip takes %s, so a second grant would mostly have met "
            "nobody. Set load.hold to a round trip or more.",
            count, plural(count), number_time_text(longest->inside_ns, inside), longest->label,
            number_time_text(longest->round_trip_ns, trip));
    set_headline(doc, headed);
}

static bool any_well_tested(const struct report *report) {
    bool any = false;
    for (int i = 0; i < report->lock_count; i++)
        any |= is_in(&report->locks[i], LOCK_CLEAN) && !report_hardly_tested(&report->locks[i]);
    return any;
}

/* Adds one sentence that names all locks in a state; nothing if there is none. */
static void say_names(struct doc *doc, const struct report *report, enum lock_state state,
                      const char *before, const char *after, bool *headed) {
    if (count_state(report, state) == 0) return;
    doc_say(doc, words_state_tone(state), "%s", before);
    add_lock_names(doc, report, state);
    doc_span(doc, DOC_PLAIN, "%s", after);
    if (state == LOCK_MISSED) doc_set_shown(doc);
    set_headline(doc, headed);
}

/* A grant may have no lease: then its session had ended, with the server or the connection. */
static void say_expired(struct doc *doc, const struct report *report, bool *headed) {
    static const char *const before[] = {"", "LEASES RAN OUT: ", "SESSIONS ENDED UNNOTICED: ",
                                         "LEASES OR SESSIONS ENDED UNNOTICED: "},
                             *const words[] = {"", "lease", "session", "lease or session"};
    int kinds = 0;
    char after[120];
    for (int i = 0; i < report->lock_count; i++) {
        if (!is_in(&report->locks[i], LOCK_EXPIRED)) continue;
        kinds |= words_is_leased(report->locks[i].stage) ? 1 : 2;
    }
    snprintf(after, sizeof after,
             " admitted clients while an earlier holder still worked after the end of its %s.",
             words[kinds]);
    say_names(doc, report, LOCK_EXPIRED, before[kinds], after, headed);
}

/* A control that was run by its name is judged like any lock, as in the run's own verdict. */
static bool chosen_violated(const struct report *report) {
    bool violated = false;
    for (int r = 0; r < report->run_count; r++)
        violated |= verdict_is(report->runs[r]->verdict, VERDICT_VIOLATED);
    return violated &&
           count_state(report, LOCK_VIOLATED) + count_state(report, LOCK_EXPIRED) == 0 &&
           count_state(report, LOCK_CAUGHT) > 0;
}

/* The operations that were recorded of a lock on several hosts. */
static double ops_apart(const struct report *report, const struct report_lock *lock) {
    const struct run *run = report->runs[lock->run];
    double ops = 0;
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        bool apart = report_is_of(lock, lock->run, stage) && json_array_size(stage->hosts) > 1;
        if (apart && stage->history_ops > 0) ops += stage->history_ops;
    }
    return ops;
}

/* Between hosts, waits for short holds don't count as trials; what the record shows is told all the same. */
static void say_record_apart(struct doc *doc, const struct report *report) {
    double unseen_ns = NAN, ops = 0;
    char time[NUMBER_TEXT_MAX], count[NUMBER_TEXT_MAX];
    for (int i = 0; i < report->lock_count; i++) {
        const struct report_lock *lock = &report->locks[i];
        double recorded = is_in(lock, LOCK_ALONE) ? ops_apart(report, lock) : 0;
        if (recorded == 0) continue;
        unseen_ns = fmax(unseen_ns, run_hosts_lock_unseen_ns(report, lock));
        ops += recorded;
    }
    if (ops == 0) return;
    doc_say(
        doc, TONE_PLAIN,
        "The record of %s operations has no overlap between hosts longer than %s; a wait for a shorter "
        "hold is no trial, because an overlap with it would not have been seen.",
        number_count_text(ops, count), number_time_text(unseen_ns, time));
}

static void say_headline(struct doc *doc, const struct report *report) {
    bool headed = false;
    if (chosen_violated(report)) {
        doc_say(doc, TONE_BAD, "VIOLATED: ");
        add_lock_names(doc, report, LOCK_CAUGHT);
        doc_span(doc, DOC_PLAIN,
                 " admitted two clients at once, as a lock broken on purpose does.");
        set_headline(doc, &headed);
    }
    say_names(doc, report, LOCK_VIOLATED, "NOT EXCLUSIVE: ",
              count_state(report, LOCK_VIOLATED) > 1
                  ? " admitted two clients at once. Do not use them as locks here."
                  : " admitted two clients at once. Do not use it as a lock here.",
              &headed);
    say_names(doc, report, LOCK_TOKENS, "TOKENS DID NOT GROW: ",
              " admitted one client at a time, but its fencing tokens are wrong.", &headed);
    say_names(doc, report, LOCK_MISSED, "DO NOT TRUST THIS RUN: ",
              ", broken on purpose, went unnoticed, so the checks may have missed others too.",
              &headed);
    say_names(doc, report, LOCK_STUCK,
              "STUCK: ", " left keys that are free but that no client gets any more.", &headed);
    say_names(doc, report, LOCK_STARVED,
              "STARVED: ", " left clients waiting until the drain limit ended their waits.",
              &headed);
    say_expired(doc, report, &headed);
    run_failed(report, doc, &headed);
    bool well = any_well_tested(report);
    if (!well) say_hardly_tested(doc, report, &headed);
    say_clean(doc, report, &headed);
    if (well) say_hardly_tested(doc, report, &headed);
    if (headed) return;
    bool checked = count_state(report, LOCK_ALONE) > 0 || count_state(report, LOCK_UNCHECKED) == 0;
    doc_say(doc, TONE_WARN, "%s",
            checked
                ? "UNTESTED: no client of a lock for use had to wait for another holder, so "
                  "whether any excludes is not known."
                : "UNCHECKED: no request of the measured window was granted by a lock for use.");
    doc_set_headline(doc);
    say_record_apart(doc, report);
}

/* Names figures that partly measure the tool itself, before a reader comes to them. */
static void say_limited(struct doc *doc, const struct report *report) {
    int limited = 0, stages = 0;
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int s = 0; s < run->stage_count; s++) {
            if (!report_is_real(&run->stages[s])) continue;
            /* A less busy machine would not help where requests failed. */
            limited += report_limited(&run->stages[s]) && !run_failed_mostly(&run->stages[s]);
            stages++;
        }
    }
    if (limited == 0) return;
    doc_say(
        doc, TONE_WARN,
        "GENERATOR-LIMITED: in %d of the %d stages of real locks the load generator or a busy "
        "machine was late. In such a stage %s: do what the warning of the stage says, and run it "
        "again, before you decide.",
        limited, stages, words_help(WORDS_LIMITED));
}

#define OVERLOADED 0.1 /* of the requests */

/* Names rates that no queue survives: its times are as long as the run. */
static void say_overloaded(struct doc *doc, const struct report *report) {
    const struct run_stage *worst = NULL;
    char missed[NUMBER_TEXT_MAX], due[NUMBER_TEXT_MAX];
    int over = 0, stages = 0;
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count; s++) {
            const struct run_stage *stage = &report->runs[r]->stages[s];
            if (!(stage->due > 0)) continue;
            stages++;
            if (!(stage->missed > OVERLOADED * stage->due)) continue;
            over++;
            if (!worst || stage->missed / stage->due > worst->missed / worst->due) worst = stage;
        }
    }
    if (over == 0) return;
    doc_say(
        doc, TONE_WARN,
        "OVERLOADED: in %d of the %d stages with a rate of requests more than %.0f %% of the requests "
        "could not be started before the window's end (%s: %s of %s). The queue grows there, and waits "
        "are as long as the run: lower the rate (load.arrival), or find it with lockbench capacity.",
        over, stages, 100 * OVERLOADED, doc_or(worst->lock, "?"),
        number_count_text(worst->missed, missed), number_count_text(worst->due, due));
}

/* True if something was found that no missing stage could change. */
static bool any_bad(const struct report *report) {
    for (int i = 0; i < report->lock_count; i++) {
        if (words_state_tone(report->locks[i].state) == TONE_BAD) return true;
    }
    return chosen_violated(report);
}

void run_verdict(const struct report *report, struct doc *doc) {
    bool tested = count_state(report, LOCK_CLEAN) + count_state(report, LOCK_VIOLATED) > 0;
    bool bad = any_bad(report);
    doc_box(doc);
    doc_set_headline(doc);
    if (!bad) say_partial(doc, report);
    say_headline(doc, report);
    if (bad) say_partial(doc, report);
    run_outages(report, doc);
    run_slo_verdict(report, doc);
    say_limited(doc, report);
    say_overloaded(doc, report);
    for (int state = LOCK_VIOLATED; state >= LOCK_BASELINE; state--) {
        for (int i = 0; i < report->lock_count; i++) {
            const struct report_lock *lock = &report->locks[i];
            if ((int)lock->state != state) continue;
            run_verdict_lock(lock, tested, doc);
        }
    }
    run_ran(report, doc);
    doc_end(doc);
}
