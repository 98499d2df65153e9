/* search: which load to probe next, and what all probes together say of the greatest load that
 * keeps a promise.
 *
 * First a bracket: from a first guess up while the promise is kept, down while it is broken. Then
 * rounds of probes on both sides of where the edge seems to be, in shuffled order, so that a
 * machine that slows down slows both sides alike. The answer is the edge of all probes (edge.h),
 * not the end of one path: one unlucky probe costs a vote. Probes in which the generator was too
 * slow are repeated and left out, kept or not: to leave out only those that were not kept would
 * push the edge up. Where a side has too few others the kept ones count, and the answer says why.
 * Pure: it runs nothing and reads no clock; who runs the probes says how much time is left. */
#ifndef BENCH_CAPACITY_SEARCH_H
#define BENCH_CAPACITY_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/capacity/edge.h"

#define SEARCH_LEVEL 0.95
#define SEARCH_ROUND 4 /* probes in a round */

struct search_ask {
    double start, least, most; /* loads, above 0 */
    double allowed;            /* the share of samples that may be over the limit */
    bool whole;                /* loads are whole numbers */
    uint64_t seed;
};

struct search_result {
    double load;
    uint64_t over, samples; /* samples 0: the probe brought nothing */
    bool kept;              /* with confidence */
    bool limited;           /* the generator was so slow that it may have decided this */
};

struct search {
    struct search_ask ask;
    struct search_result results[EDGE_POINTS_MAX];
    int count;
    double round[SEARCH_ROUND]; /* loads still to probe, from the end */
    int round_left, rounds;
    int again_left; /* of the round: limited probes that may be repeated */
    double load;    /* the last that was asked for */
};

enum search_limit { SEARCH_NO_ANSWER, SEARCH_BY_PROMISE, SEARCH_BY_GENERATOR, SEARCH_BY_RANGE };

struct search_answer {
    enum search_limit limit;
    double load, low,
        /* interval at SEARCH_LEVEL; high infinite where limit is the range or the generator */
        high;
    const char *why; /* in words; NULL when it is simply the promise */
};

void search_init(struct search *search, const struct search_ask *ask);

/* The next load. False when more probes would not change much, or none can be of use. more: there
 * is time for another. */
bool search_next(struct search *search, bool more, double *ret_load);

/* What a probe brought. At most EDGE_POINTS_MAX; search_next ends the search before. */
void search_add(struct search *search, const struct search_result *result);

/* What is known so far. */
struct search_answer search_answer(const struct search *search);

#endif
