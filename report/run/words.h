/* words: the words for states, durabilities and guarantees of locks, the same in every
 * document. */
#ifndef REPORT_RUN_WORDS_H
#define REPORT_RUN_WORDS_H

#include "bench/base/verdict.h"
#include "report/doc/doc.h"
#include "report/run/model.h"
#include "results/format/capacity_read.h"

const char *words_state(enum lock_state state); /* one word for a table: "clean", "VIOLATED" */
/* Finds the state with that word. False if there is none. */
bool words_state_of(const char *word, enum lock_state *ret);
/* The same in words, which may follow the name of a lock: "admitted two clients at once: ...". */
const char *words_state_title(enum lock_state state);
enum tone words_state_tone(enum lock_state state);
/* Adds the state as a chip to the last cell, and sets the cell's tone. */
void words_state_chip(struct doc *doc, enum lock_state state);

#define WORDS_MACHINE_MAX 460
/* Writes the machine of a run as people read it, "CPU, 2 processors, Linux 6.1", into text; "" if the environment tells
 * nothing of it. environment may be NULL. */
char *words_machine(const json_t *environment, char *text, size_t size);

/* True if a grant has a lease of its own; also for older results, which do not say it. */
bool words_is_leased(const struct run_stage *stage);
/* Words that documents use without an explanation. */
#define WORDS_LIMITED "generator-limited"
#define WORDS_IDLE_FAULT "not put to the fault"
#define WORDS_BOUND "bound 3/n"
#define WORDS_COST "cost of a grant"
/* One line that explains such a word; NULL for any other text. */
const char *words_help(const char *word);
/* Adds all these words with their explanations, as terms. */
void words_list(struct doc *doc);

/* The durability of the lock's state, as the result file states it; DURABILITY_UNKNOWN for files of
 * builds that did not state it. */
enum durability words_durability(const struct run_stage *stage);
/* The guarantee of the lock, which decides what can make two clients disagree about it: "one
 * server"; "not stated" for runs that do not state it. */
const char *words_guarantee(const struct run_stage *stage);
/* name: as in the result files; may be NULL */
const char *words_guarantee_text(const char *guarantee);
/* The durability in full: where the lock's own state lives, if that is stated, then the durability
 * of its server. Malloced; NULL when out of memory. */
char *words_durability_full(const struct run_stage *stage);
/* Adds a cell with the class of the durability, then the durability in full: "on disk first: write-ahead log, ...". */
void words_capacity_durability_cell(struct doc *doc, const struct capacity_lock *lock);
/* The interval of an answer: "360 .. 425", or "360 and more" if it has no upper end. text: WORDS_INTERVAL_MAX bytes.
 * Returns text. */
#define WORDS_INTERVAL_MAX (2 * NUMBER_TEXT_MAX + 16)
char *words_capacity_interval(const struct capacity_lock *lock, char *text);
const char *words_durability_text(enum durability durability);  /* "on disk first" */
const char *words_durability_title(enum durability durability); /* the same as a sentence */

#endif
