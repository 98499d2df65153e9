/* peers: how the processes of a run whose clients are shared out over several machines work together. The stages of all
 * processes go through the same moments, and then one process sums up. A run without this table is in one process.
 *
 * Functions that return int return 0, or -1 with err. Those of a load wait for no other process. */
#ifndef BENCH_STAGE_PEERS_H
#define BENCH_STAGE_PEERS_H

#include "bench/load/shared.h"
#include "bench/stage/stage.h"

/* The moments at which all processes wait for each other. */
enum moment { MOMENT_PLANNED, MOMENT_CONNECTED, MOMENT_PINGED, MOMENT_DRAINED };

struct peers {
    void *state;
    struct part part; /* of this process */
    /* the names of the stage's keys, which the process that sums up has chosen; NULL = this one chooses */
    const char *key_prefix;
    uint64_t key_salt;
    int64_t go_ns;   /* when the load begins, by this machine's clock; known after MOMENT_PINGED */
    char again[120]; /* the words that start such a run, in the place of "lockbench" */

    /* ---- before the first stage, in the process that sums up ---- */

    /* Why the lock can't have its clients in several processes under this plan, as a phrase; NULL = it can. */
    const char *(*why_not)(const struct lb_lock *lock, const struct plan *plan);
    /* Whether they reach the servers of a stage, at a URL or (NULL) those that lockbench starts. LB_EXIT_USAGE. */
    int (*check_reach)(const struct peers *peers, const struct plan_stage *stage, const char *url,
                       struct lb_err *err);
    /* Hands out the plan, unless it can't be shared (LB_EXIT_USAGE). */
    int (*begin_run)(struct peers *peers, const struct plan *plan, struct lb_err *err);
    /* run.json's list of the machines that have the clients: new reference. */
    json_t *(*machines)(const struct peers *peers);

    /* Asks the others for a stage, whose shape is settled. Where this fails nobody waits for anybody. */
    int (*begin)(struct peers *peers, const struct stage_ask *ask, struct shared *shared,
                 struct lb_err *err);

    /* ---- a stage, in every process, in this order ---- */

    /* All wait for each other. trouble: why this process can't go on, or NULL. */
    int (*meet)(struct peers *peers, enum moment moment, const struct lb_err *trouble,
                int64_t deadline_ns, struct lb_err *err);
    /* To be called at least every 50 ms from the begin until all have drained. -1: the window has to end. */
    int (*look)(struct peers *peers, struct lb_err *err);
    /* The window ends early here, and so everywhere. */
    void (*end)(struct peers *peers, const struct lb_err *why);
    /* When all workers have ended: the process that sums up gets what the others measured, as if it had measured that
     * itself; figures may be missing where this fails. */
    int (*exchange)(struct peers *peers, struct stage *stage, struct shared *shared,
                    struct lb_err *err);
};

#endif
