/* log: the record of a stage's injections: what was done to clients, servers and wires, when, and by
 * which sign it is known that the injection took effect. One writer: the supervisor. */
#ifndef BENCH_FAULTS_LOG_H
#define BENCH_FAULTS_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/workload/plan.h"

struct faults;
struct fault_section;
struct fault_act;

/* One injection. */
struct fault_event {
    enum injection kind;
    int section;       /* of the plan's */
    char target[24];   /* as the plan has it */
    int process, node; /* that it hit; -1 = none, or all */
    /* the same; the client that was looked for, and what it held or waited for */
    int64_t client, key;
    /* by lb_now(); a killed one's end is when it was gone; 0 = it never ended */
    int64_t begin_ns, end_ns;
    bool acted;
    char sign[160]; /* how it is known that the injection took effect, or why it did not */
};

/* A stage's. Zeroed = empty; log_done frees. */
struct fault_log {
    struct fault_event *events;
    int count;
    bool servers_touched; /* the servers are no longer as they were started */
    bool servers_lost;    /* one of them is gone for good */
};

void fault_log_done(struct fault_log *log);

/* Adds an entry for what the section does now; the caller fills in its sign and end. NULL when out
 * of memory. The entry is valid until the next one is added. */
struct fault_event *fault_log_add(struct faults *faults, const struct fault_section *section,
                                  int64_t begin_ns);

/* Adds an entry for an injection that can't be done: why. */
void fault_log_not(struct faults *faults, const struct fault_section *section, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));

/* Says by which sign the injection is known to have taken effect, or why it did not. */
void fault_log_sign(struct fault_event *event, bool acted, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes the newest entry an injection that lasts from now on. NULL when too many last. */
struct fault_act *fault_log_lasting(struct faults *faults, const struct fault_section *section);

/* The entry of an injection that lasts. */
struct fault_event *fault_log_of(const struct faults *faults, const struct fault_act *act);

/* The log as run.json has it, in seconds from the window's begin: a new reference, NULL when out of
 * memory. */
json_t *fault_log_json(const struct fault_log *log, int64_t window_begin_ns);

#endif
