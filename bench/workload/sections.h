/* sections: every key of a workload file, in a table for each section. The tables drive reading,
 * defaults, --set, printing, run.json and help, so a key is one entry here, one member of struct
 * plan, and nothing else.
 *
 * A workload has up to PLAN_FAULTS_MAX fault sections ("fault", "fault.2", ...) of one table. The
 * keys of locks and backends are not here: they are in the drivers' option tables. */
#ifndef BENCH_WORKLOAD_SECTIONS_H
#define BENCH_WORKLOAD_SECTIONS_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

struct section {
    const char *name;
    const struct lb_option *keys; /* of struct plan; of the fault sections: of struct plan_fault */
};

/* The sections, in the order to print them; ends with a NULL name. */
const struct section *sections(void);

/* The section of a name; NULL if there is none. *ret_number: which of the fault sections, from 0;
 * 0 for all others. */
const struct section *section_find(const char *name, int *ret_number);

/* How many sections a plan has of this one's keys: 1, or PLAN_FAULTS_MAX. */
int section_count(const struct section *section);

/* "load"; "fault", "fault.2", ... Writes at most size bytes, returns text. */
char *section_text(const struct section *section, int number, char *text, size_t size);

/* The struct that the section's keys are members of. Like strchr it takes a const plan, too: who
 * has one must not write. */
void *section_values(const struct section *section, const struct plan *plan, int number);

/* Whether the section says anything: a fault section behind the first may be unused. */
bool section_is_used(const struct section *section, const struct plan *plan, int number);

#endif
