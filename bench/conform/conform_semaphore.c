/* conform_semaphore: there are never more permits out than the bound, and each comes back once. */
#include "bench/conform/conform.h"

#define CLIENTS 8
#define BOUND 3
#define GRANTS 400
#define TIME_NS (2 * LB_S_NS)
#define HOLD_NS (500 * LB_US_NS)

void conform_permits_counted(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[BOUND + 2];
    trial->bound = BOUND;
    if (!actors_new(trial, NULL, NULL, BOUND + 2, clients)) return;
    struct actor *late = clients[BOUND], *later = clients[BOUND + 1];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BOUND; i++)
            MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
        MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
        /* One permit comes back, so one is granted, and no more. */
        MUST_GIVE(clients[round], actor_release(clients[round]), LB_OK);
        MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_OK);
        MUST_GIVE(later, actor_acquire(later, &key, TRIAL_TRY), LB_BUSY);
        MUST_GIVE(clients[round], actor_acquire(clients[round], &key, TRIAL_TRY), LB_BUSY);
        /* A waiter gets the freed permit; a waiter that gave up has taken none. */
        MUST_GIVE(later, actor_acquire(later, &key, lb_now() + 50 * LB_MS_NS), LB_TIMEOUT);
        actor_begin_acquire(later, &key, trial_soon());
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
        MUST_SAY_NO(trial, later->outcome, actor_is_busy(later),
                    "a waiter got %s while all permits are out", lb_outcome_name(later->outcome));
        MUST_GIVE(late, actor_release(late), LB_OK);
        MUST_GIVE(later, actor_end(later), LB_OK);
        MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
        MUST_GIVE(later, actor_release(later), LB_OK);
        for (int i = 0; i < BOUND; i++) {
            if (i != round) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
        }
    }
}

void conform_arm_twice(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[BOUND + 1];
    trial->bound = BOUND;
    if (!actors_new(trial, NULL, NULL, BOUND + 1, clients)) return;
    struct actor *late = clients[BOUND];
    for (int i = 0; i < BOUND; i++)
        MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
    if (!actor_use_key(late, &key)) return;
    MUST(trial, !trial->lock->lock->algorithm->arm || actor_arm(late) == 0, "a second arming: %s",
         late->err.text);
    MUST_GIVE(late, actor_take(late, TRIAL_TRY), LB_BUSY);
    for (int i = 0; i < BOUND; i++) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
    MUST(trial, !trial->lock->lock->algorithm->arm || actor_arm(late) == 0, "a third arming: %s",
         late->err.text);
    for (int i = 0; i < BOUND; i++)
        MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(late, actor_take(late, TRIAL_TRY), LB_BUSY);
    for (int i = 0; i < BOUND; i++) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
    /* A disarmed semaphore may be armed with another bound. */
    if (!trial->lock->lock->algorithm->disarm) return;
    MUST(trial, actor_disarm(late) == 0, "disarming: %s", late->err.text);
    late->request.bound = clients[0]->request.bound = 1;
    MUST(trial, actor_arm(late) == 0, "arming after disarming: %s", late->err.text);
    MUST_GIVE(late, actor_take(late, TRIAL_TRY), LB_OK);
    MUST_GIVE(clients[0], actor_acquire(clients[0], &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(late, actor_release(late), LB_OK);
}

void conform_permits_several(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->bound = 5;
    struct actor *a = actor_new(trial), *b = actor_new(trial), *c = actor_new(trial);
    if (!a || !b || !c) return;
    a->request.permits = 3;
    MUST_GIVE(a, actor_acquire(a, &key, TRIAL_TRY), LB_OK);
    b->request.permits = 3;
    MUST_GIVE(b, actor_acquire(b, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(b, actor_acquire(b, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    /* A client that could not have all its permits has not taken some of them. */
    b->request.permits = 2;
    MUST_GIVE(b, actor_acquire(b, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(c, actor_acquire(c, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(b, actor_release(b), LB_OK);
    c->request.permits = 3;
    actor_begin_acquire(c, &key, trial_soon());
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST_SAY_NO(trial, c->outcome, actor_is_busy(c),
                "one who wants three permits got %s where two are left",
                lb_outcome_name(c->outcome));
    MUST_GIVE(a, actor_release(a), LB_OK);
    MUST_GIVE(c, actor_end(c), LB_OK);
    b->request.permits = 3;
    MUST_GIVE(b, actor_acquire(b, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(c, actor_release(c), LB_OK);
    a->request.permits = 5;
    MUST_GIVE(a, actor_acquire(a, &key, TRIAL_TRY), LB_OK);
    b->request.permits = 1;
    MUST_GIVE(b, actor_acquire(b, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(a, actor_release(a), LB_OK);
    a->request.permits = 6;
    MUST_REFUSE(trial, actor_acquire(a, &key, lb_now() + 50 * LB_MS_NS) != LB_OK,
                "six permits of five");
}

struct room {
    _Atomic int inside, grants;
    int64_t end_ns;
};

static void use(struct actor *client) {
    struct room *room = client->arg;
    while (atomic_load(&room->grants) < GRANTS && lb_now() < room->end_ns && !lb_stopping()) {
        int permits = (int)client->request.permits;
        client->request.deadline_ns = trial_soon();
        actor_job_acquire(client);
        if (client->outcome == LB_OK) {
            int inside = atomic_fetch_add(&room->inside, permits) + permits;
            if (inside > BOUND) trial_overlap(client->trial, "%d permits out of %d", inside, BOUND);
            atomic_fetch_add(&room->grants, 1);
            lb_sleep_until(lb_now() + HOLD_NS);
            atomic_fetch_sub(&room->inside, permits);
            actor_job_release(client);
        }
        if (client->outcome == LB_OK) continue;
        trial_fail(client->trial, "a call gave %s: %s", lb_outcome_name(client->outcome),
                   client->session.err.text);
        return;
    }
}

void conform_permits_contended(struct trial *trial) {
    struct trial_key key = trial_key();
    static struct room room; /* static memory outlives a client that hangs */
    room = (struct room){.end_ns = 0};
    trial->bound = BOUND;
    struct actor *clients[CLIENTS];
    if (!actors_new(trial, &key, &room, CLIENTS, clients)) return;
    bool several = trial->lock->lock->caps & LB_CAP_PERMITS;
    for (int i = 0; several && i < CLIENTS; i += 4) clients[i]->request.permits = 2;
    room.end_ns = lb_now() + TIME_NS;
    actors_do(clients, CLIENTS, use);
    MUST(trial, atomic_load(&room.grants) >= CLIENTS, "too few grants to say anything: %d",
         atomic_load(&room.grants));
    /* All permits are back. */
    for (int i = 0; i < BOUND; i++) {
        clients[i]->request.permits = 1;
        MUST_GIVE(clients[i], actor_take(clients[i], TRIAL_TRY), LB_OK);
    }
    for (int i = 0; i < BOUND; i++) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
}
