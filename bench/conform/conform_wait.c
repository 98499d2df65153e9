/* conform_wait: waits that end well, by their deadline, or by the run's cut-off. */
#include "bench/conform/conform.h"

/* A server that counts timeouts in whole milliseconds may answer so much before the deadline. */
#define EARLY_NS LB_MS_NS

void conform_timed(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial), *third = actor_new(trial);
    if (!holder || !waiter || !third) return;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int64_t deadline_ns = lb_now() + 300 * LB_MS_NS;
    MUST_GIVE(waiter, actor_acquire(waiter, &key, deadline_ns), LB_TIMEOUT,
              "where another holds until past its deadline");
    MUST(trial, waiter->ended_ns >= deadline_ns - EARLY_NS, "timed out %lld us before the deadline",
         (long long)((deadline_ns - waiter->ended_ns) / LB_US_NS));
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    /* The client is neither queued nor holding: a third one gets the lock at once, and the client
     * that gave up may come again. */
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_OK,
              "of what was released, after another had given up waiting,");
    MUST_GIVE(waiter, actor_acquire(waiter, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(third, actor_release(third), LB_OK);
    MUST_GIVE(waiter, actor_acquire(waiter, &key, trial_soon()), LB_OK);
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
}

void conform_short(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial), *third = actor_new(trial);
    if (!holder || !waiter || !third) return;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    /* Deadlines from some that pass on the way to some that pass in the server. */
    for (int64_t wait_ns = 1; wait_ns < 20 * LB_MS_NS; wait_ns *= 4) {
        enum lb_outcome outcome = actor_acquire(waiter, &key, lb_now() + wait_ns);
        MUST_SAY_NO(trial, outcome, outcome == LB_TIMEOUT || outcome == LB_BUSY,
                    "a wait of %lld ns gave %s: %s", (long long)wait_ns, lb_outcome_name(outcome),
                    waiter->session.err.text);
    }
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_OK,
              "of what was released, after another had given up waiting,");
    MUST_GIVE(third, actor_release(third), LB_OK);
}

void conform_handover(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial);
    if (!holder || !waiter) return;
    for (int i = 0; i < 4; i++) {
        int64_t deadline_ns = i % 2 ? LB_NEVER : trial_soon();
        MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
        actor_begin_acquire(waiter, &key, deadline_ns);
        /* The cut-off finds the client deep in its wait, or just on its way to it. */
        trial_sleep_until(lb_now() + (i < 2 ? 100 * LB_MS_NS : 500 * LB_US_NS));
        MUST_SAY_NO(trial, waiter->outcome, actor_is_busy(waiter),
                    "a waiter got %s while another holds", lb_outcome_name(waiter->outcome));
        MUST_GIVE(holder, actor_release(holder), LB_OK);
        MUST_GIVE(waiter, actor_end(waiter), LB_OK, "after the holder had released");
        struct actor *swap = holder;
        holder = waiter;
        waiter = swap;
        MUST_GIVE(holder, actor_release(holder), LB_OK);
    }
}

void conform_cutoff(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial), *timed = actor_new(trial);
    if (!holder || !waiter || !timed) return;
    /* A latch is shut at first. */
    if (trial->lock->lock->primitive != LB_LATCH)
        MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, LB_NEVER);
    actor_begin_acquire(timed, &key, lb_now() + 600 * LB_S_NS);
    trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    MUST_SAY_NO(trial, waiter->outcome, actor_is_busy(waiter),
                "a waiter got %s while another holds", lb_outcome_name(waiter->outcome));
    MUST_SAY_NO(trial, timed->outcome, actor_is_busy(timed), "a waiter got %s while another holds",
                lb_outcome_name(timed->outcome));
    atomic_store(&trial->cutoff_ns, lb_now());
    int64_t deadline_ns = trial_soon();
    MUST(trial, actor_idle_by(waiter, deadline_ns) && actor_idle_by(timed, deadline_ns),
         "a wait goes on although the run was cut off");
    MUST_REFUSE(trial, waiter->outcome != LB_OK && timed->outcome != LB_OK,
                "a waiter got ok while another holds");
    MUST(trial, waiter->outcome != LB_REFUSED, "a cut-off wait is no refusal: %s",
         waiter->session.err.text);
}
