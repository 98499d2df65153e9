/* shape: the values of a workload that have a grammar of their own, from text. plan.h has the way
 * back.
 *
 * Each reader: 0, or -1 with err (LB_EXIT_USAGE) and the result untouched. The error says what is
 * wrong with the value, not where it stands. */
#ifndef BENCH_WORKLOAD_SHAPE_H
#define BENCH_WORKLOAD_SHAPE_H

#include "bench/workload/plan.h"

#define SHAPE_TIME_MAX_NS                                                                          \
    (3600 * LB_S_NS)       /* of a mean hold or think: the range of the histograms */
#define SHAPE_RATE_MAX 1e7 /* arrivals a second */

/* "0", "5ms", "constant:5ms", "exponential:5ms", "lognormal:5ms:0.7". */
int dist_parse(const char *text, struct dist *ret, struct lb_err *err);

/* "closed", "constant:500/s", "poisson:0.5"; the "/s" may be left out. */
int arrival_parse(const char *text, struct arrival *ret, struct lb_err *err);

/* "own", "1", "1000", "1000 uniform", "1000 zipf:0.99". */
int keyspace_parse(const char *text, struct keyspace *ret, struct lb_err *err);

/* "none", "yield", or a duration above 0. */
int gap_parse(const char *text, enum check_gap *ret_gap, int64_t *ret_ns, struct lb_err *err);
char *gap_text(enum check_gap gap, int64_t ns, char *text, size_t size);

/* Numbers min to max, one stage each: a list of numbers and ladders. "1,2,4"; "1..64 x2" doubles
 * from 1 to 64; "10..50 +10" adds; "1, 2, 10..40 +10" mixes. The far end of a ladder is always its
 * last step. */
int ladder_parse(const char *text, int min, int max, int steps[PLAN_LADDER_MAX], int *ret_count,
                 struct lb_err *err);

/* "1, 2, 4": every step written out. Returns text. */
char *ladder_text(const int *steps, int count, char *text, size_t size);

#endif
