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

#endif
