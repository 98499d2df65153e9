/* conform_server: the server, or all of several, is killed while clients hold and wait, and starts
 * again. */
#include "bench/conform/conform.h"
#include "bench/servers/topo.h"

#define WAITERS 3

static bool kill_all(struct trial *trial) {
    struct lb_err err = {0};
    for (int i = 0; i < topo_about(trial->place->topo)->nodes; i++) {
        if (topo_kill(trial->place->topo, i, &err) == 0) continue;
        trial_fail(trial, "%s", err.text);
        return false;
    }
    return true;
}

/* Starts the servers again on the same ports, with the files that they left. All must run, since
 * the next check may need the last one. */
static bool restart(struct trial *trial) {
    struct topo *topo = trial->place->topo;
    struct lb_err err = {0};
    int failed = 0;
    for (int i = 0; i < topo_about(topo)->nodes && !failed; i++)
        failed = topo_restart(topo, i, &err);
    const struct topo_wait wait = {.deadline_ns = lb_now() + 2 * trial_patience_ns};
    if (!failed && topo_ready(topo, &wait, &err) == 0) return true;
    trial_fail(trial, "the server does not start again: %s", err.text);
    return false;
}

void conform_killed_server(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = trial->lease_ns = 4 * LB_S_NS;
    struct actor *holder = actor_new(trial), *waiters[WAITERS];
    if (!holder) return;
    if (!actors_new(trial, NULL, NULL, WAITERS, waiters)) return;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiters[0], &key, LB_NEVER);
    actor_begin_acquire(waiters[1], &key, LB_NEVER);
    actor_begin_acquire(waiters[2], &key, trial_soon());
    trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    if (!kill_all(trial)) return;
    for (int i = 0; i < WAITERS; i++) {
        enum lb_outcome outcome = actor_end(waiters[i]);
        MUST_SAY_NO(trial, outcome,
                    outcome == LB_UNKNOWN || outcome == LB_BROKEN || outcome == LB_TIMEOUT ||
                        outcome == LB_LOST,
                    "the server died, but a waiter got %s", lb_outcome_name(outcome));
    }
    enum lb_outcome outcome = actor_release(holder);
    MUST_SAY_NO(trial, outcome, outcome == LB_LOST || outcome == LB_UNKNOWN || outcome == LB_BROKEN,
                "the server died, but the holder's release gave %s", lb_outcome_name(outcome));
    actor_close(holder);
    for (int i = 0; i < WAITERS; i++) actor_close(waiters[i]);
    MUST(trial, !actor_open(holder), "a connection to a dead server");
    if (!restart(trial)) return;
    for (int i = 0; i < WAITERS; i++) {
        MUST(trial, actor_open_again(waiters[i]), "can't connect again: %s", waiters[i]->err.text);
    }
    /* Nothing else frees a lock that was not released. A lock that settles nothing is armed anew
     * below. */
    const struct lb_lock *lock = trial->lock->lock;
    if (!(lock->claims & LB_CLAIM_CRASH_RELEASE) && lock->algorithm->settle &&
        outcome == LB_UNKNOWN) {
        MUST(trial, actor_open_again(holder), "can't connect again: %s", holder->err.text);
        MUST_GIVE(holder, actor_settle(holder), LB_OK);
    }
    /* A server without a disk has forgotten how the lock was armed. */
    if (lock->algorithm->arm)
        MUST(trial, actor_arm(waiters[0]) == 0, "can't be armed again: %s", waiters[0]->err.text);
    MUST_GIVE(waiters[0], actor_acquire(waiters[0], &key, trial_soon()), LB_OK);
    MUST_GIVE(waiters[1], actor_acquire(waiters[1], &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(waiters[0], actor_release(waiters[0]), LB_OK);
    MUST_GIVE(waiters[1], actor_acquire(waiters[1], &key, trial_soon()), LB_OK);
    MUST_GIVE(waiters[1], actor_release(waiters[1]), LB_OK);
}
