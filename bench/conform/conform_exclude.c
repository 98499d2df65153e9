/* conform_exclude: clients exclude each other, few, many, and with several keys at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/conform/conform.h"
#include "bench/measure/cell.h"

#define CLIENTS 8
/* grants of all clients together, or this time, whichever comes first */
#define GRANTS 600
#define TIME_NS (3 * LB_S_NS)
#define HOLD_NS (200 * LB_US_NS) /* a hold long enough for an intruder */

struct contest {
    struct cell cell;
    struct found holders[CLIENTS]; /* for the findings */
    _Atomic uint64_t grants;
    int64_t end_ns;
    struct findings findings;
};

static void contend(struct actor *client) {
    struct contest *shared = client->arg;
    while (atomic_load(&shared->grants) < GRANTS && lb_now() < shared->end_ns && !lb_stopping()) {
        client->request.deadline_ns = trial_soon();
        actor_job_acquire(client);
        if (client->outcome != LB_OK) {
            trial_fail(client->trial, "acquire gave %s: %s", lb_outcome_name(client->outcome),
                       client->session.err.text);
            return;
        }
        struct holding me = {client->session.client, lb_now(), client->grant.lease_end_ns,
                             client->grant.token};
        struct entry entry = cell_enter(&shared->cell, &shared->findings, 0, &me);
        atomic_fetch_add(&shared->grants, 1);
        lb_sleep_until(lb_now() + HOLD_NS);
        cell_leave(&shared->cell, me.client, &entry, lb_now());
        actor_job_release(client);
        if (client->outcome != LB_OK) {
            trial_fail(client->trial, "release gave %s: %s", lb_outcome_name(client->outcome),
                       client->session.err.text);
            return;
        }
    }
}

/* Judges a contest on one key after its end, and fails the trial unless the contest was clean. Returns
 * the number of grants. */
static uint64_t conform_judge(struct trial *trial, const struct cell *cell,
                              const struct findings *findings) {
    struct exclusion exclusion = cells_judge(cell, 1, findings);
    char text[256];
    snprintf(
        text, sizeof text,
        "%llu grants, %llu lost updates, %llu double holders, %llu past their lease, %llu tokens that "
        "did not grow",
        (unsigned long long)exclusion.grants, (unsigned long long)exclusion.lost_updates,
        (unsigned long long)exclusion.double_holders, (unsigned long long)exclusion.expired_holders,
        (unsigned long long)exclusion.token_errors);
    if (exclusion.verdict == VERDICT_VIOLATED) trial_overlap(trial, "does not exclude: %s", text);
    if (exclusion.verdict != VERDICT_CLEAN) trial_fail(trial, "does not exclude: %s", text);
    return exclusion.grants;
}

void conform_exclude(struct trial *trial) {
    struct trial_key key = trial_key();
    static struct contest shared; /* static memory outlives a client that hangs */
    shared = (struct contest){.findings.holders = shared.holders};
    struct actor *clients[CLIENTS];
    if (!actors_new(trial, &key, &shared, CLIENTS, clients)) return;
    shared.end_ns = lb_now() + TIME_NS;
    actors_do(clients, CLIENTS, contend);
    uint64_t grants = conform_judge(trial, &shared.cell, &shared.findings);
    MUST(trial, grants == atomic_load(&shared.grants) && grants >= CLIENTS,
         "too few grants to say anything: %llu", (unsigned long long)grants);
}

#define ATTEMPTS 2000
#define IMPATIENT_NS (2 * LB_S_NS)

/* The same with clients that give up: soon, late, and right when their turn comes. */
static void contend_briefly(struct actor *client) {
    struct contest *shared = client->arg;
    static const int64_t waits_ns[] = {0,        2 * LB_US_NS, 50 * LB_US_NS, 300 * LB_US_NS,
                                       LB_MS_NS, 5 * LB_MS_NS};
    for (int i = 0; i < ATTEMPTS && lb_now() < shared->end_ns && !lb_stopping(); i++) {
        int64_t wait_ns =
            waits_ns[rng_u64(&client->session.rng) % (sizeof waits_ns / sizeof *waits_ns)];
        client->request.deadline_ns = lb_now() + wait_ns;
        /* the first failure is kept: not that an earlier wait ran out */
        client->session.err.code = 0;
        actor_job_acquire(client);
        if (client->outcome == LB_BUSY || client->outcome == LB_TIMEOUT) {
            lb_yield();
            continue;
        }
        /* If the server made the grant while the client withdrew its request, the driver says
         * "unknown", which is honest, and settling repairs it. */
        if (client->outcome == LB_UNKNOWN && actor_mend(client)) continue;
        if (client->outcome == LB_OK) {
            struct holding me = {client->session.client, lb_now(), client->grant.lease_end_ns,
                                 client->grant.token};
            struct entry entry = cell_enter(&shared->cell, &shared->findings, 0, &me);
            atomic_fetch_add(&shared->grants, 1);
            if (i % 4 == 0) lb_sleep_until(lb_now() + HOLD_NS);
            cell_leave(&shared->cell, me.client, &entry, lb_now());
            actor_job_release(client);
        }
        if (client->outcome == LB_OK) continue;
        trial_fail(client->trial, "a call gave %s: %s", lb_outcome_name(client->outcome),
                   client->session.err.text);
        return;
    }
}

void conform_give_up(struct trial *trial) {
    struct trial_key key = trial_key();
    static struct contest shared; /* static memory outlives a client that hangs */
    shared = (struct contest){.findings.holders = shared.holders};
    struct actor *clients[CLIENTS];
    if (!actors_new(trial, &key, &shared, CLIENTS, clients)) return;
    shared.end_ns = lb_now() + IMPATIENT_NS;
    actors_do(clients, CLIENTS, contend_briefly);
    conform_judge(trial, &shared.cell, &shared.findings);
    if (trial_failed(trial)) return;
    /* A client that gave up has left nothing that blocks others. */
    for (int i = 0; i < CLIENTS; i++) {
        MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
        MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
    }
}

/* ---- many clients: order where it is claimed, a turn for everybody, one session for several ---- */

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

/* ---- several keys at once: all or none, and no deadlock ---- */

#define KEYS 5
#define MULTI_CLIENTS 8
#define MULTI_GRANTS 200
#define MULTI_TIME_NS (3 * LB_S_NS)
#define MULTI_HOLD_NS (200 * LB_US_NS)

static enum lb_outcome take_keys(struct actor *client, const struct trial_key *keys, int count,
                                 int64_t deadline_ns) {
    return actor_use_keys(client, keys, count) ? actor_take(client, deadline_ns) : LB_OUTCOMES;
}

void conform_multi(struct trial *trial) {
    struct trial_key keys[4] = {trial_key(), trial_key(), trial_key(), trial_key()};
    struct actor *a = actor_new(trial), *b = actor_new(trial), *c = actor_new(trial);
    if (!a || !b || !c) return;
    for (int round = 0; round < 2; round++) {
        /* keys 1, 2 and 3 are taken; key 0 is free */
        MUST_GIVE(a, take_keys(a, keys + 1, 3, round ? trial_soon() : TRIAL_TRY), LB_OK);
        for (int i = 1; i < 4; i++) MUST_GIVE(b, take_keys(b, keys + i, 1, TRIAL_TRY), LB_BUSY);
        MUST_GIVE(b, take_keys(b, keys, 2, TRIAL_TRY), LB_BUSY);
        MUST_GIVE(c, take_keys(c, keys, 1, TRIAL_TRY), LB_OK); /* client b has not kept key 0 */
        MUST_GIVE(c, actor_release(c), LB_OK);
        MUST_GIVE(b, take_keys(b, keys, 4, lb_now() + 200 * LB_MS_NS), LB_TIMEOUT);
        MUST_GIVE(c, take_keys(c, keys, 1, TRIAL_TRY), LB_OK);
        MUST_GIVE(c, actor_release(c), LB_OK);
        /* A waiter for all gets all. */
        if (!actor_use_keys(b, keys, 4)) return;
        actor_begin_take(b, trial_soon());
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
        MUST_SAY_NO(trial, b->outcome, actor_is_busy(b),
                    "a waiter got %s while three of four are held", lb_outcome_name(b->outcome));
        MUST_GIVE(a, actor_release(a), LB_OK);
        MUST_GIVE(b, actor_end(b), LB_OK);
        for (int i = 0; i < 4; i++) MUST_GIVE(c, take_keys(c, keys + i, 1, TRIAL_TRY), LB_BUSY);
        MUST_GIVE(b, actor_release(b), LB_OK);
        for (int i = 0; i < 4; i++) {
            MUST_GIVE(c, take_keys(c, keys + i, 1, TRIAL_TRY), LB_OK);
            MUST_GIVE(c, actor_release(c), LB_OK);
        }
    }
}

struct rooms {
    struct trial_key keys[KEYS];
    _Atomic int inside[KEYS];
    _Atomic int grants;
    int64_t end_ns;
};

static void overlap(struct actor *client) {
    struct rooms *rooms = client->arg;
    struct lb_key keys[KEYS];
    int index[KEYS];
    while (atomic_load(&rooms->grants) < MULTI_GRANTS && lb_now() < rooms->end_ns &&
           !lb_stopping()) {
        int count = 0;
        uint64_t pick = rng_u64(&client->session.rng);
        for (int i = 0; i < KEYS; i++) {
            if (!(pick >> i & 1) && !(i == KEYS - 1 && count == 0)) continue;
            const struct trial_key *key = &rooms->keys[i];
            index[count] = i;
            keys[count++] = (struct lb_key){key->name, key->len, key->number, key->index};
        }
        client->request.key = keys[0].name;
        client->request.key_len = keys[0].len;
        client->request.key_number = keys[0].number;
        client->request.key_index = keys[0].index;
        client->request.keys = keys;
        client->request.key_count = count;
        client->request.deadline_ns = trial_soon();
        actor_job_acquire(client);
        if (client->outcome == LB_OK) {
            for (int i = 0; i < count; i++) {
                if (atomic_exchange(&rooms->inside[index[i]], 1))
                    trial_overlap(client->trial, "key %d was given to two", index[i]);
            }
            atomic_fetch_add(&rooms->grants, 1);
            lb_sleep_until(lb_now() + MULTI_HOLD_NS);
            for (int i = 0; i < count; i++) atomic_store(&rooms->inside[index[i]], 0);
            actor_job_release(client);
        }
        if (client->outcome == LB_OK) continue;
        trial_fail(client->trial, "a call for %d keys gave %s: %s", count,
                   lb_outcome_name(client->outcome), client->session.err.text);
        break;
    }
    client->request.keys = NULL;
    client->request.key = client->key.name;
}

void conform_multi_overlap(struct trial *trial) {
    static struct rooms rooms; /* static memory outlives a client that hangs */
    rooms = (struct rooms){.end_ns = 0};
    for (int i = 0; i < KEYS; i++) rooms.keys[i] = trial_key();
    struct actor *clients[MULTI_CLIENTS];
    for (int i = 0; i < MULTI_CLIENTS; i++) {
        clients[i] = actor_new(trial);
        if (!clients[i] || !actor_use_keys(clients[i], rooms.keys, KEYS)) return;
        clients[i]->arg = &rooms;
    }
    rooms.end_ns = lb_now() + MULTI_TIME_NS;
    actors_do(clients, MULTI_CLIENTS, overlap);
    MUST(trial, atomic_load(&rooms.grants) >= MULTI_CLIENTS, "too few grants to say anything: %d",
         atomic_load(&rooms.grants));
}
