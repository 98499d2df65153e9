/* conform_lost: answers, requests and connections that the wire loses. The client can't know
 * whether its operation was done: the outcome must say so, and whatever the operation may have left
 * must be cleaned up. */
#include "bench/conform/conform.h"
#include "bench/servers/wire.h"

#define LEASE_NS (3 * LB_S_NS)
/* A lock with such a lease is free in time only if settling frees it. Where settling can do no more than wait for the
 * end of the lease, each check takes so long. */
#define LONG_LEASE_NS (4 * LB_S_NS)

/* The time by which a lock must be free whose holder has vanished just now: the lease of its grant or
 * session ends first, however little the patience. */
static int64_t freed_by(const struct trial *trial) {
    return lb_now() + LEASE_NS + trial->lock->lock->about.crash_slack_ns + trial_patience_ns;
}

void conform_heal(struct trial *trial) {
    struct lb_err err = {0};
    if (wire_heal(trial->far->wiring->wire, &err) != 0) trial_fail(trial, "%s", err.text);
    trial->wire_fault = -1;
}

void conform_strike(struct trial *trial, struct wire_fault fault) {
    struct lb_err err = {0};
    conform_heal(trial);
    fault.ends = WIRE_ALL_ENDS;
    trial->wire_fault = wire_set(trial->far->wiring->wire, &fault, &err);
    if (trial->wire_fault < 0) trial_fail(trial, "%s", err.text);
}

/* All connections end, and new ones are refused. */
static void cut_off(struct trial *trial) {
    const struct wire_fault cut = {.kind = WIRE_CUT, .ends = WIRE_ALL_ENDS};
    struct lb_err err = {0};
    conform_strike(trial, (struct wire_fault){.kind = WIRE_REFUSE});
    if (wire_set(trial->far->wiring->wire, &cut, &err) < 0) trial_fail(trial, "%s", err.text);
}

bool conform_struck(const struct trial *trial) {
    struct wire_sign sign;
    wire_sign(trial->far->wiring->wire, trial->wire_fault, &sign);
    return sign.struck > 0;
}

/* Does what a run does after an attempt with this outcome: a new session, then settle if it was in doubt. */
static bool recover(struct actor *client, enum lb_outcome outcome) {
    actor_close(client);
    conform_heal(client->trial);
    if (outcome == LB_UNKNOWN)
        actor_do(client, actor_job_mend);
    else if (!actor_open_again(client))
        trial_fail(client->trial, "can't connect again: %s", client->err.text);
    return !trial_failed(client->trial);
}

/* After an operation with an outcome in doubt: the client gives up its connection and opens
 * another, and the lock must then be free for others. */
static void clear_up(struct trial *trial, struct actor *victim, struct actor *other,
                     const struct trial_key *key, enum lb_outcome outcome) {
    const struct lb_lock *lock = trial->lock->lock;
    bool settle = outcome == LB_UNKNOWN && lock->algorithm->settle;
    if (!recover(victim, outcome)) return;
    /* The lock is free at once after settling. After BROKEN, which says that nothing was left, it is
     * free at once if it has a lease, since then the end of a session cleans nothing up. */
    bool at_once = settle || (lock->caps & LB_CAP_LEASE);
    int64_t deadline_ns = at_once ? TRIAL_TRY : freed_by(trial);
    MUST_GIVE(other, actor_acquire(other, key, deadline_ns), LB_OK,
              "after another's attempt in doubt was over");
    MUST_GIVE(victim, actor_acquire(victim, key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(other, actor_release(other), LB_OK);
    MUST_USE(victim, key, trial_soon());
}

/* How the answer to a request is lost. */
static const struct {
    const char *how;
    struct wire_fault fault;
} losses[] = {
    {"the answer was cut off", {.kind = WIRE_MIDWAY, .then = WIRE_THEN_CUT}},
    {"the answer was cut in the middle", {.kind = WIRE_MIDWAY, .then = WIRE_THEN_CUT, .bytes = 1}},
    {"the connection was reset", {.kind = WIRE_MIDWAY, .then = WIRE_THEN_RESET}},
    {"the answer never came", {.kind = WIRE_MIDWAY, .then = WIRE_THEN_SWALLOW}},
    {"the request never arrived", {.kind = WIRE_SWALLOW, .way = WIRE_REQUESTS}},
    /* of renewals: an acquire that takes so long is one of the messages that may be late; a client program may be patient
     * for 10 s */
    {"the answer came too late", {.kind = WIRE_DELAY, .way = WIRE_ANSWERS, .by_ns = 60 * LB_S_NS}},
};
#define LOSSES (sizeof losses / sizeof *losses)

static void lose_acquire(struct trial *trial, struct wire_fault fault, const char *how) {
    struct trial_key key = trial_key(), warm = trial_key();
    trial->session_lease_ns = LEASE_NS;
    trial->lease_ns = LONG_LEASE_NS;
    struct actor *other = actor_new(trial), *victim = actor_far(trial);
    /* Things that are created only once (scripts, parent nodes) are created before. */
    MUST_USE(victim, &warm, trial_soon());
    MUST_USE(other, &key, trial_soon());
    enum lb_outcome outcome;
    for (int tries = 0;; tries++) {
        conform_strike(trial, fault);
        outcome = actor_acquire(victim, &key, lb_now() + 300 * LB_MS_NS);
        if (conform_struck(trial) || tries == 3 || outcome == LB_OK) break;
        /* The machine was so busy that the driver's patience ended before there was an answer to
         * lose. */
        if (!recover(victim, outcome)) return;
    }
    MUST(trial, conform_struck(trial), "nothing was lost: no answer came");
    MUST_SAY_NO(trial, outcome, outcome == LB_UNKNOWN || outcome == LB_BROKEN,
                "%s, but acquire gave %s", how, lb_outcome_name(outcome));
    MUST(trial, victim->session.err.code != 0,
         "%s: the outcome is in doubt, but the driver gave no reason", how);
    clear_up(trial, victim, other, &key, outcome);
}

#define DELAY_NS (150 * LB_MS_NS) /* the delay of each answer; the driver waits for 500 ms */
#define COUNTED_NS (5 * LB_S_NS)  /* a lease that no server rounds */
#define COUNT_TRIES 5

/* The last answer came DELAY_NS after the server sent it, so the request was sent earlier than that, and
 * a lease that counts from before the request ends as much earlier. A busy machine only adds to it. */
static bool counts_from_request(struct actor *client, const char *what) {
    int64_t late_ns = client->grant.lease_end_ns - (client->ended_ns - DELAY_NS + COUNTED_NS);
    if (late_ns <= 0) return true;
    trial_fail_as(client->trial, TRIAL_GRANTED,
                  "%s: the lease ends %lld ms later than one that counts from before the request",
                  what, (long long)(late_ns / LB_MS_NS));
    return false;
}

/* A grant and, where there is one, its renewal, while each answer is late. Returns the outcome of the call that was
 * the last. */
static enum lb_outcome take_late(struct actor *client, const struct trial_key *key) {
    conform_strike(client->trial,
                   (struct wire_fault){.kind = WIRE_DELAY, .way = WIRE_ANSWERS, .by_ns = DELAY_NS});
    enum lb_outcome outcome = actor_acquire(client, key, trial_soon());
    bool goes_on = outcome == LB_OK && counts_from_request(client, "acquire");
    if (!goes_on || !client->session.lock->algorithm->renew) return outcome;
    outcome = actor_renew(client, COUNTED_NS);
    if (outcome == LB_OK) counts_from_request(client, "renewal");
    return outcome;
}

void conform_lease_counts(struct trial *trial) {
    struct trial_key key = trial_key();
    enum lb_outcome outcome = LB_BROKEN;
    trial->session_lease_ns = trial->lease_ns = COUNTED_NS;
    struct actor *client = actor_far(trial);
    MUST_USE(client, &key, trial_soon());
    for (int tries = 0; tries < COUNT_TRIES; tries++) {
        outcome = take_late(client, &key);
        if (trial_failed(trial)) return;
        if (outcome == LB_OK || outcome == LB_REFUSED) break;
        /* The machine was so busy that the driver's patience ended before the answer came. */
        if (!recover(client, outcome)) return;
    }
    MUST_GIVE(client, outcome, LB_OK);
    MUST(trial, conform_struck(trial), "no answer was delayed");
    conform_heal(trial);
}

void conform_lost_acquire(struct trial *trial) {
    for (size_t i = 0; i < LOSSES - 1 && !trial_failed(trial); i++)
        lose_acquire(trial, losses[i].fault, losses[i].how);
}

void conform_cut_release(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = LEASE_NS;
    trial->lease_ns = LONG_LEASE_NS;
    struct actor *other = actor_new(trial), *victim = actor_far(trial);
    MUST_GIVE(victim, actor_acquire(victim, &key, trial_soon()), LB_OK);
    conform_strike(trial, losses[0].fault);
    enum lb_outcome outcome = actor_release(victim);
    MUST_SAY_NO(trial, outcome, outcome != LB_OK && outcome != LB_BUSY && outcome != LB_TIMEOUT,
                "the answer was lost, but release gave %s", lb_outcome_name(outcome));
    clear_up(trial, victim, other, &key, outcome);
}

/* A renewal whose answer is lost may have been done or not: the holder keeps the end that it knows. */
static void lose_renewal(struct actor *victim, struct actor *other, struct wire_fault fault,
                         const char *how) {
    struct trial *trial = victim->trial;
    struct trial_key key = trial_key();
    victim->request.lease_ns = LEASE_NS;
    MUST_GIVE(victim, actor_acquire(victim, &key, trial_soon()), LB_OK);
    int64_t end_ns = victim->grant.lease_end_ns;
    conform_strike(trial, fault);
    enum lb_outcome outcome = actor_renew(victim, LONG_LEASE_NS);
    MUST_SAY_NO(trial, outcome, outcome == LB_UNKNOWN || outcome == LB_BROKEN,
                "%s, but a renewal gave %s", how, actor_said(&victim->session, outcome));
    MUST_REFUSE(trial, victim->grant.lease_end_ns == end_ns,
                "%s, but a renewal has changed the end of the lease", how);
    MUST(trial, conform_struck(trial), "nothing was lost: no answer came");
    clear_up(trial, victim, other, &key, LB_UNKNOWN);
}

void conform_lost_renewal(struct trial *trial) {
    trial->session_lease_ns = LEASE_NS;
    struct actor *other = actor_new(trial), *victim = actor_far(trial);
    other->request.lease_ns = LONG_LEASE_NS;
    for (size_t i = 0; i < LOSSES && !trial_failed(trial); i++)
        lose_renewal(victim, other, losses[i].fault, losses[i].how);
}

/* The holder's machine is gone: nothing from it ever arrives again. */
void conform_crash(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = LEASE_NS;
    trial->lease_ns = LEASE_NS / 2;
    struct actor *other = actor_new(trial), *holder = actor_far(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    cut_off(trial);
    MUST_GIVE(other, actor_acquire(other, &key, freed_by(trial)), LB_OK,
              "after the holder's machine was gone and its lease over");
    /* The holder learns that it has lost the lock, or that it can't know; its release must not
     * succeed. */
    enum lb_outcome outcome = actor_release(holder);
    MUST_SAY_NO(trial, outcome, conform_in_doubt(outcome), "the release of a lost lock gave %s",
                lb_outcome_name(outcome));
    MUST_GIVE(other, actor_release(other), LB_OK);
}

/* A lock whose session has a lease renews it itself, so its driver is the first to know when that
 * fails. It must report that while the holder works, not only at the release. */
void conform_told(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = trial->lease_ns = LEASE_NS;
    struct actor *holder = actor_far(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    trial_sleep_until(lb_now() + LEASE_NS / 2);
    MUST(trial, atomic_load(&holder->losses) == 0, "a session that lives was called over");
    cut_off(trial);
    int64_t deadline_ns = lb_now() + LEASE_NS + trial_patience_ns / 2;
    while (atomic_load(&holder->losses) == 0) {
        MUST(trial, lb_now() < deadline_ns,
             "the session is long over, and the holder was not told");
        trial_sleep_until(lb_now() + 20 * LB_MS_NS);
    }
    MUST_GIVE(holder, actor_release(holder), NOT_OK, "after the session's end");
}

/* A lock without holders: the write whose answer is lost may have been done or not. */
void conform_cut_write(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = LEASE_NS;
    struct actor *other = actor_new(trial), *victim = actor_far(trial);
    /* One statement is all in acquire. */
    int first = (trial->lock->lock->caps & LB_CAP_ATOMIC) ? 1 : 0;
    for (int reads = first; reads < 2; reads++) {
        MUST_USE(victim, &key, trial_soon());
        if (!reads) MUST_GIVE(victim, actor_acquire(victim, &key, trial_soon()), LB_OK);
        conform_strike(trial, losses[0].fault);
        enum lb_outcome outcome =
            reads ? actor_acquire(victim, &key, trial_soon()) : actor_release(victim);
        MUST_SAY_NO(trial, outcome, conform_in_doubt(outcome),
                    "the answer was lost, but a %s gave %s", reads ? "read" : "write",
                    lb_outcome_name(outcome));
        if (!recover(victim, outcome)) return;
        MUST_USE(other, &key, trial_soon());
    }
    MUST_USE(victim, &key, trial_soon());
}
