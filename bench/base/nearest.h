/* nearest: the name that a user who mistyped one probably meant.
 *
 * The distance is optimal string alignment (Damerau-Levenshtein where each swap of neighbours is
 * used once), without regard to case. Distant names are not offered, because a wrong hint is worse
 * than none. */
#ifndef BENCH_BASE_NEAREST_H
#define BENCH_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *typed; /* borrowed */
    char best[64];     /* "" = no name was near enough so far */
    int distance;      /* of best */
};

void nearest_init(struct nearest *nearest, const char *typed);

/* Offers one candidate. */
void nearest_offer(struct nearest *nearest, const char *name);

/* What is appended to an error: ", did you mean 'redis-setnx'?", or "". Uses at most size bytes of text, which it
 * returns. */
const char *nearest_hint(const struct nearest *nearest, char *text, size_t size);

#endif
