/* machine: properties of this machine that may spoil measurements: frequency governor, turbo, quotas,
 * affinity, the scheduler, and other load before the run.
 *
 * One table of checks serves `lockbench doctor` and the environment of each result: a new check is one
 * row in machine.c. The checks do not change the machine and do not wait. */
#ifndef BENCH_STAGE_MACHINE_H
#define BENCH_STAGE_MACHINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/load/shared.h"
#include "bench/servers/topo.h"
#include "bench/stage/stage.h"

/* environment: describes the machine of a run for run.json, without names or paths of the
 * machine. */

/* New reference; values that can't be read are null. NULL when out of memory. */
json_t *environment_json(void);

/* steal: the processor time that a virtual machine wanted and that its host gave to others. The
 * client or server that was to run then stood still, and the latencies look as if the lock had
 * caused it.
 *
 * The kernel counts steal for all processors together, in ticks of about 10 ms, and only while a
 * process wants to run: an idle machine has almost none. On real machines it is 0, and also under a
 * host that does not report it. */

/* Since the machine started, over all processors; -1 = not known. */
int64_t steal_now_ns(void);

/* The same from the first line of /proc/stat, "cpu USER NICE ...", which counts in ticks_per_s. */
int64_t steal_read_ns(const char *line, long ticks_per_s);

/* Between two readings; -1 where one is not known. */
int64_t steal_between_ns(int64_t begin_ns, int64_t end_ns);

/* Whether this much in this time affects latencies: 2 % of one processor, whichever, because it may
 * have hit the one that all others waited for, and one moment in 100 decides a p99; but at least a
 * few ticks. */
bool steal_shows(int64_t stolen_ns, int64_t took_ns);

/* wall: notices steps of this machine's wall clock during a stage (by time synchronisation, a suspend, or a
 * user who sets it). Servers that time leases by this clock, as Redis does, then end leases early or keep
 * them too long, and a correct lock looks broken.
 *
 * CLOCK_REALTIME is compared with CLOCK_MONOTONIC: if the difference of the two has changed by WALL_STEP_NS or
 * more between two looks, the wall clock has stepped. The usual steering of the clock (by at most 0.05 %) changes
 * less. Steps of servers' clocks by a fault section are not seen: they are offsets in the servers' own
 * processes. */

#define WALL_STEP_NS INT64_C(10000000) /* less between two looks is steering, or a late look */

struct wall {
    int64_t offset_ns;  /* wall clock minus monotonic clock at the last look; 0 = none yet */
    int64_t step_ns;    /* the sum of all steps; above 0: forward */
    int64_t largest_ns; /* the greatest step, without its sign: steps may cancel out */
};

/* Notes two readings of the clocks that were taken together. */
void wall_note(struct wall *wall, int64_t monotonic_ns, int64_t wall_ns);

/* Reads both clocks and notes them; three readings, some 100 ns. Leaves a pair out that was torn
 * apart because the thread lost its processor between its readings. */
void wall_look(struct wall *wall);

/* server_use: the memory, the writes to disk and the fsyncs that a stage costs the servers that lockbench started.
 * (supervise.c measures their processor time.) The module measures the servers at three times (topo.h) and stores
 * the known figures in the stage. Without such servers, and after a fault that changed them, no figure is known. */

struct server_use {
    struct topo *topo;          /* NULL = not our own */
    int64_t alone_memory_bytes; /* before any session */
    struct topo_use ready;      /* all sessions are open */
};

/* Before the clients open their sessions. */
void server_use_begin(struct server_use *use, struct topo *topo);
/* When all sessions are open, before the load. */
void server_use_ready(struct server_use *use, struct stage *stage);
/* When all clients have drained. */
void server_use_drained(const struct server_use *use, struct stage *stage);

struct machine_fact {
    json_t *value;    /* for run.json; NULL = not visible here */
    bool spoils;      /* it may spoil measurements */
    char detail[200]; /* what was seen; where it spoils, also how */
    char advice[200]; /* what to type or to do about it; "" where it does not spoil */
};

struct machine_check {
    const char *key;  /* in .environment; ends in "_before" if its value differs between runs */
    const char *name; /* for people */
    /* root: "" for this machine; the folder of a copy of /proc and /sys for tests */
    void (*look)(const char *root, struct machine_fact *fact);
};

/* All checks; the last one has no name. */
extern const struct machine_check machine_checks[];

/* Looks; the caller decrefs fact.value, which may be NULL. */
struct machine_fact machine_look(const struct machine_check *check, const char *root);

/* Adds the values of all checks to the environment of a result, and "advice": a sentence for each
 * check that may spoil its figures. */
void machine_describe(json_t *environment, const char *root);

#endif
