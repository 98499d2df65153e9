/* shape: the option types of workload keys whose values have a grammar of their own. An error describes the
 * mistake in the value; the caller adds the place.
 *
 *   dist       "0", "5ms", "constant:5ms", "exponential:5ms", "lognormal:5ms:0.7"; "window"
 *   arrival    "closed", "constant:500/s", "poisson:0.5"; the "/s" may be left out
 *   keyspace   "own", "1", "1000", "1000 uniform", "1000 zipf:0.99"
 *   key_names  "orders/7,orders/8": names between commas, each once, of 1 to 95 bytes
 *   ladder     numbers min to max, one stage each: a list of numbers and ladders. "1,2,4"; "1..64 x2"
 *              doubles from 1 to 64; "10..50 +10" adds; "1, 2, 10..40 +10" mixes. The far end of a
 *              ladder is always its last step. At most PLAN_LADDER_MAX steps.
 */
#ifndef BENCH_WORKLOAD_SHAPE_H
#define BENCH_WORKLOAD_SHAPE_H

#include "bench/option/option.h"

extern const struct lb_option_type type_dist;      /* struct dist */
extern const struct lb_option_type type_arrival;   /* struct arrival */
extern const struct lb_option_type type_keyspace;  /* struct keyspace */
extern const struct lb_option_type type_key_names; /* struct key_names */
extern const struct lb_option_type type_ladder;    /* int[PLAN_LADDER_MAX], and their count */

/* Refuses a text that can't be the exact name of one key: an empty or too long text, a text with a comma, or one with
 * blanks at an end. 0, or -1 with err. */
int key_name_check(const char *name, struct lb_err *err);

#endif
