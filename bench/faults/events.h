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
    int process, node; /* the worker process or the server that was hit; -1 = none, or all */
    /* the client that the injection looked for, and the key that this client held or waited for; -1 = none, or all */
    int64_t client, key;
    int64_t held; /* grants that the victims had when the injection began; -1 = not known */
    /* how many of these grants lasted until the injection's end, or have no lease; -1 = not known, or the injection did
     * not end */
    int64_t outlasted;
    int64_t tested; /* how many the injection put to the test: run/recovery.h; -1 = not known */
    int injection; /* which injection of its section, from 0; one that hits several servers has an event for each */
    /* by lb_now(); end_ns 0 = the injection never ended; of a killed client: when its process was gone */
    int64_t begin_ns, end_ns;
    /* when the process of a killed server was gone, which takes a while; 0 = no server was killed */
    int64_t gone_ns;
    bool acted;     /* the injection took effect */
    char sign[160]; /* how it is known that the injection took effect, or why it did not */
};

/* All injections of a stage. A zeroed struct is empty; fault_log_done frees its memory. */
struct fault_log {
    struct fault_event *events;
    int count;
    bool servers_touched; /* a fault changed or stopped servers: the next stage gets new ones */
    bool servers_lost;    /* a server was killed for good, or did not come back in time */
};

void fault_log_done(struct fault_log *log);

/* The index of the first of the plan's sections of which no injection took effect; -1 = there is no such section.
 * *ret_why: the reason that its last injection gives, or that it had no injection; valid as long as the log. */
int fault_log_idle(const struct fault_log *log, const struct plan *plan, const char **ret_why);

/* The log as run.json has it, in seconds from the window's begin: a new reference, NULL when out of
 * memory. */
json_t *fault_log_json(const struct fault_log *log, int64_t window_begin_ns);

#endif
