/* conform_kinds: what only semaphores and optimistic locks do. */
#include <stdlib.h>

#include "bench/conform/conform.h"

/* ---- there are never more permits out than the bound, and each comes back once ---- */

#define BOUND 3

/* Each of the first clients takes a permit; gives it back. */
static void take_all(struct actor *const *clients, const struct trial_key *key) {
    for (int i = 0; i < BOUND; i++)
        MUST_GIVE(clients[i], actor_acquire(clients[i], key, TRIAL_TRY), LB_OK);
}

static void give_all(struct actor *const *clients, const struct actor *but) {
    for (int i = 0; i < BOUND; i++) {
        if (clients[i] != but) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
    }
}

void conform_permits_counted(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[BOUND + 2];
    trial->bound = BOUND;
    actors_new(trial, NULL, BOUND + 2, clients);
    struct actor *late = clients[BOUND], *later = clients[BOUND + 1];
    for (int round = 0; round < 3; round++) {
        take_all(clients, &key);
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
        give_all(clients, clients[round]);
    }
}

void conform_arm_twice(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[BOUND + 1];
    trial->bound = BOUND;
    actors_new(trial, NULL, BOUND + 1, clients);
    struct actor *late = clients[BOUND];
    take_all(clients, &key);
    actor_use_key(late, &key);
    MUST(trial, actor_arm(late) == 0, "a second arming: %s", late->err.text);
    MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
    give_all(clients, NULL);
    MUST(trial, actor_arm(late) == 0, "a third arming: %s", late->err.text);
    take_all(clients, &key);
    MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_BUSY);
    give_all(clients, NULL);
    /* A disarmed semaphore may be armed with another bound. */
    MUST(trial, actor_disarm(late) == 0, "disarming: %s", late->err.text);
    late->request.bound = clients[0]->request.bound = 1;
    MUST(trial, actor_arm(late) == 0, "arming after disarming: %s", late->err.text);
    MUST_GIVE(late, actor_acquire(late, &key, TRIAL_TRY), LB_OK);
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
    MUST_GIVE(a, actor_acquire(a, &key, lb_now() + 50 * LB_MS_NS), NOT_OK, "of six permits of 5");
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
    for (int i = 0; i < BOUND; i++) clients[i]->request.permits = 1;
    take_all(clients, &key);
    give_all(clients, NULL);
}

/* ---- locks without holders: a write succeeds only if no other client wrote since the read; or it is one statement,
 * which reads and writes at once ---- */

#define OPTIMISTIC_CLIENTS 8
#define WRITES 25 /* of each */

/* Each write makes a greater version than the one before it, which its client has read; a statement makes the next one,
 * and its release changes nothing. */
static void write_in_turn(struct trial *trial, bool atomic) {
    struct trial_key key = trial_key(), other = trial_key();
    struct actor *clients[2];
    uint64_t last = 0;
    actors_new(trial, NULL, 2, clients);
    for (int i = 0; i < 4; i++) {
        struct actor *client = clients[i % 2];
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        uint64_t got = client->grant.token, wanted = atomic ? last + 1 : last;
        MUST_REFUSE(trial, !atomic || got > last, "made version %llu after version %llu",
                    (unsigned long long)got, (unsigned long long)last);
        MUST(trial, i == 0 || got == wanted, "got version %llu, not %llu", (unsigned long long)got,
             (unsigned long long)wanted);
        MUST_GIVE(client, actor_release(client), LB_OK);
        last = client->grant.token;
        MUST_REFUSE(trial, atomic || last > got, "read version %llu, wrote version %llu",
                    (unsigned long long)got, (unsigned long long)last);
        MUST(trial, !atomic || last == got, "its release changed version %llu to %llu",
             (unsigned long long)got, (unsigned long long)last);
        if (atomic) MUST_USE(client, &other, trial_soon()); /* which changes only its own version */
    }
    /* A write to one key does not change another. */
    MUST_GIVE(clients[0], actor_acquire(clients[0], &key, trial_soon()), LB_OK);
    MUST_USE(clients[1], &other, trial_soon());
    MUST_GIVE(clients[0], actor_release(clients[0]), LB_OK);
}

void conform_version(struct trial *trial) {
    write_in_turn(trial, false);
}

void conform_atomic(struct trial *trial) {
    write_in_turn(trial, true);
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

static uint64_t
    written[OPTIMISTIC_CLIENTS * WRITES]; /* static memory outlives a client that hangs */
static _Atomic int count;

static void update(struct actor *client) {
    for (int done = 0; done < WRITES && !lb_stopping();) {
        client->request.deadline_ns = trial_soon();
        actor_job_acquire(client);
        lb_yield(); /* leaves time for others to read the same version */
        if (client->outcome == LB_OK) actor_job_release(client);
        if (client->outcome == LB_OK) {
            written[atomic_fetch_add(&count, 1)] = client->grant.token;
            done++;
        } else if (client->outcome != LB_BUSY) {
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
