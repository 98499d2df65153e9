/* words: the verdict of a report in sentences, the same for the terminal, Markdown and the page.
 *
 * First what is missing, unless there is worse to say, then whether every lock excluded, then
 * whether the generator was the limit and a steady state was reached, then each lock's own, at last
 * what ran and on what. It escapes nothing: names and reasons come from servers and files, so each
 * output escapes them its own way. */
#ifndef REPORT_RUN_WORDS_H
#define REPORT_RUN_WORDS_H

#include "bench/base/durability.h"
#include "report/doc/doc.h"
#include "report/run/model.h"

struct words_line {
    enum tone tone;
    char *text;
};

struct words {
    struct words_line *lines;
    int count;
    int headline; /* index of the line that answers "does each lock exclude?" */
};

/* NULL with err when out of memory. */
struct words *words_make(const struct report *report, struct lb_err *err);
void words_free(struct words *words);

/* Adds them to a document, in a box. */
void words_add(const struct words *words, struct doc *doc);

/* Adds a sentence. 0, or -1 when out of memory. */
int words_say(struct words *words, enum tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const char *words_state(enum lock_state state); /* one word for a table: "clean", "VIOLATED" */
const char *words_state_title(enum lock_state state); /* the same as a short sentence */
enum tone words_state_tone(enum lock_state state);
/* The state as a chip in the last cell, and the cell's tone. */
void words_state_chip(struct doc *doc, enum lock_state state);

/* The lock's claims as people read them, "excludes, crash-release", into text; "" when it claims
 * nothing. */
char *words_claims(const struct run_stage *stage, char *text, size_t size);

/* What the lock's state survives, as the result file states it; DURABILITY_UNKNOWN for files of
 * builds that did not state it. */
enum durability words_durability(const struct run_stage *stage);
/* Where the truth about the lock lives, and so what can make two clients disagree about it: "one
 * server"; "not stated" for runs that do not tell. */
const char *words_guarantee(const struct run_stage *stage);
/* of its name in the result files; may be NULL */
const char *words_guarantee_text(const char *guarantee);
/* In full: where the lock's own state lives when that is told, then its server's durability.
 * Malloced; NULL when out of memory. */
char *words_durability_full(const struct run_stage *stage);
const char *words_durability_text(enum durability durability);  /* "on disk first" */
const char *words_durability_title(enum durability durability); /* a sentence */

#endif
