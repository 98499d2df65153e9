/* nearest: the name that somebody who mistyped probably meant.
 *
 * Distance: optimal string alignment (Damerau-Levenshtein with each neighbour swap used once),
 * upper and lower case alike. Far-off names are not offered: a wrong hint is worse than none. */
#ifndef BENCH_BASE_NEAREST_H
#define BENCH_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *typed; /* borrowed */
    const char *best;  /* borrowed; NULL = nothing near enough so far */
    int distance;      /* of best */
};

void nearest_init(struct nearest *nearest, const char *typed);

/* Shows one candidate; it must live as long as the answer is used. */
void nearest_offer(struct nearest *nearest, const char *name);

/* ", did you mean 'redis-setnx'?" or "": to be put behind an error. Writes at most size bytes,
 * returns text. */
char *nearest_hint(const struct nearest *nearest, char *text, size_t size);

#endif
