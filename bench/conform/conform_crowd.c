/* conform_crowd: many clients: order where it is claimed, a turn for everybody, one session for
 * several. */
#include <stdlib.h>
#include <string.h>

#include "bench/conform/conform.h"
#include "bench/measure/cell.h"

#define QUEUE 6
/* the time between the starts of two waiters: each is queued long before the next */
#define APART_NS (100 * LB_MS_NS)
#define CROWD 64
#define SHARERS 8
#define ROUNDS 10

void conform_fair(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiters[QUEUE];
    if (!holder) return;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    for (int i = 0; i < QUEUE; i++) {
        waiters[i] = actor_new(trial);
        if (!waiters[i]) return;
        actor_begin_acquire(waiters[i], &key, trial_soon());
        trial_sleep_until(lb_now() + APART_NS);
        MUST_SAY_NO(trial, waiters[i]->outcome, actor_is_busy(waiters[i]),
                    "a waiter got %s while another holds", lb_outcome_name(waiters[i]->outcome));
    }
    for (int i = 0; i < QUEUE; i++) {
        MUST_GIVE(i ? waiters[i - 1] : holder, actor_release(i ? waiters[i - 1] : holder), LB_OK);
        MUST_GIVE(waiters[i], actor_end(waiters[i]), LB_OK);
        for (int j = i + 1; j < QUEUE; j++)
            MUST_SAY_NO(trial, waiters[j]->outcome, actor_is_busy(waiters[j]),
                        "waiter %d returned with %s when it was waiter %d's turn", j + 1,
                        lb_outcome_name(waiters[j]->outcome), i + 1);
    }
    MUST_GIVE(waiters[QUEUE - 1], actor_release(waiters[QUEUE - 1]), LB_OK);
}

static void once(struct actor *client) {
    _Atomic int *inside = client->arg;
    client->request.deadline_ns = lb_now() + 3 * trial_patience_ns;
    actor_job_acquire(client);
    if (client->outcome != LB_OK) return;
    if (atomic_fetch_add(inside, 1) != 0) trial_overlap(client->trial, "two hold it");
    lb_yield();
    atomic_fetch_sub(inside, 1);
    actor_job_release(client);
}

void conform_crowd(struct trial *trial) {
    struct trial_key key = trial_key();
    static _Atomic int inside; /* the static memory outlives a client that hangs */
    atomic_store(&inside, 0);
    struct actor *clients[CROWD];
    if (!actors_new(trial, &key, &inside, CROWD, clients)) return;
    for (int i = 0; i < CROWD; i++) actor_begin(clients[i], once);
    for (int i = 0; i < CROWD; i++) MUST_GIVE(clients[i], actor_end(clients[i]), LB_OK);
}

/* One of several clients on the actor's session. */
struct sharer {
    struct actor *actor;
    struct lb_request request;
    struct lb_grant grant;
    struct lb_fiber *fiber;
    enum lb_outcome outcome;
    struct cell *cell;
    struct findings *findings;
};

static void share(void *arg) {
    struct sharer *sharer = arg;
    struct lb_session *session = &sharer->actor->session;
    const struct lb_lock *lock = session->lock;
    for (int i = 0; i < ROUNDS && !lb_stopping(); i++) {
        sharer->request.deadline_ns = trial_soon();
        sharer->outcome = lock->algorithm->acquire(session, &sharer->request, &sharer->grant);
        if (sharer->outcome != LB_OK) break;
        struct holding me = {sharer->request.client, lb_now(), sharer->grant.lease_end_ns,
                             sharer->grant.token};
        struct entry entry = cell_enter(sharer->cell, sharer->findings, 0, &me);
        lb_sleep_until(lb_now() + 200 * LB_US_NS);
        cell_leave(sharer->cell, me.client, &entry, lb_now());
        sharer->outcome = lock->algorithm->release(session, &sharer->request, &sharer->grant);
        if (sharer->outcome != LB_OK) break;
    }
    if (sharer->outcome != LB_OK)
        trial_fail(sharer->actor->trial, "a client that shares its session got %s: %s",
                   lb_outcome_name(sharer->outcome), session->err.text);
}

static struct cell shared_cell; /* static memory outlives a client that hangs */
static struct findings shared_findings;
static struct found shared_holders[2 * SHARERS];

static void share_session(struct actor *client) {
    static struct sharer sharers[2][SHARERS];
    struct sharer *mine = sharers[client->session.client % 2];
    size_t grant_bytes = client->session.lock->algorithm->grant_bytes;
    for (int i = 0; i < SHARERS; i++) {
        mine[i] = (struct sharer){.actor = client,
                                  .request = client->request,
                                  .cell = &shared_cell,
                                  .findings = &shared_findings};
        mine[i].request.client = client->session.client * SHARERS + (uint32_t)i;
        mine[i].grant.data = calloc(1, grant_bytes + 1);
        mine[i].fiber = lb_start_fiber("sharer", share, &mine[i]);
    }
    for (int i = 0; i < SHARERS; i++) {
        lb_join(mine[i].fiber);
        free(mine[i].grant.data);
    }
}

void conform_share(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *other = actor_new(trial);
    if (!one || !other || !actor_use_key(one, &key) || !actor_use_key(other, &key)) return;
    shared_cell = (struct cell){.owner = 0};
    memset(shared_holders, 0, sizeof shared_holders);
    shared_findings = (struct findings){.holders = shared_holders};
    actor_begin(one, share_session);
    actor_begin(other, share_session);
    actor_end(one);
    actor_end(other);
    uint64_t grants = conform_judge(trial, &shared_cell, &shared_findings);
    MUST(trial, grants == 2 * SHARERS * ROUNDS, "%llu grants", (unsigned long long)grants);
}
