/* conform_owner: who holds the lock: releases by others, tokens, sessions that end. */
#include <string.h>

#include "bench/conform/conform.h"

void conform_double_release(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *first = actor_new(trial), *second = actor_new(trial), *third = actor_new(trial);
    if (!first || !second || !third) return;
    MUST_GIVE(first, actor_acquire(first, &key, trial_soon()), LB_OK);
    MUST_GIVE(first, actor_release(first), LB_OK);
    MUST_REFUSE(trial, actor_release(first) != LB_OK, "a second release of a free lock gave ok");
    MUST_GIVE(second, actor_acquire(second, &key, trial_soon()), LB_OK);
    MUST_REFUSE(trial, actor_release(first) != LB_OK,
                "a second release of a lock that another holds gave ok");
    /* The refused release has freed nothing. */
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_BUSY,
              "where another holds, after a release by one that does not hold,");
    MUST_GIVE(second, actor_release(second), LB_OK);
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(third, actor_release(third), LB_OK);
}

void conform_stranger(struct trial *trial) {
    struct trial_key key = trial_key(), elsewhere = trial_key();
    struct actor *holder = actor_new(trial), *never = actor_new(trial), *was = actor_new(trial);
    struct actor *third = actor_new(trial);
    if (!holder || !never || !was || !third) return;
    /* Releases by a client that held another lock, and by one that was never granted anything. */
    MUST_GIVE(was, actor_acquire(was, &elsewhere, trial_soon()), LB_OK);
    MUST_GIVE(was, actor_release(was), LB_OK);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    if (!actor_use_key(was, &key)) return;
    MUST_REFUSE(trial, actor_release(was) != LB_OK, "the release of a stale grant gave ok");
    if (!actor_use_key(never, &key)) return;
    MUST_REFUSE(trial, actor_release(never) != LB_OK,
                "the release by one who never held it gave ok");
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_BUSY,
              "where another holds, after a release by one that does not hold,");
    /* A waiter whose acquire failed has no grant either. */
    MUST_REFUSE(trial, actor_release(third) != LB_OK,
                "the release by one who was turned away gave ok");
    MUST_GIVE(was, actor_acquire(was, &key, TRIAL_TRY), LB_BUSY,
              "where another holds, after a release by one that was turned away,");
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(was, actor_acquire(was, &key, trial_soon()), LB_OK);
    MUST_GIVE(was, actor_release(was), LB_OK);
}

void conform_fence(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[3];
    uint64_t last = 0;
    if (!actors_new(trial, NULL, NULL, 3, clients)) return;
    for (int i = 0; i < 12; i++) {
        struct actor *client = clients[i % 3];
        /* Each way that a grant may end: by release, with its session, by its lease. */
        bool closes = i % 4 == 3;
        bool expires = i == 6 && (trial->lock->lock->caps & LB_CAP_LEASE);
        client->request.lease_ns = expires ? 300 * LB_MS_NS : trial->lease_ns;
        if (closes && !(trial->lock->lock->caps & LB_CAP_SESSION)) closes = false;
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK,
                  "after the grant before it had ended");
        MUST_REFUSE(trial, client->grant.token > last,
                    "grant %d has token %llu, the one before it %llu", i + 1,
                    (unsigned long long)client->grant.token, (unsigned long long)last);
        last = client->grant.token;
        if (expires) continue;
        if (closes) {
            actor_close(client);
            MUST(trial, actor_open(client), "can't connect again: %s", client->err.text);
        } else {
            MUST_GIVE(client, actor_release(client), LB_OK);
        }
    }
}

void conform_session(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial);
    if (!holder || !waiter) return;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST_SAY_NO(trial, waiter->outcome, actor_is_busy(waiter),
                "a waiter returned while another holds");
    actor_close(holder);
    MUST_GIVE(waiter, actor_end(waiter), LB_OK, "after the holder's session had ended");
    /* A client does not hold any more what it held in its ended session, not even with a new
     * session. */
    MUST(trial, actor_open(holder), "can't connect again: %s", holder->err.text);
    MUST_REFUSE(trial, actor_release(holder) != LB_OK, "a release after the session's end gave ok");
    MUST_GIVE(holder, actor_acquire(holder, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
    /* A waiter that leaves also leaves the queue. */
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, lb_now() + 100 * LB_MS_NS);
    MUST_GIVE(waiter, actor_end(waiter), LB_TIMEOUT);
    actor_close(waiter);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
}
