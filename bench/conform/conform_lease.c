/* conform_lease: what ends a grant without its release: its lease, the death of a client or of the server; and what
 * is left on the server then. */
#include "bench/conform/conform.h"
#include "bench/servers/topo.h"

/* The part of a lease that a lock may deduct: Redlock states it less the drift of clocks (1 %, 2 ms). */
#define DRIFT_NS(lease_ns) ((lease_ns) / 100 + 2 * LB_MS_NS)
#define BUSY_NS (8 * LB_S_NS)
/* a backend with a coarser clock makes the lease longer and states that */
#define LEASE_NS (300 * LB_MS_NS)

/* The time by which a lock must be free without a release: the stated end of the grant, the slack of the lock's table,
 * and for a busy machine some seconds more, at most the patience of all checks. */
static int64_t free_by(const struct actor *holder) {
    int64_t slack_ns = holder->session.lock->about.crash_slack_ns + BUSY_NS;
    if (slack_ns > trial_patience_ns) slack_ns = trial_patience_ns;
    return lb_after(holder->grant.lease_end_ns, slack_ns);
}

/* A lease may last so much longer than stated: because of whole seconds; or less, if the lock's table states less. */
static int64_t coarse_ns(const struct actor *holder) {
    int64_t slack_ns = holder->session.lock->about.crash_slack_ns + 200 * LB_MS_NS;
    return slack_ns < 2500 * LB_MS_NS ? slack_ns : 2500 * LB_MS_NS;
}

void conform_lease_ends(struct trial *trial) {
    struct trial_key key = trial_key();
    trial_short_leases(trial);
    struct actor *holder = actor_new(trial), *next = actor_new(trial), *third = actor_new(trial);
    holder->request.lease_ns = LEASE_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int64_t end_ns = holder->grant.lease_end_ns;
    MUST(trial, end_ns >= holder->began_ns + LEASE_NS - DRIFT_NS(LEASE_NS),
         "the grant's lease is shorter than asked for");
    MUST(trial, end_ns <= holder->ended_ns + LEASE_NS + 10 * LB_S_NS,
         "the grant's lease is far too long");
    MUST_GIVE(next, actor_acquire(next, &key, free_by(holder)), LB_OK,
              "after the lease of another had ended");
    MUST_REFUSE(trial, next->ended_ns >= end_ns,
                "another got it %lld us before the lease that the grant states",
                (long long)((end_ns - next->ended_ns) / LB_US_NS));
    /* The client whose lease ended learns of the end, and its release frees nothing that the other holds. */
    MUST_GIVE(holder, actor_release(holder), LB_LOST, "after its lease had ended");
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_BUSY,
              "where another holds, after the release by one whose lease had ended,");
    MUST_GIVE(next, actor_release(next), LB_OK);
    /* It learns of the end even if no other client has taken the lock since. */
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    trial_sleep_until(holder->grant.lease_end_ns + coarse_ns(holder));
    MUST_GIVE(holder, actor_release(holder), LB_LOST, "after its lease had ended");
}

#define LASTS_NS (1100 * LB_MS_NS) /* no whole seconds, which a lock may round down by mistake */
#define BEFORE_NS (20 * LB_MS_NS)  /* the last part of a lease, in which another one tries */
/* A server's clock of the day may be slewed against ours: by 500 ppm at most. */
#define SLEW_NS (LASTS_NS / 1000)

/* Another one tries each millisecond from shortly before the stated end, at which the holder must still have it. The
 * lock's own waits would sleep over a shortfall. Afterwards the other one holds. */
static void outlast(struct trial *trial, struct actor *holder, struct actor *other,
                    const struct trial_key *key, const char *what) {
    int64_t end_ns = holder->grant.lease_end_ns - SLEW_NS;
    trial_sleep_until(end_ns - BEFORE_NS);
    while (lb_now() < end_ns) {
        enum lb_outcome outcome = actor_acquire(other, key, TRIAL_TRY);
        if (outcome == LB_OK) {
            MUST_REFUSE(trial, other->ended_ns >= end_ns,
                        "%s: another got it %lld us or more before the lease that the grant states",
                        what, (long long)((end_ns + SLEW_NS - other->ended_ns) / LB_US_NS));
            return;
        }
        MUST(trial, outcome == LB_BUSY, "%s: another's try gave %s", what,
             lb_outcome_name(outcome));
        trial_sleep_until(lb_now() + LB_MS_NS);
    }
    MUST_GIVE(other, actor_acquire(other, key, free_by(holder)), LB_OK,
              "after the lease of another had ended");
}

void conform_lease_lasts(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = trial->lease_ns = LASTS_NS;
    struct actor *holder = actor_new(trial), *next = actor_new(trial), *third = actor_new(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    outlast(trial, holder, next, &key, "a grant");
    if (trial_failed(trial)) return;
    if (trial->lock->lock->caps & LB_CAP_RENEW) {
        MUST_GIVE(next, actor_renew(next, LASTS_NS), LB_OK, "of what it holds");
        outlast(trial, next, third, &key, "a renewal");
        if (!trial_failed(trial)) MUST_GIVE(third, actor_release(third), LB_OK);
    } else {
        MUST_GIVE(next, actor_release(next), LB_OK);
    }
}

void conform_renewal(struct trial *trial) {
    struct trial_key key = trial_key();
    trial_short_leases(trial);
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    holder->request.lease_ns = 600 * LB_MS_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int64_t first_end_ns = holder->grant.lease_end_ns, last_end_ns = first_end_ns;
    while (lb_now() < first_end_ns + coarse_ns(holder)) {
        MUST_GIVE(holder, actor_renew(holder, 2 * LB_S_NS), LB_OK, "of what it holds");
        MUST(trial, holder->grant.lease_end_ns >= last_end_ns, "a renewal made the lease shorter");
        MUST(trial,
             holder->grant.lease_end_ns >= holder->began_ns + 2 * LB_S_NS - DRIFT_NS(2 * LB_S_NS),
             "a renewal gave less than asked for");
        last_end_ns = holder->grant.lease_end_ns;
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY,
                  "where another holds and renews");
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    }
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_OK);
    MUST_SAY_NO(trial, holder->outcome, actor_renew(holder, LB_S_NS) == LB_LOST,
                "a renewal of another's lock gave %s", lb_outcome_name(holder->outcome));
    MUST_GIVE(other, actor_release(other), LB_OK);
}

void conform_late_renewal(struct trial *trial) {
    struct trial_key key = trial_key();
    trial_short_leases(trial);
    struct actor *holder = actor_new(trial), *next = actor_new(trial);
    holder->request.lease_ns = LEASE_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    MUST_GIVE(next, actor_acquire(next, &key, free_by(holder)), LB_OK,
              "after the lease of another had ended");
    int64_t end_ns = holder->grant.lease_end_ns;
    MUST_GIVE(holder, actor_renew(holder, 10 * LB_S_NS), LB_LOST,
              "after its lease had ended and another had got the lock");
    MUST_REFUSE(trial, holder->grant.lease_end_ns == end_ns,
                "a renewal of what was lost has changed the end of the lease");
    MUST_GIVE(next, actor_release(next), LB_OK);
    /* A renewal does not revive the grant either. */
    MUST_GIVE(holder, actor_renew(holder, 10 * LB_S_NS), LB_LOST,
              "after its lease had ended and another had got the lock");
    MUST_USE(next, &key, trial_soon());
}

/* ---- nothing is left on the server when all clients have gone ---- */

#define RESIDUE_WAITERS 4

static struct lb_residue found;
static const char *asked_prefix;

static void ask_residue(struct actor *client) {
    client->err = (struct lb_err){0};
    client->failed = client->session.lock->algorithm->residue(&client->session, asked_prefix,
                                                              &found, &client->err);
}

/* How much a session finds. */
static uint64_t residue(struct actor *asker, const struct trial_key *key) {
    asked_prefix = key->name;
    found = (struct lb_residue){0};
    actor_do(asker, ask_residue);
    if (asker->failed) trial_fail(asker->trial, "residue: %s", asker->err.text);
    return found.count;
}

/* The server must have nothing under the key any more, as this session sees it; after a while, since it may take a
 * moment to see that a session has ended. */
static void nothing_left(struct actor *asker, const struct trial_key *key, const char *after) {
    int64_t deadline_ns = trial_settled();
    uint64_t count;
    while ((count = residue(asker, key)) > 0 && lb_now() < deadline_ns)
        trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    MUST(asker->trial, count == 0, "after %s %llu are left, for one %s", after,
         (unsigned long long)count, found.example);
}

/* Removes what arming the lock created. */
static void clear(struct trial *trial, struct actor *client) {
    if (actor_disarm(client) != 0) trial_fail(trial, "disarming: %s", client->err.text);
}

void conform_leaves_nothing(struct trial *trial, struct actor *client, const struct trial_key *key,
                            const char *use) {
    if (trial_failed(trial)) return;
    clear(trial, client);
    for (struct actor *at = trial->clients; at; at = at->next) actor_close(at);
    if (trial->lock->lock->algorithm->residue) nothing_left(actor_new(trial), key, use);
}

static void use_once(struct actor *client) {
    client->request.deadline_ns = LB_NEVER; /* a wait with a deadline may leave other things */
    actor_job_acquire(client);
    if (client->outcome == LB_OK) actor_job_release(client);
    if (client->outcome != LB_OK)
        trial_fail(client->trial, "a waiter's call gave %s",
                   actor_said(&client->session, client->outcome));
}

void conform_residue(struct trial *trial) {
    struct trial_key plain = trial_key(), contended = trial_key(), given_up = trial_key();
    struct actor *holder = actor_new(trial), *waiters[RESIDUE_WAITERS];
    actors_new(trial, NULL, RESIDUE_WAITERS, waiters);
    MUST_GIVE(holder, actor_acquire(holder, &plain, trial_soon()), LB_OK);
    struct actor *asker = actor_new(trial);
    MUST(trial, residue(asker, &plain) > 0,
         "nothing is found where a lock is held: so nothing would ever be found");
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    clear(trial, holder);

    MUST_GIVE(holder, actor_acquire(holder, &contended, trial_soon()), LB_OK);
    for (int i = 0; i < RESIDUE_WAITERS; i++) {
        actor_use_key(waiters[i], &contended);
        actor_begin(waiters[i], use_once);
    }
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    for (int i = 0; i < RESIDUE_WAITERS; i++) actor_end(waiters[i]);
    clear(trial, holder);

    MUST_GIVE(holder, actor_acquire(holder, &given_up, trial_soon()), LB_OK);
    for (int i = 0; i < RESIDUE_WAITERS; i++)
        actor_begin_acquire(waiters[i], &given_up, i ? lb_now() + i * 40 * LB_MS_NS : TRIAL_TRY);
    for (int i = 0; i < RESIDUE_WAITERS; i++) {
        enum lb_outcome outcome = actor_end(waiters[i]);
        MUST_SAY_NO(trial, outcome, outcome == LB_TIMEOUT || outcome == LB_BUSY,
                    "a waiter that had to give up got %s",
                    actor_said(&waiters[i]->session, outcome));
    }
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    clear(trial, holder);

    /* Sessions may be residue too, so all sessions but the asking one are ended. */
    actor_close(holder);
    for (int i = 0; i < RESIDUE_WAITERS; i++) actor_close(waiters[i]);
    nothing_left(asker, &plain, "plain use");
    nothing_left(asker, &contended, "contention");
    nothing_left(asker, &given_up, "waiters that gave up");
}

/* For locks without holders: what arming created is found, and disarming removes it. */
void conform_armed_residue(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    MUST_USE(client, &key, TRIAL_TRY);
    struct actor *asker = actor_new(trial);
    MUST(trial, residue(asker, &key) > 0, "nothing is found where a key is armed");
    conform_leaves_nothing(trial, client, &key, "use");
}

/* ---- processes of clients that are killed, holding and waiting ---- */

#define SLACK_NS (5 * LB_S_NS) /* added to the lock's own slack, since the machine may be busy */

/* How long after the kill a lock that was held must be free. */
static int64_t theory_ns(const struct lb_lock *lock) {
    return lock->about.crash_slack_ns +
           (lock->about.crash == LB_CRASH_AT_ONCE ? 0 : CHILD_LEASE_NS);
}

void conform_killed_clients(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    const struct trial_key *key = &trial->holder->key;
    trial->session_lease_ns = trial->lease_ns = CHILD_LEASE_NS;
    struct actor *other = actor_new(trial), *next = actor_new(trial);
    actor_use_key(other, key);
    child_begin(trial, trial->holder, CHILD_HOLDS);
    MUST_GIVE(other, actor_acquire(other, key, TRIAL_TRY), LB_BUSY);
    child_begin(trial, trial->waiter, CHILD_ACQUIRES);
    trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    actor_begin_acquire(other, key, lb_now() + 2 * trial_patience_ns);
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    child_kill(trial->waiter);
    child_kill(trial->holder);
    int64_t killed_ns = lb_now();
    MUST_GIVE(other, actor_end(other), LB_OK);
    int64_t took_ns = other->ended_ns - killed_ns, limit_ns = theory_ns(lock) + SLACK_NS;
    MUST(trial, took_ns <= limit_ns,
         "freed %lld ms after its holder was killed: %lld ms at most, it says, and %d ms "
         "for the machine",
         (long long)(took_ns / LB_MS_NS), (long long)(theory_ns(lock) / LB_MS_NS),
         (int)(SLACK_NS / LB_MS_NS));
    MUST_REFUSE(trial, !(lock->caps & LB_CAP_FENCE) || other->grant.token > trial->holder->token,
                "the token after a killed holder's is %llu, the holder's was %llu",
                (unsigned long long)other->grant.token, (unsigned long long)trial->holder->token);
    MUST_GIVE(next, actor_acquire(next, key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(other, actor_release(other), LB_OK);
    MUST_USE(next, key, trial_soon());
    /* The killed clients leave nothing once their sessions are over. */
    conform_leaves_nothing(trial, next, key, "clients that were killed");
}

/* ---- the server, or all of several, is killed while clients hold and wait, and starts again ---- */

#define WAITERS 3

static bool kill_all(struct trial *trial) {
    struct lb_err err = {0};
    for (int i = 0; i < topo_about(trial->place->topo)->nodes; i++) {
        if (topo_kill(trial->place->topo, i, &err) == 0) continue;
        trial_fail(trial, "%s", err.text);
        return false;
    }
    return true;
}

/* Starts the servers again on the same ports, with the files that they left. All must run, since
 * the next check may need the last one. */
static bool restart(struct trial *trial) {
    struct topo *topo = trial->place->topo;
    struct lb_err err = {0};
    int failed = 0;
    for (int i = 0; i < topo_about(topo)->nodes && !failed; i++)
        failed = topo_restart(topo, i, &err);
    const struct topo_wait wait = {.deadline_ns = lb_now() + 2 * trial_patience_ns};
    if (!failed && topo_ready(topo, &wait, &err) == 0) return true;
    trial_fail(trial, "the server does not start again: %s", err.text);
    return false;
}

void conform_killed_server(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = trial->lease_ns = 2 * LB_S_NS;
    struct actor *holder = actor_new(trial), *waiters[WAITERS];
    actors_new(trial, NULL, WAITERS, waiters);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    actor_begin_acquire(waiters[0], &key, LB_NEVER);
    actor_begin_acquire(waiters[1], &key, LB_NEVER);
    actor_begin_acquire(waiters[2], &key, trial_soon());
    trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    if (!kill_all(trial)) return;
    for (int i = 0; i < WAITERS; i++) {
        enum lb_outcome outcome = actor_end(waiters[i]);
        MUST_SAY_NO(trial, outcome, conform_in_doubt(outcome) || outcome == LB_TIMEOUT,
                    "the server died, but a waiter got %s", lb_outcome_name(outcome));
    }
    enum lb_outcome outcome = actor_release(holder);
    MUST_SAY_NO(trial, outcome, conform_in_doubt(outcome),
                "the server died, but the holder's release gave %s", lb_outcome_name(outcome));
    actor_close(holder);
    for (int i = 0; i < WAITERS; i++) actor_close(waiters[i]);
    int64_t usual_ns = trial->connect_ns;
    trial->connect_ns = LB_S_NS; /* some clients try again until the end */
    MUST(trial, !actor_open(holder), "a connection to a dead server");
    trial->connect_ns = usual_ns;
    if (!restart(trial)) return;
    for (int i = 0; i < WAITERS; i++)
        MUST(trial, actor_open_again(waiters[i]), "can't connect again: %s", waiters[i]->err.text);
    /* Nothing else frees what was not released. A lock that settles nothing is armed anew below. */
    const struct lb_lock *lock = trial->lock->lock;
    if (!(lock->claims & LB_CLAIM_CRASH_RELEASE) && lock->algorithm->settle &&
        outcome == LB_UNKNOWN) {
        MUST(trial, actor_open_again(holder), "can't connect again: %s", holder->err.text);
        MUST_GIVE(holder, actor_settle(holder), LB_OK);
    }
    /* A server without a disk has forgotten how the lock was armed. */
    if (lock->algorithm->arm)
        MUST(trial, actor_arm(waiters[0]) == 0, "can't be armed again: %s", waiters[0]->err.text);
    MUST_GIVE(waiters[0], actor_acquire(waiters[0], &key, trial_soon()), LB_OK);
    MUST_GIVE(waiters[1], actor_acquire(waiters[1], &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(waiters[0], actor_release(waiters[0]), LB_OK);
    MUST_USE(waiters[1], &key, trial_soon());
}
