/* words: see words.h. */
#define _GNU_SOURCE
#include "report/run/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/text.h"
#include "bench/base/verdict.h"

static const struct {
    const char *word, *title;
    enum tone tone;
} states[] = {
    [LOCK_BASELINE] = {"baseline", "no lock at all: what the tool itself costs", TONE_PLAIN},
    [LOCK_UNCHECKED] =
        {"unchecked", "no request of the measured window was granted, so there is nothing to judge",
         TONE_WARN},
    [LOCK_ALONE] = {"untested",
                    "no client had to wait for another holder, so whether it excludes is not known",
                    TONE_PLAIN},
    [LOCK_HIDDEN] = {"hidden", "broken on purpose, in a way that this workload does not show",
                     TONE_PLAIN},
    [LOCK_CLEAN] = {"clean", "no overlap seen", TONE_GOOD},
    [LOCK_CAUGHT] = {"caught", "broken on purpose, and caught, as it must be", TONE_GOOD},
    [LOCK_HELD] = {"held", "was held by somebody else, who still held it when the waits were ended",
                   TONE_WARN},
    [LOCK_STARVED] = {"starved",
                      "left clients waiting for the whole window, or until the drain limit ended "
                      "their waits",
                      TONE_BAD},
    [LOCK_EXPIRED] = {"expired",
                      "admitted clients while an earlier holder still worked after the end of its "
                      "lease or session",
                      TONE_WARN},
    [LOCK_ENDED] = {"ended",
                    "lost grants because the server ended the sessions of their holders, who still "
                    "held on",
                    TONE_WARN},
    [LOCK_STUCK] = {"stuck", "left keys that are free but that no client gets any more", TONE_BAD},
    [LOCK_MISSED] = {"missed", "broken on purpose, went unnoticed: do not trust this run",
                     TONE_BAD},
    [LOCK_TOKENS] = {"tokens", "admitted one client at a time, but the fencing tokens did not grow",
                     TONE_BAD},
    [LOCK_REVOKED] =
        {"revoked",
         "lost grants while their lease and session lasted: another program, a command "
         "or the server's limit of memory took them, or it is no lock",
         TONE_BAD},
    [LOCK_VIOLATED] = {"violated", "admitted two clients at once: not a lock here", TONE_BAD},
};

const char *words_state(enum lock_state state) {
    return states[state].word;
}

bool words_state_of(const char *word, enum lock_state *ret) {
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (strcasecmp(states[i].word, word) != 0) continue; /* older histories have capitals */
        *ret = (enum lock_state)i;
        return true;
    }
    return false;
}

const char *words_state_title(enum lock_state state) {
    return states[state].title;
}
enum tone words_state_tone(enum lock_state state) {
    return states[state].tone;
}

void words_state_chip(struct doc *doc, enum lock_state state) {
    static const char *const marks[] = {[TONE_PLAIN] = "\xe2\x97\x8b",
                                        [TONE_GOOD] = "\xe2\x9c\x93",
                                        [TONE_WARN] = "!",
                                        [TONE_BAD] = "\xe2\x9c\x97"};
    enum tone tone = words_state_tone(state);
    doc_set_tone(doc, tone);
    doc_chip(doc, DOC_CHIP, tone, state == LOCK_UNCHECKED ? "?" : marks[tone], words_state(state),
             words_state_title(state));
}

static const struct {
    const char *word, *help;
} helps[] = {
    {WORDS_LIMITED, "the load generator or the machine was late, so long waits are partly theirs"},
    {WORDS_IDLE_FAULT,
     "a fault of its workload never acted, so the verdict is about a load without the fault"},
    {WORDS_BOUND,
     "with 95 % confidence the true rate of overlaps is below this; n: the grants during "
     "which another client waited"},
    {WORDS_COST,
     "the time between two grants of a key, without the time that its holders were inside: what the lock "
     "itself takes where clients always wait"},
    {NUMBER_NEVER,
     "more requests than this percentile leaves out were never granted, so it has no end: worse than "
     "any number"},
    {"level",
     "too close for a difference: within 5 % of the time between two grants, or the repeats have a "
     "value in common"},
    {"its state is",
     "what is left of a granted lock when its server or machine fails (durability)"},
    {"guarantee",
     "where the lock's state is decided, and so which failure can make two clients disagree about "
     "it"},
};

const char *words_help(const char *word) {
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (strcmp(helps[i].word, word) == 0) return helps[i].help;
    return NULL;
}

void words_list(struct doc *doc) {
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        doc_term(doc, helps[i].word, "%s", helps[i].help);
}

char *words_machine(const json_t *environment, char *text, size_t size) {
    const char *model = json_string_value(json_object_get(environment, "cpu_model"));
    const char *kernel = json_string_value(json_object_get(environment, "kernel"));
    const json_t *cpus = json_object_get(environment, "cpus");
    char count[48] = "";
    if (json_is_integer(cpus))
        snprintf(count, sizeof count, "%" JSON_INTEGER_FORMAT " processor%s",
                 json_integer_value(cpus), json_integer_value(cpus) == 1 ? "" : "s");
    const json_t *servers = json_object_get(environment, "servers_on");
    const char *on = json_string_value(servers);
    snprintf(text, size, "%.200s%s%s%s%.80s%s%s%.200s", doc_or(model, ""),
             model && *count ? ", " : "", count, on ? " (of the servers: " : "", doc_or(on, ""),
             on        ? ")"
             : servers ? " that clients and servers share"
                       : "",
             (model || *count) && kernel ? ", " : "", doc_or(kernel, ""));
    utf8_clean(text); /* it may be cut */
    return text;
}

bool words_is_leased(const struct run_stage *stage) {
    return !stage->crash || strcmp(stage->crash, "lease") == 0;
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
    return lb_guarantee_text(lb_guarantee_from(guarantee));
}

const char *words_guarantee(const struct run_stage *stage) {
    return words_guarantee_text(stage->guarantee);
}

char *words_durability_full(const struct run_stage *stage) {
    const char *server = stage->durability ? stage->durability : "not stated",
               *note = stage->durability_note;
    char *text;
    if (asprintf(&text, "%s%s%s%s%s%s", note ? note : "", note ? " (the server: " : "", server,
                 note ? ")" : "", stage->encryption ? "; " : "",
                 stage->encryption ? stage->encryption : "") < 0)
        return NULL;
    return text;
}

void words_capacity_durability_cell(struct doc *doc, const struct capacity_lock *lock) {
    const struct run_stage stage = {.durability = lock->durability,
                                    .durability_class = lock->durability_class,
                                    .durability_note = lock->durability_note};
    const char *kind = words_durability_text(words_durability(&stage));
    char *full = words_durability_full(&stage);
    bool repeats = full && strncmp(full, kind, strlen(kind)) == 0;
    if (!full) doc->failed = true;
    doc_cell(doc, "%s%s%s", repeats ? "" : kind, repeats ? "" : ": ", doc_or(full, ""));
    free(full);
}

char *words_capacity_interval(const struct capacity_lock *lock, char *text) {
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
    number_text(lock->low, &number_plain, low);
    number_text(lock->high, &number_plain, high);
    if (isnan(lock->high))
        snprintf(text, WORDS_INTERVAL_MAX, "%s and more", low);
    else
        snprintf(text, WORDS_INTERVAL_MAX, "%s .. %s", low, high);
    return text;
}

const char *words_durability_text(enum durability durability) {
    return durabilities[durability].text;
}
const char *words_durability_title(enum durability durability) {
    return durabilities[durability].title;
}
