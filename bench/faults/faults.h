/* faults: what the supervisor does to clients, servers and wires during the load, by the plan's
 * [fault] sections.
 *
 * schedule.c has the schedule and the table of kinds (kinds.h); clients.c, injected.c, servers.c
 * and wires.c carry the injections out and find the sign that each took effect; victims.c finds
 * whom an injection hits; excuse.c says which grants end by it; log.c keeps the log. The stage's
 * seed decides which victim comes first, and all times that are drawn; the next victim is the next
 * one that can be hit. The last living worker process is never killed. Clients can be paused,
 * killed and told apart on their wires only where they have worker processes of their own. */
#ifndef BENCH_FAULTS_FAULTS_H
#define BENCH_FAULTS_FAULTS_H

#include "bench/faults/events.h"
#include "bench/load/worker.h"
#include "bench/servers/topo.h"
#include "bench/servers/wire.h"

#define FAULT_ACTS_MAX 64 /* under way at one time */

/* A section's clock. */
struct fault_clock {
    struct lb_rng rng;
    int64_t next_ns; /* LB_NEVER = no more */
    int left;        /* -1 = no limit */
};

/* The first time, from begin_ns on; and the one after. The same plan, seed and section: the same
 * times. */
void fault_clock_begin(struct fault_clock *clock, const struct plan_fault *plan, uint64_t seed,
                       int section, int64_t begin_ns);
void fault_clock_next(struct fault_clock *clock, const struct plan_fault *plan);

/* A section at work. */
struct fault_section {
    const struct plan_fault *plan;
    struct fault_clock clock;
    int64_t acted_ns; /* when it last acted; 0 = not yet */
    /* it waits for a holder, or a victim, no longer; 0 = it does not wait */
    int64_t patience_until;
};

/* Something that lasts. */
struct fault_act {
    const struct plan_fault *plan; /* NULL = free */
    int event;                     /* its entry in the log */
    int64_t until_ns;              /* LB_NEVER = the load's end */
    bool returning;                /* a server that was started again and does not answer yet */
    int process, node, wire_fault;
    uint32_t first_client, client_count;
    uint64_t renewals, held_back; /* when it began */
    uint64_t wall_reads;          /* the same */
    int64_t beat_ns;              /* the last beat when everything stood still */
    bool stood;                   /* it did stand still when it began */
    bool cut_open;                /* what it excuses is to be closed with it */
    bool cut_told;                /* of connections that a wire ended in its time */
};

/* What injections can reach beside clients. */
struct fault_reach {
    struct topo *topo; /* servers that lockbench started; NULL = none */
    struct wire *wire; /* NULL = none */
    /* the wire's ends that clients' connections and servers' own lead through: a bit each */
    uint64_t client_ends, peer_ends;
};

struct faults {
    struct fault_reach reach;
    struct fault_log *log;
    struct shared *shared;
    struct workers *workers;
    int64_t begin_ns;
    struct fault_section sections[PLAN_FAULTS_MAX];
    struct fault_act acts[FAULT_ACTS_MAX];
    int next_process, next_node;
    uint32_t next_client;
};

/* From the window's begin on. */
void faults_begin(struct faults *faults, const struct fault_reach *reach, struct fault_log *log,
                  struct shared *shared, struct workers *workers, int64_t begin_ns);

/* Does what is due. True if anything was done; *ret_next_ns: when there is something to do
 * again. */
bool faults_turn(struct faults *faults, int64_t now_ns, int64_t *ret_next_ns);

/* Whether anything lasts now that keeps clients from their locks. */
bool faults_acting(const struct faults *faults);

/* The window is over: whatever lasts is undone. Servers that were started again may still be on
 * their way: go on with faults_turn. */
void faults_end(struct faults *faults);

/* Whether a server that was started again is still on its way; it has 30 s. */
bool faults_returning(const struct faults *faults);

/* The load is over: completes the signs of the injections that still last. */
void faults_done(struct faults *faults);

#endif
