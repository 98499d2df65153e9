/* conform_multi: several keys at once: all or none, and no deadlock. */
#include "bench/conform/conform.h"

#define KEYS 5
#define CLIENTS 8
#define GRANTS 200
#define TIME_NS (3 * LB_S_NS)
#define HOLD_NS (200 * LB_US_NS)

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
    while (atomic_load(&rooms->grants) < GRANTS && lb_now() < rooms->end_ns && !lb_stopping()) {
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
            lb_sleep_until(lb_now() + HOLD_NS);
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
    struct actor *clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = actor_new(trial);
        if (!clients[i] || !actor_use_keys(clients[i], rooms.keys, KEYS)) return;
        clients[i]->arg = &rooms;
    }
    rooms.end_ns = lb_now() + TIME_NS;
    actors_do(clients, CLIENTS, overlap);
    MUST(trial, atomic_load(&rooms.grants) >= CLIENTS, "too few grants to say anything: %d",
         atomic_load(&rooms.grants));
}
