/* conform_reentry: a holder takes its lock several times, and must release it as often. */
#include "bench/conform/conform.h"

#define DEPTH 5

void conform_reentry(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial), *waiter = actor_new(trial);
    if (!holder || !other || !waiter) return;
    for (int i = 0; i < DEPTH; i++) {
        holder->request.held = (uint32_t)i;
        MUST_GIVE(holder, actor_acquire(holder, &key, i % 2 ? trial_soon() : TRIAL_TRY), LB_OK);
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    }
    actor_begin_acquire(waiter, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    for (int i = DEPTH; i > 1; i--) {
        holder->request.held = (uint32_t)i;
        MUST_GIVE(holder, actor_release(holder), LB_OK);
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    }
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST_SAY_NO(trial, waiter->outcome, actor_is_busy(waiter),
                "a waiter got %s after %d of %d releases", lb_outcome_name(waiter->outcome),
                DEPTH - 1, DEPTH);
    /* Meanwhile the depth may also go down. */
    holder->request.held = 1;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    holder->request.held = 2;
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_SAY_NO(trial, waiter->outcome, actor_is_busy(waiter), "a waiter got %s while it was held",
                lb_outcome_name(waiter->outcome));
    holder->request.held = 1;
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(waiter, actor_end(waiter), LB_OK);
    holder->request.held = 0;
    MUST_REFUSE(trial, actor_release(holder) != LB_OK, "a release more than acquires gave ok");
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
}
