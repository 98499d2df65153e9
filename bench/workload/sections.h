/* sections: every key of a workload file, in a table for each section. The tables drive reading,
 * defaults, --set, printing, run.json and help, so a key is one entry here, one member of struct
 * plan, and a row of workloads/README.md, for which test_plan asks.
 *
 * A workload has up to PLAN_FAULTS_MAX fault sections ("fault", "fault.2", ...) of one table. The
 * keys of locks and backends are not here: they are in the drivers' option tables. */
#ifndef BENCH_WORKLOAD_SECTIONS_H
#define BENCH_WORKLOAD_SECTIONS_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

struct section {
    const char *name;
    /* members of struct plan; for fault sections of struct plan_fault */
    const struct lb_option *keys;
};

/* The sections, in the order to print them; ends with a NULL name. */
const struct section *sections(void);

/* Finds a section by name; NULL if there is none. *ret_number: the number of a fault section, from
 * 0; 0 for all others. */
const struct section *section_find(const char *name, int *ret_number);

/* How many sections with these keys a plan has: 1, or PLAN_FAULTS_MAX. */
int section_count(const struct section *section);

/* Returns the struct that has the section's keys as members. Like strchr it also accepts a const
 * plan, whose owner must not write through the result. */
void *section_values(const struct section *section, const struct plan *plan, int number);

#endif
