/* conform_residue: nothing is left on the server when all clients have gone. */
#include "bench/conform/conform.h"

#define WAITERS 4
#define SETTLE_NS (10 * LB_S_NS) /* a server may take a moment to see that a session has ended */

static struct lb_residue found;
static const char *asked_prefix;

static void ask_residue(struct actor *client) {
    client->err = (struct lb_err){0};
    client->failed = client->session.lock->algorithm->residue(&client->session, asked_prefix,
                                                              &found, &client->err);
}

/* The residue that a fresh session finds. False after trial_fail. */
static bool residue(struct trial *trial, const struct trial_key *key, uint64_t *ret_count) {
    struct actor *client = actor_new(trial);
    if (!client) return false;
    asked_prefix = key->name;
    found = (struct lb_residue){0};
    actor_do(client, ask_residue);
    actor_close(client);
    if (client->failed) trial_fail(trial, "residue: %s", client->err.text);
    *ret_count = found.count;
    return !client->failed;
}

bool conform_nothing_left(struct trial *trial, const struct trial_key *key, const char *after,
                          int64_t limit_ns) {
    int64_t deadline_ns = lb_now() + limit_ns;
    for (;;) {
        uint64_t count;
        if (!residue(trial, key, &count)) return false;
        if (count == 0) return true;
        if (lb_now() >= deadline_ns) {
            trial_fail(trial, "after %s %llu are left, for one %s", after,
                       (unsigned long long)count, found.example);
            return false;
        }
        trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    }
}

/* Residue may go after a while. */
static bool nothing_left(struct trial *trial, const struct trial_key *key, const char *after) {
    return conform_nothing_left(trial, key, after,
                                trial_patience_ns < SETTLE_NS ? trial_patience_ns : SETTLE_NS);
}

/* Removes what arming the lock created. */
static bool clear(struct trial *trial, struct actor *client) {
    if (!trial->lock->lock->algorithm->disarm || actor_disarm(client) == 0) return true;
    trial_fail(trial, "disarming: %s", client->err.text);
    return false;
}

void conform_residue(struct trial *trial) {
    struct trial_key plain = trial_key(), contended = trial_key(), given_up = trial_key();
    struct actor *holder = actor_new(trial), *waiters[WAITERS];
    uint64_t count;
    if (!holder) return;
    if (!actors_new(trial, NULL, NULL, WAITERS, waiters)) return;
    MUST_GIVE(holder, actor_acquire(holder, &plain, trial_soon()), LB_OK);
    if (!residue(trial, &plain, &count)) return;
    MUST(trial, count > 0, "nothing is found where a lock is held: so nothing would ever be found");
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    if (!clear(trial, holder)) return;

    MUST_GIVE(holder, actor_acquire(holder, &contended, trial_soon()), LB_OK);
    for (int i = 0; i < WAITERS; i++) actor_begin_acquire(waiters[i], &contended, LB_NEVER);
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    bool gone[WAITERS] = {false};
    for (int done = 0; done < WAITERS;) { /* the order of their grants does not matter */
        for (int i = 0; i < WAITERS; i++) {
            if (gone[i] || actor_is_busy(waiters[i])) continue;
            MUST_GIVE(waiters[i], actor_end(waiters[i]), LB_OK);
            MUST_GIVE(waiters[i], actor_release(waiters[i]), LB_OK);
            gone[i] = true;
            done++;
        }
        MUST(trial, lb_now() < holder->ended_ns + trial_patience_ns,
             "waiters do not get what is free");
        trial_sleep_until(lb_now() + LB_MS_NS);
    }
    if (!clear(trial, holder)) return;

    MUST_GIVE(holder, actor_acquire(holder, &given_up, trial_soon()), LB_OK);
    for (int i = 0; i < WAITERS; i++)
        actor_begin_acquire(waiters[i], &given_up, i ? lb_now() + i * 40 * LB_MS_NS : TRIAL_TRY);
    for (int i = 0; i < WAITERS; i++) {
        enum lb_outcome outcome = actor_end(waiters[i]);
        MUST_SAY_NO(trial, outcome, outcome == LB_TIMEOUT || outcome == LB_BUSY,
                    "a waiter that had to give up got %s: %s", lb_outcome_name(outcome),
                    waiters[i]->session.err.text);
    }
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    if (!clear(trial, holder)) return;

    /* Sessions may be residue too, so all sessions but the asking one are ended. */
    actor_close(holder);
    for (int i = 0; i < WAITERS; i++) actor_close(waiters[i]);
    if (nothing_left(trial, &plain, "plain use") && nothing_left(trial, &contended, "contention"))
        nothing_left(trial, &given_up, "waiters that gave up");
}

/* For locks without holders: what arming created is found, and disarming removes it. */
void conform_armed_residue(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    uint64_t count;
    if (!client || !actor_use_key(client, &key)) return;
    enum lb_outcome outcome = actor_take(client, TRIAL_TRY);
    MUST(trial, outcome == LB_OK || outcome == LB_BUSY, "acquire gave %s",
         lb_outcome_name(outcome));
    /* A latch is still shut here; a latch that was counted down to zero may be gone by itself. */
    if (outcome == LB_OK) MUST_GIVE(client, actor_release(client), LB_OK);
    if (!residue(trial, &key, &count)) return;
    MUST(trial, count > 0, "nothing is found where a key is armed");
    if (!clear(trial, client)) return;
    actor_close(client);
    nothing_left(trial, &key, "use");
}
