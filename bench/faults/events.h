/* events: the record of a stage's injections: what was done to clients, servers and wires, when, and by
 * which sign it is known that the injection took effect. One writer: the supervisor. */
#ifndef BENCH_FAULTS_EVENTS_H
#define BENCH_FAULTS_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/workload/plan.h"

/* One injection. */
struct fault_event {
    enum injection kind;
    int section;       /* of the plan's */
    char target[24];   /* as the plan has it */
    int process, node; /* that it hit; -1 = none, or all */
    /* the same; the client that was looked for, and what it held or waited for */
    int64_t client, key;
    int64_t held; /* the grants that its victims had when it began; -1 = not known */
    /* those of them that lasted until its end, or that have no lease; -1 = not known, or it did not end */
    int64_t outlasted;
    /* by lb_now(); a killed one's end is when it was gone; 0 = it never ended */
    int64_t begin_ns, end_ns;
    /* a server's process was gone by then; 0 = not killed. To kill a process takes a while. */
    int64_t gone_ns;
    bool acted;
    char sign[160]; /* how it is known that the injection took effect, or why it did not */
};

/* A stage's. Zeroed = empty; fault_log_done frees. */
struct fault_log {
    struct fault_event *events;
    int count;
    bool servers_touched; /* the servers are no longer as they were started */
    bool servers_lost;    /* one of them is gone for good */
};

void fault_log_done(struct fault_log *log);

/* The first of the plan's sections of which nothing acted, though each injection was due; -1 = none. *ret_why: what
 * its last injection says, or that there was none; as long as the log. */
int fault_log_idle(const struct fault_log *log, const struct plan *plan, const char **ret_why);

/* The log as run.json has it, in seconds from the window's begin: a new reference, NULL when out of
 * memory. */
json_t *fault_log_json(const struct fault_log *log, int64_t window_begin_ns);

#endif
