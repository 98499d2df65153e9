/* conform_latch: a latch opens at its count, for all clients, and stays open. */
#include "bench/conform/conform.h"

#define COUNT 3
#define WAITERS 4
#define CLIENTS 8

void conform_latch(struct trial *trial) {
    struct trial_key key = trial_key(), again = trial_key();
    struct actor *waiters[WAITERS];
    trial->bound = COUNT;
    struct actor *counter = actor_new(trial), *late = actor_new(trial);
    if (!counter || !late || !actor_use_key(counter, &key)) return;
    MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(late, actor_acquire(late, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = actor_new(trial);
        if (!waiters[i]) return;
        actor_begin_acquire(waiters[i], &key, i % 2 ? LB_NEVER : trial_soon());
    }
    for (int left = COUNT; left > 0; left--) {
        trial_sleep_until(lb_now() + 60 * LB_MS_NS);
        for (int i = 0; i < WAITERS; i++)
            MUST_SAY_NO(trial, waiters[i]->outcome, actor_is_busy(waiters[i]),
                        "an await gave %s where %d of %d are missing",
                        lb_outcome_name(waiters[i]->outcome), left, COUNT);
        MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
        MUST_GIVE(counter, actor_release(counter), LB_OK);
    }
    for (int i = 0; i < WAITERS; i++) MUST_GIVE(waiters[i], actor_end(waiters[i]), LB_OK);
    MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(late, actor_acquire(late, &key, trial_soon()), LB_OK);
    /* Another key is another latch, which is still shut. */
    if (!actor_use_key(counter, &again)) return;
    MUST_GIVE(late, actor_acquire(late, &again, TRIAL_TRY), LB_BUSY);
    for (int i = 0; i < COUNT; i++) MUST_GIVE(counter, actor_release(counter), LB_OK);
    MUST_GIVE(late, actor_acquire(late, &again, trial_soon()), LB_OK);
}

void conform_latch_crowd(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[CLIENTS];
    trial->bound = CLIENTS;
    if (!actors_new(trial, NULL, NULL, CLIENTS, clients)) return;
    /* Each client counts down once and awaits the others: no await returns before the last
     * count. */
    for (int i = 0; i < CLIENTS; i++) {
        if (!actor_use_key(clients[i], &key)) return;
        MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
        actor_begin_acquire(clients[i], &key, trial_soon());
        if (i + 1 == CLIENTS) break;
        trial_sleep_until(lb_now() + 10 * LB_MS_NS);
        for (int j = 0; j <= i; j++)
            MUST_SAY_NO(trial, clients[j]->outcome, actor_is_busy(clients[j]),
                        "open after %d of %d", i + 1, CLIENTS);
    }
    for (int i = 0; i < CLIENTS; i++) MUST_GIVE(clients[i], actor_end(clients[i]), LB_OK);
}
