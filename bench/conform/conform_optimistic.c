/* conform_optimistic: locks without holders: a write succeeds only if no other client wrote since
 * the read; or it is one statement, which reads and writes at once. */
#include <stdlib.h>

#include "bench/conform/conform.h"

#define CLIENTS 8
#define WRITES 25 /* of each */

void conform_version(struct trial *trial) {
    struct trial_key key = trial_key(), other = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial);
    if (!a || !b) return;
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
    MUST_GIVE(b, actor_acquire(b, &other, trial_soon()), LB_OK);
    MUST_GIVE(b, actor_release(b), LB_OK);
    MUST_GIVE(a, actor_release(a), LB_OK);
}

void conform_conflict(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial), *c = actor_new(trial);
    if (!a || !b || !c) return;
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
    if (!a || !b) return;
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
        MUST_GIVE(client, actor_acquire(client, &other, trial_soon()), LB_OK);
        MUST_GIVE(client, actor_release(client), LB_OK);
    }
}

static uint64_t written[CLIENTS * WRITES]; /* static memory outlives a client that hangs */
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
            trial_fail(client->trial, "a call gave %s: %s", lb_outcome_name(client->outcome),
                       client->session.err.text);
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
    struct actor *clients[CLIENTS];
    atomic_store(&count, 0);
    atomic_store(&refused, 0);
    if (!actors_new(trial, &key, NULL, CLIENTS, clients)) return;
    actors_do(clients, CLIENTS, update);
    if (trial_failed(trial)) return;
    qsort(written, CLIENTS * WRITES, sizeof *written, by_number);
    for (int i = 1; i < CLIENTS * WRITES; i++) {
        if (written[i] == written[i - 1])
            trial_overlap(trial, "version %llu was written twice: one update is lost",
                          (unsigned long long)written[i]);
    }
}
