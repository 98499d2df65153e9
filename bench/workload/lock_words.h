/* lock_words: the words of --lock. A word is the name of a lock or of a group of locks: a backend, a
 * primitive, "all", "one-of-each", "controls". */
#ifndef BENCH_WORKLOAD_LOCK_WORDS_H
#define BENCH_WORKLOAD_LOCK_WORDS_H

#include <stdbool.h>

#include "bench/base/err.h"
#include "drivers/driver.h"

/* Whether a word is a group's name. A group may be empty: there need not be a lock of each
 * primitive. */
bool lock_word_is_group(const char *word);

/* Whether a lock belongs to the group of that name. "all" has controls too. */
bool lock_in_group(const struct lb_lock *lock, const char *word);

/* Whether a word means this lock: by its name, with or without a "?" behind it, or by a group. */
bool lock_word_means(const char *word, const struct lb_lock *lock);

/* Fills err: the group of that name has no lock; LB_EXIT_MACHINE if that may be because this build
 * lacks a client library, else LB_EXIT_USAGE. Always -1. */
int lock_word_none(const char *word, struct lb_err *err);

/* Checks that the word means at least one lock. 0; or -1 with err (LB_EXIT_USAGE), which has the nearest name. */
int lock_word_check(const char *word, struct lb_err *err);

/* Fills err: there is no such name; err also has the nearest name. Returns -1. */
int lock_word_unknown(const char *word, struct lb_err *err);

/* The same where only the name of a lock is allowed. */
int lock_name_unknown(const char *name, struct lb_err *err);

#endif
