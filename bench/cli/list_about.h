/* list_about: what a lock's table says of it (driver.h: struct lb_about), in words. All texts are
 * for people; those that are built write at most size bytes and return text. */
#ifndef BENCH_CLI_LIST_ABOUT_H
#define BENCH_CLI_LIST_ABOUT_H

#include <jansson.h>
#include <stdio.h>

#include "drivers/driver.h"

/* "2 + 1" (acquire and release); "none" where there is no server. */
char *about_requests(const struct lb_lock *lock, char *text, size_t size);

/* "when its lease ends, up to 1s later". */
char *about_crash(const struct lb_lock *lock, char *text, size_t size);

/* Where the truth about the lock lives. */
const char *about_guarantee(const struct lb_lock *lock);

/* "violated": how a control must show. */
const char *about_exposed(const struct lb_lock *lock);

/* All of it as lines of a name and a value, for `list NAME`. */
void about_print(const struct lb_lock *lock, FILE *out);

/* The same for machines: new reference, NULL when out of memory. */
json_t *about_json(const struct lb_lock *lock);

/* What the lock is expected to do under each fault that it states, a line each, for `list NAME`. */
void about_print_expected(const struct lb_lock *lock, FILE *out);

/* The same for machines: {"pause": {"worst", "why"}}; new reference, NULL when out of memory. */
json_t *about_expected_json(const struct lb_lock *lock);

/* Writes drivers/LOCKS.md: every lock, one block each: what it is, and what it is expected to do
 * under faults. */
void about_page(FILE *out);

#endif
