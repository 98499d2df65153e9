/* words: what the words of --lock mean: a lock's name, a backend's, a primitive's, "all",
 * "one-of-each", "controls". */
#ifndef BENCH_WORKLOAD_WORDS_H
#define BENCH_WORKLOAD_WORDS_H

#include <stdbool.h>

#include "bench/base/err.h"
#include "drivers/driver.h"

/* Whether a word, with or without a "?" behind it, means this lock. "all" means controls too. */
bool word_means(const char *word, const struct lb_lock *lock);

/* 0 if it means any lock; -1 with err (LB_EXIT_USAGE) and the nearest name. */
int word_check(const char *word, struct lb_err *err);

#endif
