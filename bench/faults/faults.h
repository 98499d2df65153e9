/* faults: what the supervisor does to clients, servers and wires during the load, by the plan's
 * [fault] sections.
 *
 * schedule.c has the schedule and the table of kinds (kinds.h); clients.c, injected.c, servers.c
 * and wires.c carry the injections out and find the sign that each took effect; clients.c also chooses
 * the clients that an injection hits; log.c keeps the log, and says which grants end by it. The
 * stage's seed decides which victim comes first, and all times that are drawn; the next victim is the
 * next client that can be hit. The last living worker process is never killed. One client alone can be
 * paused, killed or cut off only if it has a worker process for itself. */
#ifndef BENCH_FAULTS_FAULTS_H
#define BENCH_FAULTS_FAULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/load/worker.h"
#include "bench/place/place.h"
#include "bench/servers/wire.h"
#include "bench/workload/plan.h"

#define FAULT_ACTS_MAX 64 /* under way at one time */

/* A section at work. */
struct fault_section {
    const struct plan_fault *plan;
    int64_t next_ns;  /* when the next injection is due; LB_NEVER = there is no further one */
    int injections;   /* so far */
    int64_t acted_ns; /* when it last acted; 0 = not yet */
    /* until when the section waits for a holder or a victim, by lb_now(); 0 = it does not wait */
    int64_t patience_until;
};

/* Sums over the clients that an injection hits. */
struct fault_counts {
    uint64_t renewals, held_back, wall_reads;
};

/* An injection that lasts for a time. */
struct fault_act {
    const struct plan_fault *plan; /* NULL = free */
    int event;                     /* its entry in the log */
    int64_t until_ns;              /* LB_NEVER = the load's end */
    bool returning;                /* a server that was started again and does not answer yet */
    int process, node, wire_fault;
    uint32_t first_client, client_count;
    struct fault_counts before; /* when the injection began */
    int64_t beat_ns;            /* a paused process's last heartbeat before it stood still */
    bool stood;                 /* the paused process stood still when the injection began */
    bool cut_open;              /* the oplog has a cut of these clients that lasts */
};

struct faults {
    const struct place *place; /* with the servers and connections that injections can act on */
    struct fault_log *log;
    struct shared *shared;
    struct workers *workers;
    int64_t begin_ns;
    struct fault_section sections[PLAN_FAULTS_MAX];
    struct fault_act acts[FAULT_ACTS_MAX];
    int next_node;
    uint32_t next_client;
};

/* Starts the schedule of the injections at the window's begin. */
void faults_begin(struct faults *faults, const struct place *place, struct fault_log *log,
                  struct shared *shared, struct workers *workers, int64_t begin_ns);

/* Begins and ends the injections that are due. True if there was any; *ret_next_ns: when the function must be called
 * again. */
bool faults_turn(struct faults *faults, int64_t now_ns, int64_t *ret_next_ns);

/* Whether an injection lasts now that keeps clients from getting their locks. */
bool faults_acting(const struct faults *faults);

/* The window is over: ends all injections that still last. A server that was started again may not answer yet: call
 * faults_turn until faults_returning says no. */
void faults_end(struct faults *faults);

/* Whether a server that was started again does not answer yet; after 30 s it is not awaited any more. */
bool faults_returning(const struct faults *faults);

/* The load is over: completes the signs of the injections that still last. */
void faults_done(struct faults *faults);

/* The record of a stage's injections: what was done to clients, servers and wires, when, and by
 * which sign it is known that the injection took effect. One writer: the supervisor. */

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
    int64_t
        tested; /* how many the injection put to the test: evidence/recovery.h; -1 = not known */
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
