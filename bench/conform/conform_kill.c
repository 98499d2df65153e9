/* conform_kill: processes of clients that are killed, holding and waiting. */
#include "bench/conform/conform.h"
#include "bench/conform/conform_child.h"

#define SLACK_NS (5 * LB_S_NS) /* added to the lock's own slack, since the machine may be busy */

/* How long after the kill a lock that was held must be free. */
static int64_t theory_ns(const struct lb_lock *lock) {
    switch (lock->about.crash) {
    case LB_CRASH_LEASE:
    case LB_CRASH_SESSION:
        return CHILD_LEASE_NS + lock->about.crash_slack_ns;
    case LB_CRASH_AT_ONCE:
        return lock->about.crash_slack_ns;
    default:
        return 0;
    }
}

void conform_killed_clients(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    const struct trial_key *key = child_key(trial->holder);
    trial->session_lease_ns = trial->lease_ns = CHILD_LEASE_NS;
    struct actor *other = actor_new(trial), *next = actor_new(trial);
    uint64_t token, unused;
    if (!other || !next || !actor_use_key(other, key)) return;
    MUST(trial, lock->about.crash != LB_CRASH_NEVER,
         "claims crash release, but says that it never comes");
    child_go(trial->holder);
    if (!child_says(trial, trial->holder, 'c', &unused) ||
        !child_says(trial, trial->holder, 'h', &token))
        return;
    MUST_GIVE(other, actor_acquire(other, key, TRIAL_TRY), LB_BUSY);
    child_go(trial->waiter);
    if (!child_says(trial, trial->waiter, 'c', &unused)) return;
    trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    actor_begin_acquire(other, key, lb_now() + 2 * trial_patience_ns);
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    child_kill(trial->waiter);
    child_kill(trial->holder);
    int64_t killed_ns = lb_now();
    MUST_GIVE(other, actor_end(other), LB_OK);
    int64_t took_ns = other->ended_ns - killed_ns, limit_ns = theory_ns(lock) + SLACK_NS;
    MUST(trial, took_ns <= limit_ns,
         "freed %lld ms after its holder was killed: %lld ms at most, it says, and %d ms "
         "for the machine",
         (long long)(took_ns / LB_MS_NS), (long long)(theory_ns(lock) / LB_MS_NS),
         (int)(SLACK_NS / LB_MS_NS));
    MUST_REFUSE(trial, !(lock->caps & LB_CAP_FENCE) || other->grant.token > token,
                "the token after a killed holder's is %llu, the holder's was %llu",
                (unsigned long long)other->grant.token, (unsigned long long)token);
    MUST_GIVE(next, actor_acquire(next, key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(other, actor_release(other), LB_OK);
    MUST_GIVE(next, actor_acquire(next, key, trial_soon()), LB_OK);
    MUST_GIVE(next, actor_release(next), LB_OK);
    /* The killed clients leave nothing once their sessions are over. */
    if (!lock->algorithm->residue) return;
    MUST(trial, !lock->algorithm->disarm || actor_disarm(next) == 0, "disarming: %s",
         next->err.text);
    actor_close(other);
    actor_close(next);
    conform_nothing_left(trial, key, "clients that were killed", limit_ns + trial_patience_ns / 3);
}
