/* conform_holder: who holds the lock, and who waits: owners, tokens, re-entry, readers and writers, deadlines. */
#include <string.h>

#include "bench/conform/conform.h"

/* ---- who holds the lock: releases by others, tokens, sessions that end ---- */

void conform_stranger(struct trial *trial) {
    struct trial_key key = trial_key(), elsewhere = trial_key();
    struct actor *holder = actor_new(trial), *never = actor_new(trial), *was = actor_new(trial);
    struct actor *third = actor_new(trial);
    /* Releases by clients that held this lock or another, and by one that was never granted anything. */
    MUST_USE(was, &elsewhere, trial_soon());
    MUST_USE(third, &key, trial_soon());
    MUST_GIVE(third, actor_release(third), NOT_OK, "of a free lock, once more,");
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    MUST_GIVE(third, actor_release(third), NOT_OK, "where another holds, once more,");
    actor_use_key(was, &key);
    MUST_GIVE(was, actor_release(was), NOT_OK, "of a stale grant");
    actor_use_key(never, &key);
    MUST_GIVE(never, actor_release(never), NOT_OK, "which never held it,");
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_BUSY,
              "where another holds, after a release by one that does not hold,");
    /* A waiter whose acquire failed has no grant either. */
    MUST_GIVE(third, actor_release(third), NOT_OK, "which was turned away,");
    MUST_GIVE(was, actor_acquire(was, &key, TRIAL_TRY), LB_BUSY,
              "where another holds, after a release by one that was turned away,");
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_USE(was, &key, trial_soon());
}

/* A lock that knows its holder by the session or the client alone can't tell two grants apart. In others the first
 * grant's word frees nothing, after its release and after its lease. */
void conform_old_word(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    struct trial_key key = trial_key();
    trial_short_leases(trial);
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    int64_t lease_ns = holder->request.lease_ns;
    for (int ends = 0; ends < ((lock->caps & LB_CAP_LEASE) ? 2 : 1); ends++) {
        holder->request.lease_ns = ends ? 300 * LB_MS_NS : lease_ns;
        MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
        if (!ends) MUST_GIVE(holder, actor_release(holder), LB_OK);
        actor_swap_grants(holder);
        holder->request.lease_ns = lease_ns;
        MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
        bool apart = memcmp(holder->grant.data, holder->kept.data, lock->algorithm->grant_bytes);
        if (apart) {
            actor_swap_grants(holder);
            MUST_GIVE(holder, actor_release(holder), LB_LOST, "by the word of an earlier grant");
            actor_swap_grants(holder);
            MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY,
                      "where another holds, after a release by the word of an earlier grant,");
        }
        MUST_GIVE(holder, actor_release(holder), LB_OK);
        if (!apart) return;
    }
}

void conform_fence(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[3];
    uint64_t last = 0;
    trial_short_leases(trial);
    actors_new(trial, NULL, 3, clients);
    for (int i = 0; i < 12; i++) {
        struct actor *client = clients[i % 3];
        /* Each way that a grant may end: by release, with its session, by its lease. */
        bool closes = i % 4 == 3 && (trial->lock->lock->caps & LB_CAP_SESSION);
        bool expires = i == 6 && (trial->lock->lock->caps & LB_CAP_LEASE);
        client->request.lease_ns = expires ? 300 * LB_MS_NS : trial->lease_ns;
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
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, trial_soon());
    MUST_WAIT(waiter, 100, "while another holds");
    actor_close(holder);
    MUST_GIVE(waiter, actor_end(waiter), LB_OK, "after the holder's session had ended");
    /* A client does not hold any more what it held in its ended session, not even with a new
     * session. */
    MUST(trial, actor_open(holder), "can't connect again: %s", holder->err.text);
    MUST_GIVE(holder, actor_release(holder), NOT_OK, "after the session's end");
    MUST_GIVE(holder, actor_acquire(holder, &key, lb_now() + 100 * LB_MS_NS), LB_TIMEOUT);
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
    /* A waiter that leaves also leaves the queue. */
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, lb_now() + 100 * LB_MS_NS);
    MUST_GIVE(waiter, actor_end(waiter), LB_TIMEOUT);
    actor_close(waiter);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_USE(holder, &key, trial_soon());
}

/* ---- a holder takes its lock several times, and must release it as often ---- */

#define DEPTH 5

void conform_reentry(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial), *waiter = actor_new(trial);
    for (int i = 0; i < DEPTH; i++) {
        holder->request.held = (uint32_t)i;
        MUST_GIVE(holder, actor_acquire(holder, &key, i % 2 ? trial_soon() : TRIAL_TRY), LB_OK);
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    }
    actor_begin_acquire(waiter, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    for (int i = DEPTH; i > 1; i--) {
        holder->request.held = (uint32_t)i;
        MUST_GIVE(holder, actor_release(holder), LB_OK);
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    }
    MUST_WAIT(waiter, 50, "before the last release");
    /* Meanwhile the depth may also go down. */
    holder->request.held = 1;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    holder->request.held = 2;
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_WAIT(waiter, 0, "while it was held");
    holder->request.held = 1;
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(waiter, actor_end(waiter), LB_OK);
    holder->request.held = 0;
    MUST_GIVE(holder, actor_release(holder), NOT_OK, "more often than its acquires");
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
}

/* ---- waits that end well, by their deadline, or by the run's cut-off ---- */

/* A server that counts timeouts in whole milliseconds may answer so much before the deadline. */
#define EARLY_NS LB_MS_NS

void conform_timed(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial), *third = actor_new(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int64_t deadline_ns = lb_now() + 300 * LB_MS_NS;
    MUST_GIVE(waiter, actor_acquire(waiter, &key, deadline_ns), LB_TIMEOUT,
              "where another holds until past its deadline");
    MUST(trial, waiter->ended_ns >= deadline_ns - EARLY_NS, "timed out %lld us before the deadline",
         (long long)((deadline_ns - waiter->ended_ns) / LB_US_NS));
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    /* The client is neither queued nor holding: a third one gets the lock at once, and the client
     * that gave up may come again. */
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_OK,
              "of what was released, after another had given up waiting,");
    MUST_GIVE(waiter, actor_acquire(waiter, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(third, actor_release(third), LB_OK);
    MUST_USE(waiter, &key, trial_soon());
}

/* A try asks and does not wait; a timed wait ends by its deadline. A busy machine makes some calls slow, a lock that sleeps
 * or polls makes all of them slow. So the fastest of several calls decides. */
#define CALLS 7
#define ROUND_TRIPS 3            /* so many uncontended acquires may a call take ... */
#define FLOOR_NS (30 * LB_MS_NS) /* ... and so much more */

/* The fastest of some uncontended acquires. */
static void measure(struct actor *client, int64_t *ret_least_ns) {
    struct trial_key key = trial_key();
    *ret_least_ns = INT64_MAX;
    for (int i = 0; i < CALLS; i++) {
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        int64_t took_ns = client->ended_ns - client->began_ns;
        if (took_ns < *ret_least_ns) *ret_least_ns = took_ns;
        MUST_GIVE(client, actor_release(client), LB_OK);
    }
}

/* The client asks for what it can't have: each call must end within limit_ns, or so much after its deadline. */
static void ask_in_vain(struct actor *client, const struct trial_key *key, int64_t limit_ns,
                        const char *when) {
    struct trial *trial = client->trial;
    for (int timed = 0; timed < 2; timed++) {
        int64_t least_ns = INT64_MAX;
        for (int i = 0; i < CALLS && least_ns > limit_ns; i++) {
            /* a whole second, because MySQL counts in seconds */
            int64_t due_ns = lb_now() + (timed ? LB_S_NS : 0);
            enum lb_outcome taken = actor_acquire(client, key, timed ? due_ns : TRIAL_TRY);
            MUST_GIVE(client, taken, timed ? LB_TIMEOUT : LB_BUSY, when);
            if (client->ended_ns - due_ns < least_ns) least_ns = client->ended_ns - due_ns;
        }
        MUST(trial, least_ns <= limit_ns,
             "%s %s is at least %lld ms late, %d times; %lld ms are enough for three round trips",
             timed ? "a timed wait" : "a try", when, (long long)(least_ns / LB_MS_NS), CALLS,
             (long long)(limit_ns / LB_MS_NS));
    }
}

void conform_prompt(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    int64_t least_ns;
    measure(holder, &least_ns);
    if (trial_failed(trial)) return;
    int64_t limit_ns = ROUND_TRIPS * least_ns + FLOOR_NS;
    static const char *const whens[] = {"where another holds", "where another reads",
                                        "to read where another writes"};
    for (int mode = 0; mode < ((lock->caps & LB_CAP_SHARED) ? 3 : 1); mode++) {
        holder->request.shared = mode == 1;
        other->request.shared = mode == 2;
        MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
        ask_in_vain(other, &key, limit_ns, whens[mode]);
        MUST_GIVE(holder, actor_release(holder), LB_OK);
    }
}

void conform_handover(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *clients[2];
    actors_new(trial, NULL, 2, clients);
    for (int i = 0; i < 4; i++) {
        struct actor *holder = clients[i % 2], *waiter = clients[1 - i % 2];
        int64_t deadline_ns = i % 2 ? LB_NEVER : trial_soon();
        MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
        actor_begin_acquire(waiter, &key, deadline_ns);
        /* The cut-off finds the client deep in its wait, or just on its way to it. */
        trial_sleep_until(lb_now() + (i < 2 ? 100 * LB_MS_NS : 500 * LB_US_NS));
        MUST_WAIT(waiter, 0, "while another holds");
        MUST_GIVE(holder, actor_release(holder), LB_OK);
        MUST_GIVE(waiter, actor_end(waiter), LB_OK, "after the holder had released");
        MUST_GIVE(waiter, actor_release(waiter), LB_OK);
    }
}

void conform_cutoff(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial), *timed = actor_new(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiter, &key, LB_NEVER);
    actor_begin_acquire(timed, &key, lb_now() + 600 * LB_S_NS);
    MUST_WAIT(waiter, 200, "while another holds");
    MUST_WAIT(timed, 0, "while another holds");
    atomic_store(&trial->cutoff_ns, lb_now());
    int64_t deadline_ns = trial_soon();
    MUST(trial, actor_idle_by(waiter, deadline_ns) && actor_idle_by(timed, deadline_ns),
         "a wait goes on although the run was cut off");
    MUST_REFUSE(trial, waiter->outcome != LB_OK && timed->outcome != LB_OK,
                "a waiter got ok while another holds");
    MUST(trial, waiter->outcome != LB_REFUSED, "a cut-off wait is no refusal: %s",
         waiter->session.err.text);
}

/* ---- readers hold together, writers alone ---- */

static enum lb_outcome take_key(struct actor *client, const struct trial_key *key, bool shared,
                                int64_t deadline_ns) {
    client->request.shared = shared;
    return actor_acquire(client, key, deadline_ns);
}

void conform_shared(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
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
    MUST_GIVE(one, actor_release(one), NOT_OK, "of a reader, once more,");
}

void conform_shared_wait(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
    MUST_GIVE(one, take_key(one, &key, true, trial_soon()), LB_OK);
    MUST_GIVE(two, take_key(two, &key, true, trial_soon()), LB_OK);
    writer->request.shared = false;
    actor_begin_acquire(writer, &key, trial_soon());
    MUST_WAIT(writer, 100, "while two read");
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_WAIT(writer, 50, "while one reads");
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(writer, actor_end(writer), LB_OK);
    /* Both readers wait for the writer, and both get it. */
    one->request.shared = two->request.shared = true;
    actor_begin_acquire(one, &key, trial_soon());
    actor_begin_acquire(two, &key, trial_soon());
    MUST_WAIT(one, 100, "while one writes");
    MUST_WAIT(two, 0, "while one writes");
    MUST_GIVE(writer, actor_release(writer), LB_OK);
    MUST_GIVE(one, actor_end(one), LB_OK);
    MUST_GIVE(two, actor_end(two), LB_OK);
    MUST_GIVE(one, actor_release(one), LB_OK);
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(writer, take_key(writer, &key, false, TRIAL_TRY), LB_OK);
    MUST_GIVE(writer, actor_release(writer), LB_OK);
}

/* Of a reader and a writer that wait one gets it, and the other when the first has released. first: which one;
 * NULL = any. */
static void one_by_one(struct actor *a, struct actor *b, const struct actor *first) {
    struct trial *trial = a->trial;
    int64_t deadline_ns = trial_soon();
    while (actor_is_busy(a) && actor_is_busy(b) && lb_now() < deadline_ns)
        trial_sleep_until(lb_now() + LB_MS_NS);
    struct actor *holder = actor_is_busy(a) ? b : a, *waiter = holder == a ? b : a;
    MUST_GIVE(holder, actor_end(holder), LB_OK);
    MUST_WAIT(waiter, 100, "while the other of reader and writer holds");
    MUST(trial, !first || holder == first, "the one that came later got it first");
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(waiter, actor_end(waiter), LB_OK);
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
}

/* A reader comes while a writer waits: in a fair lock it waits for the writer, in others it may come in. It never
 * holds beside the writer. */
void conform_shared_late(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
    bool fair = trial->lock->lock->caps & LB_CAP_FAIR;
    one->request.shared = two->request.shared = true;
    MUST_GIVE(one, actor_acquire(one, &key, trial_soon()), LB_OK);
    actor_begin_acquire(writer, &key, trial_soon());
    MUST_WAIT(writer, 100, "while one reads");
    actor_begin_acquire(two, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    bool passed = !actor_is_busy(two);
    if (passed) MUST_GIVE(two, actor_end(two), LB_OK);
    MUST_GIVE(one, actor_release(one), LB_OK);
    if (passed) {
        MUST_WAIT(writer, 100, "while a reader holds that came after it");
        MUST(trial, !fair, "a reader went before a writer that waited, in a lock that is fair");
        MUST_GIVE(two, actor_release(two), LB_OK);
        MUST_GIVE(writer, actor_end(writer), LB_OK);
        MUST_GIVE(writer, actor_release(writer), LB_OK);
    } else {
        one_by_one(writer, two, fair ? writer : NULL);
    }
    /* A reader, and after it another writer, wait for a writer. */
    one->request.shared = false;
    MUST_GIVE(one, actor_acquire(one, &key, trial_soon()), LB_OK);
    actor_begin_acquire(two, &key, trial_soon());
    MUST_WAIT(two, 100, "while one writes");
    actor_begin_acquire(writer, &key, trial_soon());
    MUST_WAIT(writer, 100, "while one writes");
    MUST_GIVE(one, actor_release(one), LB_OK);
    one_by_one(two, writer, fair ? two : NULL);
    /* A writer that gives up lets in the readers that waited behind it. */
    one->request.shared = true;
    MUST_GIVE(one, actor_acquire(one, &key, trial_soon()), LB_OK);
    actor_begin_acquire(writer, &key, lb_now() + 300 * LB_MS_NS);
    MUST_WAIT(writer, 100, "while one reads");
    actor_begin_acquire(two, &key, trial_soon());
    MUST_GIVE(writer, actor_end(writer), LB_TIMEOUT);
    MUST_GIVE(two, actor_end(two), LB_OK, "after the writer before it had given up");
    MUST_GIVE(two, actor_release(two), LB_OK);
    MUST_GIVE(one, actor_release(one), LB_OK);
}

/* Each client writes now and then, at other times than the others. */
static void read_or_write(struct actor *client, int turn) {
    client->request.shared = (turn + (int)client->session.client) % 4 != 0;
}

void conform_shared_mix(struct trial *trial) {
    static const struct contest mix = {.grants_most = 300,
                                       .time_ns = 2 * LB_S_NS,
                                       .hold_ns = 300 * LB_US_NS,
                                       .prepare = read_or_write};
    struct trial_key key = trial_key();
    struct actor *clients[8];
    contest_run(trial, &mix, &key, 8, clients);
}

/* The end of a reader's lease or session ends the hold of this reader, not those of the others. */
static void one_goes(struct trial *trial, bool by_lease) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *two = actor_new(trial), *writer = actor_new(trial);
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
    MUST_GIVE(one, actor_release(one), NOT_OK, "of a reader whose part had ended");
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
