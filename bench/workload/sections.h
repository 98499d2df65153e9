/* sections: every key of a workload file, in a table for each section. The tables drive reading,
 * defaults, --set, printing, run.json and help, so a key is one row: of keys.def, or here of a
 * fault section.
 *
 * A workload has up to PLAN_FAULTS_MAX fault sections ("fault", "fault.2", ...) of one table. The
 * keys of locks and backends are not here: they are in the drivers' option tables. */
#ifndef BENCH_WORKLOAD_SECTIONS_H
#define BENCH_WORKLOAD_SECTIONS_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

#define DISTANCE_MAX_NS LB_S_NS /* of servers.rtt */

struct section {
    const char *name;
    const struct lb_option
        *keys;     /* members of struct plan; for fault sections of struct plan_fault */
    size_t offset; /* of the struct with these members in struct plan */
    bool later;    /* a fault section behind the first: with the same keys, printed if it is used */
};

/* The sections, in the order to print them; ends with a NULL name. */
const struct section *sections(void);

/* Finds a section by name; NULL if there is none. */
const struct section *section_find(const char *name);

/* The name of the number-th fault section, from 0: "fault", "fault.2", ... */
const char *fault_section_name(int number);

/* Returns the struct that has the section's keys as members. Like strchr it also accepts a const
 * plan, whose owner must not write through the result. */
void *section_values(const struct section *section, const struct plan *plan);

/* The types of keys whose values have a grammar of their own. An error describes the mistake in the value; the caller adds
 * the source.
 *
 *   dist       "0", "5ms", "constant:5ms", "exponential:5ms", "lognormal:5ms:0.7"
 *   arrival    "closed", "constant:500/s", "poisson:0.5"; the "/s" may be left out
 *   keyspace   "own", "1", "1000", "1000 uniform", "1000 zipf:0.99"
 *   key_names  "orders/7,orders/8": names between commas, each once, of 1 to 95 bytes
 *   numbers    "1,2,4": one stage each, at most PLAN_LADDER_MAX
 *   leases     the same of durations: "10s", "500ms, 1s, 2s"
 *   rtts       the same, or "none" (no wire): "1ms", "none, 0, 500us, 20ms"
 */

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
extern const struct lb_option_type
    type_topologies;                            /* struct plan: .topologies and .topology_count */
extern const struct lb_option_type type_target; /* struct plan_fault: .target and .node */

#endif
