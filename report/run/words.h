/* words: what the states, claims, durabilities and guarantees of locks are called, the same in every
 * document. */
#ifndef REPORT_RUN_WORDS_H
#define REPORT_RUN_WORDS_H

#include "bench/base/durability.h"
#include "report/doc/doc.h"
#include "report/run/model.h"

const char *words_state(enum lock_state state);   /* one word for a table: "clean", "VIOLATED" */
enum lock_state words_state_of(const char *word); /* the state of that word; LOCK_UNCHECKED */
const char *words_state_title(enum lock_state state); /* the same as a short sentence */
enum tone words_state_tone(enum lock_state state);
/* The state as a chip in the last cell, and the cell's tone. */
void words_state_chip(struct doc *doc, enum lock_state state);

/* The lock's claims as people read them, "excludes, crash-release", into text; "" when it claims
 * nothing. */
char *words_claims(const struct run_stage *stage, char *text, size_t size);

/* Words that documents use without more ado. */
#define WORDS_LIMITED "generator-limited"
#define WORDS_IDLE_FAULT "not put to the fault"
#define WORDS_BOUND "bound 3/n"
#define WORDS_RATIO "\xc3\x97 best"
/* One line that explains such a word; NULL for any other text. */
const char *words_help(const char *word);
/* All of them with their lines, as terms. */
void words_list(struct doc *doc);

/* What the lock's state survives, as the result file states it; DURABILITY_UNKNOWN for files of
 * builds that did not state it. */
enum durability words_durability(const struct run_stage *stage);
/* Where the truth about the lock lives, and so what can make two clients disagree about it: "one
 * server"; "not stated" for runs that do not tell. */
const char *words_guarantee(const struct run_stage *stage);
/* of its name in the result files; may be NULL */
const char *words_guarantee_text(const char *guarantee);
/* What can make two clients hold it at once, a sentence; "" where nothing is stated. */
const char *words_guarantee_title(const struct run_stage *stage);
/* Whether two locks survive the same and have their truth in the same kind of place: they may be
 * ranked against each other. */
bool words_same_class(const struct run_stage *a, const struct run_stage *b);
/* In full: where the lock's own state lives when that is told, then its server's durability.
 * Malloced; NULL when out of memory. */
char *words_durability_full(const struct run_stage *stage);
const char *words_durability_text(enum durability durability);  /* "on disk first" */
const char *words_durability_title(enum durability durability); /* a sentence */

#endif
