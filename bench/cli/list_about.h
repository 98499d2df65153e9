/* list_about: what a lock's table says of it (driver.h: struct lb_about), in words. All texts are
 * for people; those that are built write at most size bytes and return text. */
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

/* What `list NAME` and drivers/LOCKS.md say of a lock, in this order; ends with a NULL name. */
extern const struct about_fact about_facts[];

/* Adds each fact as a term. */
void about_terms(const struct lb_lock *lock, struct doc *doc);

/* The same for machines: new reference, NULL when out of memory. */
json_t *about_json(const struct lb_lock *lock);

/* Adds the figures that the lock has a known cause for; nothing where it has none. */
void about_causes(const struct lb_lock *lock, struct doc *doc);
/* Adds a table of what the lock is expected to do under each fault that it states. */
void about_expected(const struct lb_lock *lock, struct doc *doc);

/* The same for machines: {"pause": {"worst", "why"}}; new reference, NULL when out of memory. */
json_t *about_expected_json(const struct lb_lock *lock);

/* Adds a table of what a key is called on the server, with the lock's options by default. 0, or -1 with
 * err if the lock refuses the name or nothing of it can be reached by others. */
int about_key(const struct lb_lock *lock, const char *key, int64_t lease_ns, struct doc *doc,
              struct lb_err *err);

/* The same in one line, into text; "" where there is none. */
const char *about_key_text(const struct lb_lock *lock, const char *key, char *text, size_t size);

/* Writes drivers/LOCKS.md: every lock, one block each: what it is, and what it is expected to do
 * under faults. */
void about_page(FILE *out);

#endif
