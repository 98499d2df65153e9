/* shape: the option types of workload keys whose values have a grammar of their own. An error describes the
 * mistake in the value; the caller adds the place.
 *
 *   dist       "0", "5ms", "constant:5ms", "exponential:5ms", "lognormal:5ms:0.7"
 *   arrival    "closed", "constant:500/s", "poisson:0.5"; the "/s" may be left out
 *   keyspace   "own", "1", "1000", "1000 uniform", "1000 zipf:0.99"
 *   key_names  "orders/7,orders/8": names between commas, each once, of 1 to 95 bytes
 *   numbers    "1,2,4": one stage each, at most PLAN_LADDER_MAX
 */
#ifndef BENCH_WORKLOAD_SHAPE_H
#define BENCH_WORKLOAD_SHAPE_H

#include "bench/option/option.h"

extern const struct lb_option_type type_dist;      /* struct dist */
extern const struct lb_option_type type_arrival;   /* struct arrival */
extern const struct lb_option_type type_keyspace;  /* struct keyspace */
extern const struct lb_option_type type_key_names; /* struct key_names */
extern const struct lb_option_type type_numbers;   /* int[PLAN_LADDER_MAX], and their count */

/* Reads a list of numbers, or of durations in ns, each once. Of durations the word that means 0 is NO_DURATION. ret: room
 * for PLAN_LADDER_MAX. How many there are, or -1 with err. */
int list_read(const struct lb_option *option, const char *text, bool durations, int64_t *ret,
              struct lb_err *err);

/* Refuses a text that can't be the exact name of one key: an empty or too long text, a text with a comma, or one with
 * blanks at an end. 0, or -1 with err. */
int key_name_check(const char *name, struct lb_err *err);

#endif
