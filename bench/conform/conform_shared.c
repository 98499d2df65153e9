/* conform_shared: readers hold together, writers alone. */
#include "bench/conform/conform.h"

#define CLIENTS 8
#define GRANTS 300
#define TIME_NS (2 * LB_S_NS)
#define HOLD_NS (300 * LB_US_NS)

static enum lb_outcome take_key(struct actor *client, const struct trial_key *key, bool shared,
                                int64_t deadline_ns) {
    client->request.shared = shared;
    return actor_acquire(client, key, deadline_ns);
}

void conform_shared(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
    if (!one || !two || !writer) return;
    MUST_GIVE(one, take_key(one, &key, true, TRIAL_TRY), LB_OK);
    MUST_GIVE(two, take_key(two, &key, true, TRIAL_TRY), LB_OK);
    MUST_GIVE(writer, take_key(writer, &key, false, TRIAL_TRY), LB_BUSY);
    /* The release of the first reader does not affect the second. */
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_GIVE(writer, take_key(writer, &key, false, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(writer, take_key(writer, &key, false, TRIAL_TRY), LB_OK);
    MUST_GIVE(one, take_key(one, &key, true, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(two, take_key(two, &key, false, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(writer, actor_release(writer), LB_OK);
    MUST_GIVE(one, take_key(one, &key, true, TRIAL_TRY), LB_OK);
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_REFUSE(trial, actor_release(one) != LB_OK, "a reader's second release gave ok");
}

void conform_shared_wait(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
    if (!one || !two || !writer) return;
    MUST_GIVE(one, take_key(one, &key, true, trial_soon()), LB_OK);
    MUST_GIVE(two, take_key(two, &key, true, trial_soon()), LB_OK);
    writer->request.shared = false;
    actor_begin_acquire(writer, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST_SAY_NO(trial, writer->outcome, actor_is_busy(writer), "a writer got %s while two read",
                lb_outcome_name(writer->outcome));
    MUST_GIVE(one, actor_release(one), LB_OK);
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    MUST_SAY_NO(trial, writer->outcome, actor_is_busy(writer), "a writer got %s while one reads",
                lb_outcome_name(writer->outcome));
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(writer, actor_end(writer), LB_OK);
    /* Both readers wait for the writer, and both get it. */
    one->request.shared = two->request.shared = true;
    actor_begin_acquire(one, &key, trial_soon());
    actor_begin_acquire(two, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST_SAY_NO(trial, one->outcome, actor_is_busy(one), "a reader got %s while one writes",
                lb_outcome_name(one->outcome));
    MUST_SAY_NO(trial, two->outcome, actor_is_busy(two), "a reader got %s while one writes",
                lb_outcome_name(two->outcome));
    MUST_GIVE(writer, actor_release(writer), LB_OK);
    MUST_GIVE(one, actor_end(one), LB_OK);
    MUST_GIVE(two, actor_end(two), LB_OK);
    /* A writer that gave up blocks nobody. */
    writer->request.shared = false;
    MUST_GIVE(writer, actor_acquire(writer, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_GIVE(one, take_key(one, &key, true, trial_soon()), LB_OK);
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(writer, take_key(writer, &key, false, TRIAL_TRY), LB_OK);
    MUST_GIVE(writer, actor_release(writer), LB_OK);
}

/* The clients inside: 1 for each reader, and 1000 for each writer. */
#define WRITER 1000

struct room {
    _Atomic int inside, grants;
    int64_t end_ns;
};

static void mix(struct actor *client) {
    struct room *room = client->arg;
    for (int i = 0;
         atomic_load(&room->grants) < GRANTS && lb_now() < room->end_ns && !lb_stopping(); i++) {
        /* Each client writes now and then, at other times than the others. */
        bool shared = client->request.shared = (i + (int)client->session.client) % 4 != 0;
        client->request.deadline_ns = trial_soon();
        actor_job_acquire(client);
        if (client->outcome == LB_OK) {
            int before = atomic_fetch_add(&room->inside, shared ? 1 : WRITER);
            if (shared ? before >= WRITER : before != 0)
                trial_overlap(client->trial, "a %s came in where %d readers and %d writers were",
                              shared ? "reader" : "writer", before % WRITER, before / WRITER);
            atomic_fetch_add(&room->grants, 1);
            lb_sleep_until(lb_now() + HOLD_NS);
            atomic_fetch_sub(&room->inside, shared ? 1 : WRITER);
            actor_job_release(client);
        }
        if (client->outcome == LB_OK) continue;
        trial_fail(client->trial, "a %s's call gave %s: %s", shared ? "reader" : "writer",
                   lb_outcome_name(client->outcome), client->session.err.text);
        return;
    }
}

void conform_shared_mix(struct trial *trial) {
    struct trial_key key = trial_key();
    static struct room room; /* static memory outlives a client that hangs */
    room = (struct room){.end_ns = 0};
    struct actor *clients[CLIENTS];
    if (!actors_new(trial, &key, &room, CLIENTS, clients)) return;
    room.end_ns = lb_now() + TIME_NS;
    actors_do(clients, CLIENTS, mix);
    MUST(trial, atomic_load(&room.grants) >= CLIENTS, "too few grants to say anything: %d",
         atomic_load(&room.grants));
}

/* The end of a reader's lease or session ends the hold of this reader, not those of the others. */
static void one_goes(struct trial *trial, bool by_lease) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
    if (!one || !two || !writer) return;
    if (by_lease) one->request.lease_ns = 300 * LB_MS_NS;
    MUST_GIVE(two, take_key(two, &key, true, trial_soon()), LB_OK);
    MUST_GIVE(one, take_key(one, &key, true, trial_soon()), LB_OK);
    if (by_lease)
        trial_sleep_until(one->grant.lease_end_ns + 300 * LB_MS_NS);
    else
        actor_close(one);
    MUST_GIVE(writer, take_key(writer, &key, false, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(writer, take_key(writer, &key, false, trial_soon()), LB_OK);
    if (!by_lease) MUST(trial, actor_open(one), "can't connect again: %s", one->err.text);
    MUST_REFUSE(trial, actor_release(one) != LB_OK,
                "a release by a reader whose part had ended gave ok");
    MUST_GIVE(two, take_key(two, &key, true, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(writer, actor_release(writer), LB_OK);
    /* The end of the last reader frees the lock for the writer. */
    MUST_GIVE(one, take_key(one, &key, true, trial_soon()), LB_OK);
    if (!by_lease) actor_close(one);
    MUST_GIVE(writer, take_key(writer, &key, false, trial_soon()), LB_OK);
    MUST_GIVE(writer, actor_release(writer), LB_OK);
}

void conform_reader_lease(struct trial *trial) {
    one_goes(trial, true);
}

void conform_reader_session(struct trial *trial) {
    one_goes(trial, false);
}
