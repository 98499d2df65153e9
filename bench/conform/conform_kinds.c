/* conform_kinds: what only semaphores and optimistic locks do. */
#include <stdlib.h>

#include "bench/conform/conform.h"

/* ---- there are never more permits out than the bound, and each comes back once ---- */

#define BOUND 3

void conform_permits_counted(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[BOUND + 2];
    trial->bound = BOUND;
    actors_new(trial, NULL, BOUND + 2, clients);
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
        MUST_WAIT(later, 50, "while all permits are out");
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
    actors_new(trial, NULL, BOUND + 1, clients);
    struct actor *late = clients[BOUND];
    for (int i = 0; i < BOUND; i++)
        MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
    actor_use_key(late, &key);
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
    MUST_WAIT(c, 50, "where two of three permits are left");
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

static void ask_for_some(struct actor *client, int turn) {
    bool several = client->session.lock->caps & LB_CAP_PERMITS && client->session.client % 4 == 0;
    (void)turn;
    client->request.permits = several ? 2 : 1;
}

void conform_permits_contended(struct trial *trial) {
    static const struct contest bounded = {.grants_most = 400,
                                           .time_ns = 2 * LB_S_NS,
                                           .hold_ns = 500 * LB_US_NS,
                                           .prepare = ask_for_some};
    struct trial_key key = trial_key();
    struct actor *clients[8];
    trial->bound = BOUND;
    contest_run(trial, &bounded, &key, 8, clients);
    /* All permits are back. */
    for (int i = 0; i < BOUND; i++) {
        clients[i]->request.permits = 1;
        MUST_GIVE(clients[i], actor_take(clients[i], TRIAL_TRY), LB_OK);
    }
    for (int i = 0; i < BOUND; i++) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
}

/* ---- locks without holders: a write succeeds only if no other client wrote since the read; or it is one statement, which reads and writes at once ---- */

#define OPTIMISTIC_CLIENTS 8
#define WRITES 25 /* of each */

void conform_version(struct trial *trial) {
    struct trial_key key = trial_key(), other = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial);
    uint64_t last = 0;
    for (int i = 0; i < 4; i++) {
        struct actor *client = i % 2 ? a : b;
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        uint64_t read = client->grant.token;
        MUST(trial, i == 0 || read == last, "reads version %llu where %llu was written",
             (unsigned long long)read, (unsigned long long)last);
        MUST_GIVE(client, actor_release(client), LB_OK);
        last = client->grant.token;
        MUST_REFUSE(trial, last > read, "read version %llu, wrote version %llu",
                    (unsigned long long)read, (unsigned long long)last);
    }
    /* A write to one key does not change another. */
    MUST_GIVE(a, actor_acquire(a, &key, trial_soon()), LB_OK);
    MUST_USE(b, &other, trial_soon());
    MUST_GIVE(a, actor_release(a), LB_OK);
}

void conform_conflict(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial), *c = actor_new(trial);
    for (int i = 0; i < 3; i++) {
        MUST_GIVE(a, actor_acquire(a, &key, trial_soon()), LB_OK);
        MUST_GIVE(b, actor_acquire(b, &key, trial_soon()), LB_OK);
        MUST_GIVE(c, actor_acquire(c, &key, trial_soon()), LB_OK);
        MUST(trial, a->grant.token == b->grant.token && b->grant.token == c->grant.token,
             "three reads of one version differ");
        MUST_GIVE(b, actor_release(b), LB_OK);
        uint64_t written = b->grant.token;
        MUST_GIVE(a, actor_release(a), LB_BUSY);
        MUST_GIVE(c, actor_release(c), LB_BUSY);
        MUST_GIVE(a, actor_acquire(a, &key, trial_soon()), LB_OK);
        MUST(trial, a->grant.token == written,
             "a write that was refused changed the version from %llu to %llu",
             (unsigned long long)written, (unsigned long long)a->grant.token);
        MUST_GIVE(a, actor_release(a), LB_OK);
    }
}

void conform_atomic(struct trial *trial) {
    struct trial_key key = trial_key(), other = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial);
    uint64_t last = 0;
    for (int i = 0; i < 4; i++) {
        struct actor *client = i % 2 ? a : b;
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        uint64_t made = client->grant.token;
        MUST_REFUSE(trial, made > last, "made version %llu after version %llu",
                    (unsigned long long)made, (unsigned long long)last);
        MUST(trial, i == 0 || made == last + 1, "made version %llu after version %llu",
             (unsigned long long)made, (unsigned long long)last);
        MUST_GIVE(client, actor_release(client), LB_OK);
        MUST(trial, client->grant.token == made, "its release changed version %llu to %llu",
             (unsigned long long)made, (unsigned long long)client->grant.token);
        last = made;
        /* A statement on one key does not change another. */
        MUST_USE(client, &other, trial_soon());
    }
}

static uint64_t
    written[OPTIMISTIC_CLIENTS * WRITES]; /* static memory outlives a client that hangs */
static _Atomic int count, refused;

static void update(struct actor *client) {
    for (int done = 0; done < WRITES && !lb_stopping();) {
        client->request.deadline_ns = trial_soon();
        actor_job_acquire(client);
        lb_yield(); /* leaves time for others to read the same version */
        if (client->outcome == LB_OK) actor_job_release(client);
        if (client->outcome == LB_OK) {
            written[atomic_fetch_add(&count, 1)] = client->grant.token;
            done++;
        } else if (client->outcome == LB_BUSY) {
            atomic_fetch_add(&refused, 1);
        } else {
            trial_fail(client->trial, "a call gave %s",
                       actor_said(&client->session, client->outcome));
            return;
        }
    }
}

static int by_number(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

void conform_versions_unique(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[OPTIMISTIC_CLIENTS];
    atomic_store(&count, 0);
    atomic_store(&refused, 0);
    actors_new(trial, &key, OPTIMISTIC_CLIENTS, clients);
    actors_do(clients, OPTIMISTIC_CLIENTS, update);
    if (trial_failed(trial)) return;
    qsort(written, OPTIMISTIC_CLIENTS * WRITES, sizeof *written, by_number);
    for (int i = 1; i < OPTIMISTIC_CLIENTS * WRITES; i++) {
        if (written[i] == written[i - 1])
            trial_overlap(trial, "version %llu was written twice: one update is lost",
                          (unsigned long long)written[i]);
    }
}
