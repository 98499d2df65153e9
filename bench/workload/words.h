/* words: the meaning of the words of --lock: a lock's name, a backend's, a primitive's, "all",
 * "one-of-each", "controls". */
#ifndef BENCH_WORKLOAD_WORDS_H
#define BENCH_WORKLOAD_WORDS_H

#include <stdbool.h>

#include "bench/base/err.h"
#include "drivers/driver.h"

/* Whether a word, with or without a "?" after it, means this lock. "all" includes controls. */
bool word_means(const char *word, const struct lb_lock *lock);

/* Returns 0 if the word means any lock, or -1 with err (LB_EXIT_USAGE) and the nearest name. */
int word_check(const char *word, struct lb_err *err);

#endif
