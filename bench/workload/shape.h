/* shape: the option types of workload keys whose values have a grammar of their own. An error describes the
 * mistake in the value; the caller adds the source.
 *
 *   dist       "0", "5ms", "constant:5ms", "exponential:5ms", "lognormal:5ms:0.7"
 *   arrival    "closed", "constant:500/s", "poisson:0.5"; the "/s" may be left out
 *   keyspace   "own", "1", "1000", "1000 uniform", "1000 zipf:0.99"
 *   key_names  "orders/7,orders/8": names between commas, each once, of 1 to 95 bytes
 *   numbers    "1,2,4": one stage each, at most PLAN_LADDER_MAX
 *   leases     the same of durations: "10s", "500ms, 1s, 2s"
 *   rtts       the same, or "none" (no wire): "1ms", "none, 0, 500us, 20ms"
 */
#ifndef BENCH_WORKLOAD_SHAPE_H
#define BENCH_WORKLOAD_SHAPE_H

#include "bench/option/option.h"

extern const struct lb_option_type type_dist;      /* struct dist */
extern const struct lb_option_type type_arrival;   /* struct arrival */
extern const struct lb_option_type type_keyspace;  /* struct keyspace */
extern const struct lb_option_type type_key_names; /* struct key_names */
/* lists, each value once, and their count in the member of struct plan behind them */
extern const struct lb_option_type type_numbers;           /* int[PLAN_LADDER_MAX] */
extern const struct lb_option_type type_leases, type_rtts; /* int64_t[PLAN_LADDER_MAX] */

/* Adds a copy of the name to those that an option has. Refuses one that is there already. 0, or -1 with err. */
int names_add(const char **names, int *count, const char *name, struct arena *arena,
              struct lb_err *err);
/* Writes the names with the joint between; text stays where there is none. Returns text. */
char *names_text(const char *const *names, int count, const char *joint, char *text, size_t size);

/* Refuses a text that can't be the exact name of one key: an empty or too long text, a text with a comma, or one with
 * blanks at an end. 0, or -1 with err. */
int key_name_check(const char *name, struct lb_err *err);

#endif
