/* attempt: see client.h. This is the hot path: from the due time to the released time it allocates nothing, takes
 * no lock, prints nothing, and makes no system call except those of the measured lock. */
#include "bench/load/account.h"
#include "bench/load/entry.h"
#include "bench/load/observe.h"
#include "bench/load/session.h"

static void use_key(struct client *client, uint32_t index) {
    const struct shared *shared = client->worker->shared;
    client->key_index = index;
    client->request.key_len = shared_key_name(shared, index, client->key);
    client->request.key_index = index;
    client->request.key_number = shared_key_number(shared, index);
    /* The wait for another key is a new wait. */
    atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&client->stats->waiting_key, index, memory_order_relaxed);
}

/* Draws the key of an attempt into its request, and whether it is a reader. */
static void client_choose(struct client *client) {
    const struct shared *shared = client->worker->shared;
    if (shared->readers > 0) {
        client->request.shared = (int)rng_below(&client->rng, 100) < shared->readers;
    }
    uint32_t index = keys_pick(&shared->keys, client->index, &client->rng);
    if (index != client->key_index) use_key(client, index);
}

/* Sleeps until end_ns, or until the client is told that its grant is lost. */
static void sleep_holding(struct client *client, int64_t end_ns) {
    client->hold.asleep = true;
    while (client->hold.told == LB_OK && lb_now() < end_ns && !lb_stopping())
        lb_sleep_until(end_ns);
    client->hold.asleep = false;
}

/* Lets the hold time pass once. LB_OK, or what the client was told about its grant. */
static enum lb_outcome pass_time(struct client *client, int64_t from_ns) {
    const struct shared *shared = client->worker->shared;
    const struct plan *plan = shared->plan;
    if (shared->no_hold) return client->hold.told;
    int64_t hold_ns = plan->hold.mean_ns ? dist_draw(&plan->hold, &client->rng) : 0;
    if (hold_ns < plan->at_least_ns) hold_ns = plan->at_least_ns;
    if (hold_ns > 0) {
        sleep_holding(client, from_ns + hold_ns);
        return client->hold.told;
    }
    /* If no two clients can meet on a key, there is no overlap to make room for. */
    bool can_meet = shared->clients > 1 && plan->keys.pick != KEYS_OWN;
    if (plan->gap_yields && can_meet) lb_yield();
    return client->hold.told;
}

/* Acquires the key again, or releases inner grants, until the client holds the key `depth` times. */
static enum lb_outcome reenter_to(struct client *client, uint32_t depth) {
    struct lb_session *session = &client->session->lb;
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    enum lb_outcome outcome = LB_OK;
    while (client->request.held != depth && outcome == LB_OK) {
        bool release = client->request.held > depth;
        client_calls(client);
        if (client->hold.told == LB_OK) {
            int64_t begin_ns = is_observed(client) ? lb_now() : 0;
            outcome = (release ? algorithm->release : algorithm->acquire)(session, &client->request,
                                                                          &client->grant);
            if (is_observed(client)) OBSERVERS_CALL(client, reentered, release, begin_ns, outcome);
        }
        client_called(client);
        if (client->hold.told != LB_OK) return client->hold.told;
        if (outcome != LB_OK) break;
        if (release) {
            client->request.held--;
        } else {
            client->request.held++;
            entry_renewed(client);
        }
    }
    return outcome;
}

/* What a client does with a grant: it passes the hold time, and takes the key again inside it where the plan asks for
 * re-entry. Lasts until the last release is due; request.held is 1 before and after. Returns LB_OK, or the outcome that
 * ended the hold early; then the caller must not release. *ret_inner: the outcome of an inner acquire that was not
 * granted; untouched if there is none. */
static enum lb_outcome hold(struct client *client, int64_t acquired_ns,
                            enum lb_outcome *ret_inner) {
    const struct shared *shared = client->worker->shared;
    if (shared->depth <= 1) return pass_time(client, acquired_ns);
    enum lb_outcome outcome = reenter_to(client, shared->depth);
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT || outcome == LB_REFUSED) {
        *ret_inner = outcome; /* the inner grants until then are released in order */
        return reenter_to(client, 1);
    }
    if (outcome == LB_OK) outcome = pass_time(client, acquired_ns);
    if (outcome == LB_OK) outcome = reenter_to(client, 1);
    /* The inner grants are released, and the outer one must still hold: this exposes a lock whose
     * first unlock frees the key. */
    return outcome == LB_OK ? pass_time(client, lb_now()) : outcome;
}

/* update: one guarded update with an optimistic lock, which holds nothing. The client reads a
 * version, works, and writes on the condition that the version is still the same. If another client
 * was faster, it starts again from the read. A lock of one statement (LB_CAP_ATOMIC) has written at
 * the read, and never starts again.
 *
 * The time until the read that the successful write was based on counts as `acquire`, like the
 * waiting of other locks. So the failed tries are part of `acquire`. */

struct tries {
    bool measured;
    int64_t read_ns, writing_ns, written_ns; /* of the last try */
    uint64_t retries;
};

static enum lb_outcome try_until_written(struct client *client, struct tries *tries) {
    struct lb_session *session = &client->session->lb;
    const struct lb_lock *lock = session->lock;
    bool once = client->worker->shared->plan->mode == MODE_TRY;
    for (;;) {
        client->request.held = 0;
        enum lb_outcome outcome =
            lock->algorithm->acquire(session, &client->request, &client->grant);
        tries->read_ns = tries->writing_ns = tries->written_ns = lb_now();
        if (outcome != LB_OK) return outcome;
        /* Taken back if the write fails: until then nobody can tell. */
        if (tries->measured) client_count_grant(client, 1);
        enum lb_outcome inner = LB_OK;
        client->hold.told = LB_OK;
        client->request.held = 1;
        hold(client, tries->read_ns, &inner);
        tries->writing_ns = lb_now();
        outcome = lock->algorithm->release(session, &client->request, &client->grant);
        tries->written_ns = lb_now();
        if (outcome == LB_OK) {
            versions_add(&client->worker->shared->versions[client->key_index], client->grant.token);
        } else if (tries->measured) {
            client_count_grant(client, -1);
        }
        if (outcome != LB_BUSY) return outcome;
        tries->retries++;
        if (once) return LB_BUSY;
        if (tries->written_ns >= client->request.deadline_ns || lb_stopping()) return LB_TIMEOUT;
    }
}

static void record_update(struct client *client, enum lb_outcome outcome, const struct tries *tries,
                          int64_t due_ns, int64_t started_ns) {
    struct recorder *recorder = &client->worker->stats->recorder;
    client_count(client, outcome);
    client->stats->retries += tries->retries;
    client_lagged(client, due_ns);
    if (outcome != LB_OK) {
        client_failed(client, client->ended_ns - started_ns);
        return;
    }
    client_granted(client, tries->read_ns - started_ns);
    recorder_add(recorder, METRIC_ACQUIRE_DUE, tries->read_ns - due_ns);
    recorder_add(recorder, METRIC_HOLD, tries->writing_ns - tries->read_ns);
    recorder_add(recorder, METRIC_RELEASE, tries->written_ns - tries->writing_ns);
}

/* The tries that failed are part of the waiting. */
static void note_states(struct client *client, const struct tries *tries) {
    struct client_stats *stats = client->stats;
    client_spent(client, &stats->state_waiting_ns,
                 tries->read_ns ? tries->read_ns : client->ended_ns);
    client_spent(client, &stats->state_holding_ns,
                 tries->writing_ns ? tries->writing_ns : client->ended_ns);
    client_spent(client, &stats->state_releasing_ns, client->ended_ns);
}

void update_attempt(struct client *client, int64_t due_ns, int64_t started_ns, bool measured) {
    enum lb_outcome outcome = LB_BROKEN;
    struct tries tries = {.measured = measured};
    bool joined = session_join(client);
    if (joined) {
        client_choose(client);
        client->request.deadline_ns = client_deadline_ns(client, started_ns);
        outcome = try_until_written(client, &tries);
    }
    client->ended_ns = lb_now();
    note_states(client, &tries);
    if (outcome == LB_OK) client_count_by_time(client, tries.written_ns, measured);
    client_waited(client, started_ns, outcome == LB_OK ? tries.read_ns : client->ended_ns);
    client_note_cut_off(client, outcome, client->ended_ns - started_ns);
    if (measured) record_update(client, outcome, &tries, due_ns, started_ns);
    if (outcome > LB_TIMEOUT) client_mend(client, outcome);
    if (joined) session_part(client);
    client_pause(outcome, joined ? 0 : client->ended_ns - started_ns);
}

/* Notes that the client now waits for its key, unless it already waits: several tries of one key in a row are one
 * wait. */
static void begin_waiting(struct client *client, int64_t started_ns) {
    _Atomic int64_t *waiting_ns = &client->stats->waiting_ns;
    int64_t since_ns = atomic_load_explicit(waiting_ns, memory_order_relaxed);
    if (since_ns == 0) atomic_store_explicit(waiting_ns, started_ns, memory_order_relaxed);
    /* The earlier tries may have been for another key. */
    bool same_key = since_ns != 0 && client->worker->shared->one_key;
    if (same_key) return;
    entry_ask(client, started_ns);
}

/* Whether the holder knows that it lost the grant; then it does not write. A holder that was not told so, and whose
 * lease still lasts, writes even after a failed call, so that the checks see the damage if the lock has lost the
 * grant. */
static bool knows_loss(struct client *client, enum lb_outcome outcome, int64_t now_ns) {
    if (client->hold.told == LB_LOST) return true;
    if (outcome == LB_OK || now_ns < client->grant.lease_end_ns) return false;
    client->hold.told_ns = now_ns;
    return true;
}

/* Records a grant in the window, without its release. */
static void record_grant(struct client *client, int64_t due_ns, int64_t started_ns,
                         int64_t acquired_ns, int64_t releasing_ns) {
    struct recorder *recorder = &client->worker->stats->recorder;
    const struct entry *entry = &client->at.entry;
    client_granted(client, acquired_ns - started_ns);
    if (client->worker->shared->due_apart) {
        recorder_add(recorder, METRIC_ACQUIRE_DUE, acquired_ns - due_ns);
        client_lagged(client, due_ns);
    }
    recorder_add(recorder, METRIC_HOLD, releasing_ns - acquired_ns);
    /* Records a handoff: there is one only if the client was already waiting when the previous holder called
     * release. */
    if (entry->releasing_ns > started_ns && !client->worker->shared->split)
        recorder_add(recorder, METRIC_HANDOFF, acquired_ns - entry->releasing_ns);
    if (entry->run > client->stats->longest_run) client->stats->longest_run = entry->run;
}

/* Leaves after a hold that ended early; the grant must not be released. Returns whether the client knew that it lost
 * the grant, and left without writing. */
static __attribute__((noinline)) bool leave_unreleased(struct client *client,
                                                       enum lb_outcome outcome, int64_t now_ns) {
    if (knows_loss(client, outcome, now_ns)) {
        entry_abandon(client);
        return true;
    }
    if (is_observed(client)) OBSERVERS_CALL(client, leaving);
    entry_leave(client, now_ns);
    return false;
}

/* After a grant: enters, holds, leaves, releases, records. Returns the outcome of the attempt. */
static enum lb_outcome use_grant(struct client *client, int64_t due_ns, int64_t started_ns,
                                 int64_t acquired_ns, bool measured) {
    struct session *session = client->session;
    const struct holding me = {client->index, acquired_ns, client->grant.lease_end_ns,
                               client->grant.token};
    const bool observed = is_observed(client);
    client->hold.told = LB_OK;
    entry_enter(client, &me);
    client->stats->tested_grants += entry_trials(client);
    client->hold.on = true;
    client->request.held = 1;
    if (observed) OBSERVERS_CALL(client, entered, started_ns, acquired_ns);

    enum lb_outcome inner = LB_OK, outcome = LB_OK;
    if (!client->worker->shared->no_hold) outcome = hold(client, acquired_ns, &inner);

    client_calls(client);
    client->hold.on = false;
    if (outcome == LB_OK) outcome = client->hold.told;
    const bool called = outcome == LB_OK;
    bool learned = false;
    int64_t releasing_ns = lb_now();
    client_spent(client, &client->stats->state_holding_ns, releasing_ns);
    if (__builtin_expect(called, 1)) {
        if (observed) OBSERVERS_CALL(client, leaving);
        atomic_store_explicit(&client->stats->releasing, true, memory_order_relaxed);
        entry_leave(client, releasing_ns);
        outcome = session->algorithm->release(&session->lb, &client->request, &client->grant);
        atomic_store_explicit(&client->stats->releasing, false, memory_order_relaxed);
    } else {
        learned = leave_unreleased(client, outcome, releasing_ns);
    }
    client_called(client);
    int64_t released_ns = client->ended_ns = lb_now();
    client_spent(client, &client->stats->state_releasing_ns, released_ns);
    const bool evidence = client->at.marks != 0 || outcome == LB_LOST;
    if (__builtin_expect(observed || evidence, 0)) {
        struct parting parting = {.releasing_ns = releasing_ns,
                                  .released_ns = released_ns,
                                  .outcome = outcome,
                                  .learned = learned};
        int64_t when_ns = learned ? client->hold.told_ns : released_ns;
        parting.over = outcome != LB_OK && session_is_over(client, when_ns);
        if (evidence) trace_marked(client, started_ns, acquired_ns, &parting);
        if (observed) OBSERVERS_CALL(client, released, &parting);
    }
    if (measured) {
        record_grant(client, due_ns, started_ns, acquired_ns, releasing_ns);
        if (called && (outcome == LB_OK || outcome == LB_LOST))
            recorder_add(&client->worker->stats->recorder, METRIC_RELEASE,
                         released_ns - releasing_ns);
    }
    return outcome == LB_OK ? inner : outcome;
}

void attempt(struct client *client, int64_t due_ns, int64_t started_ns, bool measured) {
    struct session *session = client->session;
    const struct shared *shared = client->worker->shared;
    enum lb_outcome outcome = LB_BROKEN;
    bool joined = session_join(client);
    if (joined) {
        if (!shared->one_key || client->key_index == UINT32_MAX) client_choose(client);
        begin_waiting(client, started_ns);
        client->request.held = 0;
        client->request.deadline_ns = client_deadline_ns(client, started_ns);
        outcome = session->algorithm->acquire(&session->lb, &client->request, &client->grant);
    }
    int64_t acquired_ns = lb_now();
    client->ended_ns = acquired_ns;
    client_spent(client, &client->stats->state_waiting_ns, acquired_ns);
    client_waited(client, started_ns, acquired_ns);
    if (outcome != LB_BUSY && outcome != LB_TIMEOUT) {
        atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
    } else {
        /* until the next try it rests: it is not known whether it could get the key meanwhile */
        atomic_store_explicit(&client->stats->refused_ns, acquired_ns, memory_order_relaxed);
    }
    if (outcome == LB_OK) {
        client_count_by_time(client, acquired_ns, measured);
        if (measured) client_count_grant(client, 1);
        outcome = use_grant(client, due_ns, started_ns, acquired_ns, measured);
    } else {
        if (joined && is_observed(client))
            OBSERVERS_CALL(client, refused, started_ns, acquired_ns, outcome);
        client_note_cut_off(client, outcome, acquired_ns - started_ns);
        if (measured) {
            client_failed(client, acquired_ns - started_ns);
            client_lagged(client, due_ns);
        }
    }
    if (measured) client_count(client, outcome);
    if (outcome > LB_TIMEOUT) client_mend(client, outcome);
    if (joined) session_part(client);
    client_pause(outcome, joined ? 0 : client->ended_ns - started_ns);
}
