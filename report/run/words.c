/* words: see words.h. */
#define _GNU_SOURCE
#include "report/run/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/number.h"

static const struct {
    const char *word, *title;
    enum tone tone;
} states[] = {
    [LOCK_BASELINE] = {"baseline", "no lock at all: what the tool itself costs", TONE_PLAIN},
    [LOCK_UNCHECKED] = {"unchecked", "granted nothing, so nothing was checked", TONE_WARN},
    [LOCK_ALONE] = {"untested", "one client at a time: nobody to exclude", TONE_PLAIN},
    [LOCK_HIDDEN] = {"hidden", "broken on purpose, in a way that this workload does not show",
                     TONE_PLAIN},
    [LOCK_CLEAN] = {"clean", "no overlap seen", TONE_GOOD},
    [LOCK_CAUGHT] = {"caught", "broken on purpose, and caught, as it must be", TONE_GOOD},
    [LOCK_EXPIRED] =
        {"expired",
         "admitted a client after another one's lease had ended, while that one still held on",
         TONE_WARN},
    [LOCK_STUCK] = {"STUCK", "left keys that are free but that no client gets any more", TONE_BAD},
    [LOCK_MISSED] = {"MISSED", "broken on purpose and NOT caught: the checker is not to be trusted",
                     TONE_BAD},
    [LOCK_TOKENS] = {"TOKENS", "excluded, but its fencing tokens did not grow", TONE_BAD},
    [LOCK_VIOLATED] = {"VIOLATED", "let two clients in at once", TONE_BAD},
};

const char *words_state(enum lock_state state) {
    return states[state].word;
}
const char *words_state_title(enum lock_state state) {
    return states[state].title;
}
enum tone words_state_tone(enum lock_state state) {
    return states[state].tone;
}

int words_say(struct words *words, enum tone tone, const char *format, ...) {
    struct words_line *more = realloc(words->lines, (size_t)(words->count + 1) * sizeof *more);
    if (!more) return -1;
    words->lines = more;
    va_list args;
    va_start(args, format);
    char *text;
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) return -1;
    words->lines[words->count++] = (struct words_line){tone, text};
    return 0;
}

/* What is no lock for people is not counted among the clean ones. */
static bool is_in(const struct report_lock *lock, enum lock_state state) {
    return lock->state == state && (state != LOCK_CLEAN || report_is_real(lock->stage));
}

static int count_state(const struct report *report, enum lock_state state) {
    int count = 0;
    for (int i = 0; i < report->lock_count; i++) count += is_in(&report->locks[i], state);
    return count;
}

/* "a, b and c": all locks in a state. Malloced. */
static char *names_of(const struct report *report, enum lock_state state) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    int left = count_state(report, state);
    for (int i = 0; i < report->lock_count; i++) {
        if (!is_in(&report->locks[i], state)) continue;
        left--;
        fprintf(out, "%s%s", report->locks[i].label, left > 1 ? ", " : left == 1 ? " and " : "");
    }
    return fclose(out) == 0 ? text : NULL;
}

static int say_partial(struct words *words, const struct report *report) {
    char letter[8];
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        int incomplete = 0;
        for (int s = 0; s < run->stage_count; s++) incomplete += report_incomplete(&run->stages[s]);
        if (!run->partial && incomplete == 0) continue;
        char stages[64] = "";
        if (incomplete) {
            snprintf(stages, sizeof stages, "; %d of %d stages %s incomplete", incomplete,
                     run->stage_count, incomplete == 1 ? "is" : "are");
        }
        if (words_say(words, TONE_WARN,
                      "PARTIAL: %s%s is incomplete%s%s%s. These figures were measured; the rest is "
                      "missing.",
                      report->run_count > 1 ? "run " : "this run",
                      report->run_count > 1 ? report_run_letter(r, letter) : "",
                      run->partial_reason ? ": " : "",
                      run->partial_reason ? run->partial_reason : "", stages)) {
            return -1;
        }
    }
    return 0;
}

static int say_clean(struct words *words, const struct report *report) {
    const struct report_lock *least = NULL;
    double grants = 0;
    int clean = count_state(report, LOCK_CLEAN);
    bool others = count_state(report, LOCK_VIOLATED) + count_state(report, LOCK_EXPIRED) +
                      count_state(report, LOCK_STUCK) + count_state(report, LOCK_TOKENS) >
                  0;
    for (int i = 0; i < report->lock_count; i++) {
        const struct report_lock *lock = &report->locks[i];
        if (!is_in(lock, LOCK_CLEAN)) continue;
        grants += lock->competing;
        if (!least || lock->competing < least->competing) least = lock;
    }
    if (!least) return 0;
    char total[NUMBER_TEXT_MAX], few[NUMBER_TEXT_MAX], one_in[NUMBER_TEXT_MAX],
        many[NUMBER_TEXT_MAX + 16];
    number_count_text(grants, total);
    number_count_text(least->competing, few);
    number_count_text(floor(least->competing / 3), one_in);
    snprintf(many, sizeof many, ": %d locks", clean);
    if (words_say(words, TONE_GOOD, "%s%s, no overlap in %s grants to competing clients.",
                  clean == 1 ? least->label
                  : others   ? "The others excluded"
                             : "Every lock that claims to exclude did",
                  clean == 1 ? " excluded" : many, total)) {
        return -1;
    }
    if (clean == 1) {
        return words_say(words, TONE_GOOD,
                         "With 95 %% confidence fewer than 1 grant in %s overlaps (bound 3/n).",
                         one_in);
    }
    return words_say(
        words, TONE_GOOD,
        "The least tried is %s, with %s such grants: with 95 %% confidence fewer than 1 in %s of them "
        "overlaps "
        "(bound 3/n).",
        least->label, few, one_in);
}

/* One line that names all locks in a state; nothing when there is none. */
static int say_names(struct words *words, const struct report *report, enum lock_state state,
                     const char *before, const char *after) {
    if (count_state(report, state) == 0) return 0;
    char *names = names_of(report, state);
    if (!names) return -1;
    int rc = words_say(words, words_state_tone(state), "%s%s%s", before, names, after);
    free(names);
    return rc;
}

/* A control that was run by its name is judged like any lock: the run's own verdict says so. */
static bool chosen_violated(const struct report *report) {
    bool violated = false;
    for (int r = 0; r < report->run_count; r++) {
        const char *verdict = report->runs[r]->verdict;
        violated |= verdict && strcmp(verdict, "violated") == 0;
    }
    return violated &&
           count_state(report, LOCK_VIOLATED) + count_state(report, LOCK_EXPIRED) == 0 &&
           count_state(report, LOCK_CAUGHT) > 0;
}

static int say_chosen(struct words *words, const struct report *report) {
    if (!chosen_violated(report)) return 0;
    char *names = names_of(report, LOCK_CAUGHT);
    int rc = names ? words_say(words, TONE_BAD,
                               "VIOLATED: %s admitted two clients at once, as a lock broken on "
                               "purpose does.",
                               names)
                   : -1;
    free(names);
    return rc;
}

static int say_headline(struct words *words, const struct report *report) {
    words->headline = words->count;
    if (say_chosen(words, report)) return -1;
    if (say_names(words, report, LOCK_VIOLATED, "NOT EXCLUSIVE: ",
                  " admitted two clients at once. Do not use it as a lock here.") ||
        say_names(words, report, LOCK_TOKENS, "TOKENS DID NOT GROW: ",
                  " admitted one client at a time, but its fencing tokens are wrong.") ||
        say_names(
            words, report, LOCK_MISSED, "DO NOT TRUST THIS RUN: ",
            ", broken on purpose, went unnoticed, so the checker may have missed others too.") ||
        say_names(words, report, LOCK_STUCK,
                  "STUCK: ", " left keys that are free but that no client gets any more.") ||
        say_names(words, report, LOCK_EXPIRED, "LEASES RAN OUT: ",
                  " admitted clients while an earlier holder still worked after the end of its "
                  "lease.")) {
        return -1;
    }
    if (count_state(report, LOCK_CLEAN) > 0) return say_clean(words, report);
    if (words->count > words->headline) return 0;
    return words_say(
        words, TONE_WARN,
        "Exclusion was not put to the test: no lock was granted to two clients or more on the same key.");
}

/* Who met whom in the first overlap that was seen. */
static void write_overlap(FILE *out, const struct run_stage *stage) {
    const struct run_holder *holder = &stage->holder, *intruder = &stage->intruder;
    char time[NUMBER_TEXT_MAX];
    if (isnan(holder->client) || isnan(intruder->client)) return;
    fprintf(out, " First seen%s%s: client %.0f was admitted while client %.0f held",
            stage->id ? " in " : "", stage->id ? stage->id : "", intruder->client, holder->client);
    if (!isnan(stage->overlap_key)) fprintf(out, " key %.0f", stage->overlap_key);
    double after = intruder->acquired_ns - holder->acquired_ns;
    if (after >= 0) fprintf(out, ", %s after its grant", number_time_text(after, time));
    double left = holder->lease_end_ns - intruder->acquired_ns;
    if (left >= 0 && left < 1e15)
        fprintf(out, " and %s before its lease's end", number_time_text(left, time));
    if (left < 0) fprintf(out, " and %s past its lease's end", number_time_text(-left, time));
    fputc('.', out);
}

static const char *plural(double count) {
    return count == 1 ? "" : "s";
}

/* What a lock did that let two in, and a control that was caught. Overlaps are always counted,
 * unless its own workload was to show something else. */
static void write_broken(FILE *out, const struct report_lock *lock) {
    const char *workload = lock->stage->workload, *comma = " ";
    bool overlaps = !workload || lock->lost_updates + lock->double_holders > 0;
    const struct {
        double count;
        const char *what, *after;
        bool shown;
    } parts[] = {
        {lock->lost_updates, "lost update", "", overlaps},
        {lock->double_holders, "second holder", "", overlaps},
        {lock->early, "client", " let through before the count was down", lock->early > 0},
        {lock->oversold, "piece", " sold that were not there", lock->oversold > 0},
        {lock->history_violations, "violation", " in the history of operations",
         lock->history_violations > 0},
        {lock->expired_holders, "holder", " past the lease's end",
         workload && lock->expired_holders > 0},
        {lock->stuck, "key", " that nobody gets any more", workload && lock->stuck > 0},
    };
    char count[NUMBER_TEXT_MAX];
    if (lock->state == LOCK_CAUGHT) {
        fprintf(out, "%s is broken on purpose and was caught%s%s, as it must be:", lock->label,
                workload ? " by " : "", workload ? workload : "");
    } else {
        fprintf(out, "%s let two clients in at once:", lock->label);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].shown) continue;
        /* "1 lost update and 2 second holders, 3 pieces sold ..." */
        fprintf(out, "%s%s %s%s%s", i == 1 ? " and " : comma,
                number_count_text(parts[i].count, count), parts[i].what, plural(parts[i].count),
                parts[i].after);
        comma = ", ";
    }
    fprintf(out, " in %s grants.", number_count_text(lock->grants, count));
}

static int say_residue(struct words *words, const struct report_lock *lock) {
    char count[NUMBER_TEXT_MAX];
    const struct run_stage *stage = lock->residue;
    if (!stage) return 0;
    return words_say(words, TONE_WARN, "LEFT BEHIND: %s left %s thing%s on the server%s%s%s%s.",
                     lock->label, number_count_text(stage->residue, count), plural(stage->residue),
                     stage->id ? " after " : "", stage->id ? stage->id : "",
                     stage->residue_example && *stage->residue_example ? ", e.g. " : "",
                     stage->residue_example ? stage->residue_example : "");
}

static int say_lock(struct words *words, const struct report_lock *lock, bool tested) {
    char twice[NUMBER_TEXT_MAX], grants[NUMBER_TEXT_MAX], tokens[NUMBER_TEXT_MAX];
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return -1;
    number_count_text(lock->grants, grants);
    switch (lock->state) {
    case LOCK_VIOLATED:
    case LOCK_CAUGHT:
        write_broken(out, lock);
        break;
    case LOCK_STUCK:
        fprintf(out, "%s left %s key%s that are free but that no client gets any more.",
                lock->label, number_count_text(lock->stuck, twice), plural(lock->stuck));
        break;
    case LOCK_EXPIRED:
        number_count_text(fmax(lock->expired_holders, lock->history_expired), twice);
        fprintf(
            out,
            "%s admitted %s client%s whose predecessor still worked after the end of its lease, "
            "in %s grants. The lock kept its promise; without fencing the work was not exclusive.",
            lock->label, twice, plural(fmax(lock->expired_holders, lock->history_expired)), grants);
        break;
    case LOCK_ALONE:
        if (!tested || !report_is_real(lock->stage)) break;
        fprintf(
            out,
            "%s was never granted to competing clients here, so whether it excludes was not tested.",
            lock->label);
        break;
    case LOCK_HIDDEN:
        fprintf(out,
                "%s is broken on purpose, in a way that this workload does not show: %s "
                "does.",
                lock->label, lock->stage->exposed_by);
        break;
    case LOCK_UNCHECKED:
        fprintf(out, "%s granted nothing, so nothing is known about it.", lock->label);
        break;
    default:
        break;
    }
    if (lock->token_errors > 0) {
        fprintf(out, "%s%s's fencing tokens did not grow %s time%s.", ftell(out) > 0 ? " " : "",
                lock->label, number_count_text(lock->token_errors, tokens),
                plural(lock->token_errors));
    }
    bool overlapped = lock->state == LOCK_VIOLATED || lock->state == LOCK_EXPIRED;
    if (overlapped && lock->overlap) write_overlap(out, lock->overlap);
    if (fclose(out)) return -1;
    bool odd = lock->state == LOCK_ALONE || lock->state == LOCK_HIDDEN ||
               (lock->token_errors > 0 && lock->state < LOCK_EXPIRED);
    enum tone tone = odd ? TONE_WARN : words_state_tone(lock->state);
    int rc = *text ? words_say(words, tone, "%s", text) : 0;
    free(text);
    return rc;
}

/* Figures that are partly the tool's own are named before anybody reads them. */
static int say_limited(struct words *words, const struct report *report) {
    int limited = 0, stages = 0;
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int s = 0; s < run->stage_count; s++) {
            if (!report_is_real(&run->stages[s])) continue;
            limited += report_limited(&run->stages[s]);
            stages++;
        }
    }
    if (limited == 0) return 0;
    return words_say(
        words, TONE_WARN,
        "GENERATOR-LIMITED: in %d of the %d stages of real locks the load generator or a busy "
        "machine was late. Their times include that delay, most of all p99 and beyond: run them "
        "again on a less busy machine before you decide.",
        limited, stages);
}

/* A figure of what still changed is one of when it was looked at. */
static int say_steady(struct words *words, const struct report *report) {
    int never = 0, asked = 0;
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count; s++) {
            const struct run_stage *stage = &report->runs[r]->stages[s];
            never += stage->steady_asked && !stage->steady_reached;
            asked += stage->steady_asked;
        }
    }
    if (never == 0) return 0;
    return words_say(
        words, TONE_WARN,
        "NEVER STEADY: %d of the %d stages that were to wait for a steady state were still "
        "changing at their end, or ended before that was known. Use a longer run.warmup or "
        "run.duration.",
        never, asked);
}

#define SERVERS_SAID 6

/* "redis 7.0.15, zookeeper 3.8.0 and 3 more". */
static void write_servers(FILE *out, const struct run *run) {
    for (int i = 0; i < run->server_count && i < SERVERS_SAID; i++) {
        const struct run_server *server = &run->servers[i];
        const char *version = report_server_version(server);
        const char *name = server->topology ? server->topology : server->backend;
        fprintf(out, "%s%s%s%s", i == 0 ? " on " : ", ", name ? name : "?", version ? " " : "",
                version ? version : "");
    }
    if (run->server_count > SERVERS_SAID)
        fprintf(out, " and %d more", run->server_count - SERVERS_SAID);
}

static void write_machine(FILE *out, const struct run *run) {
    const char *model = json_string_value(json_object_get(run->environment, "cpu_model"));
    const char *kernel = json_string_value(json_object_get(run->environment, "kernel"));
    const json_t *cpus = json_object_get(run->environment, "cpus");
    const char *separator = "; ";
    if (model) fprintf(out, "%s%s", separator, model), separator = ", ";
    if (json_is_integer(cpus)) {
        fprintf(out, "%s%" JSON_INTEGER_FORMAT " processor%s", separator, json_integer_value(cpus),
                json_integer_value(cpus) == 1 ? "" : "s");
        separator = ", ";
    }
    if (kernel) fprintf(out, "%s%s", separator, kernel);
}

/* What ran, and on what: a line a run. */
static int say_ran(struct words *words, const struct report *report) {
    char letter[8];
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        char *text = NULL;
        size_t size;
        int locks = 0;
        FILE *out = open_memstream(&text, &size);
        if (!out) return -1;
        for (int i = 0; i < report->lock_count; i++) locks += report->locks[i].run == r;
        fprintf(out, "%s%s: %s, %d lock%s in %d stage%s", report->run_count > 1 ? "Run " : "Ran",
                report->run_count > 1 ? report_run_letter(r, letter) : "",
                run->workload ? run->workload : "a workload without a name", locks, plural(locks),
                run->stage_count, plural(run->stage_count));
        write_servers(out, run);
        write_machine(out, run);
        fputc('.', out);
        int rc = fclose(out) ? -1 : words_say(words, TONE_PLAIN, "%s", text);
        free(text);
        if (rc) return -1;
    }
    return 0;
}

/* Whether something was found that no missing stage can make good. */
static bool any_bad(const struct report *report) {
    for (int i = 0; i < report->lock_count; i++) {
        if (words_state_tone(report->locks[i].state) == TONE_BAD) return true;
    }
    return chosen_violated(report);
}

struct words *words_make(const struct report *report, struct lb_err *err) {
    struct words *words = calloc(1, sizeof *words);
    if (!words) goto fail;
    bool tested = count_state(report, LOCK_CLEAN) + count_state(report, LOCK_VIOLATED) > 0;
    bool bad = any_bad(report);
    if (!bad && say_partial(words, report)) goto fail;
    if (say_headline(words, report)) goto fail;
    if (bad && say_partial(words, report)) goto fail;
    if (say_limited(words, report) || say_steady(words, report)) goto fail;
    for (int state = LOCK_VIOLATED; state >= LOCK_BASELINE; state--) {
        for (int i = 0; i < report->lock_count; i++) {
            const struct report_lock *lock = &report->locks[i];
            if ((int)lock->state != state) continue;
            if (say_lock(words, lock, tested) || say_residue(words, lock)) goto fail;
        }
    }
    if (say_ran(words, report)) goto fail;
    return words;
fail:
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    words_free(words);
    return NULL;
}

void words_free(struct words *words) {
    if (!words) return;
    for (int i = 0; i < words->count; i++) free(words->lines[i].text);
    free(words->lines);
    free(words);
}

void words_add(const struct words *words, struct doc *doc) {
    doc_box(doc);
    for (int i = 0; i < words->count; i++) {
        doc_say(doc, words->lines[i].tone, "%s", words->lines[i].text);
        if (i == words->headline) doc_set_headline(doc);
    }
    doc_end(doc);
}

void words_state_chip(struct doc *doc, enum lock_state state) {
    static const char *const marks[] = {
        [LOCK_BASELINE] = "\xe2\x97\x8b",
        [LOCK_UNCHECKED] = "?",
        [LOCK_ALONE] = "\xe2\x97\x8b",
        [LOCK_HIDDEN] = "\xe2\x97\x8b",
        [LOCK_CLEAN] = "\xe2\x9c\x93",
        [LOCK_CAUGHT] = "\xe2\x9c\x93",
        [LOCK_EXPIRED] = "!",
        [LOCK_STUCK] = "\xe2\x9c\x97",
        [LOCK_MISSED] = "\xe2\x9c\x97",
        [LOCK_TOKENS] = "\xe2\x9c\x97",
        [LOCK_VIOLATED] = "\xe2\x9c\x97",
    };
    enum tone tone = words_state_tone(state);
    doc_set_tone(doc, tone);
    doc_chip(doc, DOC_CHIP, tone, marks[state], words_state(state), words_state_title(state));
}

char *words_claims(const struct run_stage *stage, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(stage->claims); i++) {
        const char *claim = json_string_value(json_array_get(stage->claims, i));
        if (!claim || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", claim);
    }
    return text;
}

static const struct {
    const char *text, *title;
} durabilities[DURABILITIES] = {
    [DURABILITY_NONE] = {"this machine", "Within one machine: there is no server"},
    [DURABILITY_MEMORY] = {"in memory", "A server's memory: gone when that process ends"},
    [DURABILITY_LOG] = {"log, not flushed",
                        "A log that is not flushed: may be lost with the machine"},
    [DURABILITY_DISK] = {"on disk first", "On disk before each answer: survives a restart"},
    [DURABILITY_UNKNOWN] = {"not stated", "Durability not stated"},
};

enum durability words_durability(const struct run_stage *stage) {
    return durability_from(stage->durability_class);
}

const char *words_guarantee_text(const char *guarantee) {
    static const char *const words[][2] = {{"host", "one host"},
                                           {"node", "one server"},
                                           {"async-replica", "async replicas"},
                                           {"majority", "a majority"},
                                           {"none", "no guarantee"}};
    for (size_t i = 0; guarantee && i < sizeof words / sizeof *words; i++) {
        if (strcmp(guarantee, words[i][0]) == 0) return words[i][1];
    }
    return "not stated";
}

const char *words_guarantee(const struct run_stage *stage) {
    return words_guarantee_text(stage->guarantee);
}

char *words_durability_full(const struct run_stage *stage) {
    const char *server = stage->durability ? stage->durability : "not stated",
               *note = stage->durability_note;
    char *text;
    if (asprintf(&text, "%s%s%s%s", note ? note : "", note ? " (the server: " : "", server,
                 note ? ")" : "") < 0)
        return NULL;
    return text;
}

const char *words_durability_text(enum durability durability) {
    return durabilities[durability].text;
}
const char *words_durability_title(enum durability durability) {
    return durabilities[durability].title;
}
