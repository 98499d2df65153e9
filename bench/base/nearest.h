/* nearest: the name that a user who mistyped one probably meant, or what a removed one became.
 *
 * The distance is optimal string alignment (Damerau-Levenshtein where each swap of neighbours is
 * used once), without regard to case. Distant names are not offered, because a wrong hint is worse
 * than none. */
#ifndef BENCH_BASE_NEAREST_H
#define BENCH_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *typed; /* borrowed */
    const char *best;  /* borrowed; NULL = no name was near enough so far */
    int distance;      /* of best */
};

void nearest_init(struct nearest *nearest, const char *typed);

/* Offers one candidate, which must live as long as the answer is used. */
void nearest_offer(struct nearest *nearest, const char *name);

/* What is appended to the error for a name that an earlier version had: ", removed in 0.2.0: ...", static; NULL for
 * another name. An option is named with its command, "plan --hold", a key with its section, "run.order". */
const char *nearest_removed(const char *name);

/* What is appended to an error: what to use instead of a name that an earlier version had, or ", did
 * you mean 'redis-setnx'?", or "". Uses at most size bytes of text; the result is text or static. */
const char *nearest_hint(const struct nearest *nearest, char *text, size_t size);

#endif
