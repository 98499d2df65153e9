/* list_about: the facts in a lock's table (driver.h: struct lb_about), in words. All texts are for
 * people. Functions that build one write at most size bytes and return text. */
#ifndef BENCH_CLI_LIST_ABOUT_H
#define BENCH_CLI_LIST_ABOUT_H

#include <jansson.h>
#include <stdio.h>

#include "drivers/driver.h"
#include "report/doc/doc.h"

/* A fact about a lock. name: at most 22 characters, the width of a terminal's column of names. */
struct about_fact {
    const char *name;
    /* NULL or "" if the fact is not stated for the lock; may write at most size bytes into text. */
    const char *(*text)(const struct lb_lock *lock, char *text, size_t size);
};

/* The facts about a lock in `list NAME` and drivers/LOCKS.md, in this order; ends with a NULL
 * name. */
extern const struct about_fact about_facts[];

/* Adds each fact as a term. */
void about_terms(const struct lb_lock *lock, struct doc *doc);

/* The same for machines: new reference, NULL when out of memory. */
json_t *about_json(const struct lb_lock *lock);

/* Adds the figures of the lock that have a known cause; nothing if there are none. */
void about_causes(const struct lb_lock *lock, struct doc *doc);
/* Adds a table of the verdicts that are expected of the lock under each fault that it states. */
void about_expected(const struct lb_lock *lock, struct doc *doc);

/* The same for machines: {"pause": {"worst", "why"}}; new reference, NULL when out of memory. */
json_t *about_expected_json(const struct lb_lock *lock);

/* Adds a table of the names of a key on the server, with the default options of the lock. 0, or -1
 * with err if the lock refuses the key, or if other programs can't reach it. */
int about_key(const struct lb_lock *lock, const char *key, int64_t lease_ns, struct doc *doc,
              struct lb_err *err);

/* The same in one line, into text; "" if there are none. */
const char *about_key_text(const struct lb_lock *lock, const char *key, char *text, size_t size);

/* Writes drivers/LOCKS.md: one block for each lock, with its facts and the verdicts that are
 * expected under faults. */
void about_page(FILE *out);

#endif
