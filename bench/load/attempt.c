/* attempt: see attempt.h. This is the hot path: from the due time to the released time it allocates nothing, takes
 * no lock, prints nothing, and makes no system call except those of the measured lock. */
#include "bench/load/attempt.h"

#include "bench/load/account.h"
#include "bench/load/choose.h"
#include "bench/load/entry.h"
#include "bench/load/hold.h"
#include "bench/load/observe.h"
#include "bench/load/session.h"

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

static void end_waiting(struct client *client) {
    atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
}

/* Notes a failed try. Until the next try the client rests; it is not known whether it could get the key meanwhile. */
static void rest_waiting(struct client *client, int64_t now_ns) {
    atomic_store_explicit(&client->stats->refused_ns, now_ns, memory_order_relaxed);
}

/* Lets a client that was told that it lost its grant leave without writing. */
static void leave_lost(struct client *client) {
    bool leased = client->grant.lease_end_ns != LB_NEVER;
    int64_t end_ns = leased ? client->grant.lease_end_ns : client->session->lb.lasts_until_ns;
    int64_t late_ns = client->hold.told_ns - end_ns;
    if (end_ns != 0 && late_ns > client->stats->detect_max_ns)
        client->stats->detect_max_ns = late_ns;
    entry_abandon(client);
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

/* Notes the number of the grant among the key's grants. Grants count by the time at which they began,
 * so that the numbers have no gaps. */
static void note_reacquired(struct client *client, int64_t acquired_ns) {
    const struct shared *shared = client->worker->shared;
    if (client->key_index >= shared->reacquire_keys || client->request.shared) return;
    if (acquired_ns < stage_begin_ns(shared)) return;
    reacquire_note(client->reacquire, client->worker->stats->between, client->key_index,
                   client->at.entry.turn);
}

/* Records a grant in the window, without its release. */
static void record_grant(struct client *client, int64_t due_ns, int64_t started_ns,
                         int64_t acquired_ns, int64_t releasing_ns) {
    struct recorder *recorder = &client->worker->stats->recorder;
    const struct entry *entry = &client->at.entry;
    client_granted(client, acquired_ns - started_ns);
    recorder_add(recorder, METRIC_ACQUIRE_DUE, acquired_ns - due_ns);
    if (__builtin_expect(client->worker->shared->readers > 0 && client->worker->schedule, 0)) {
        recorder_add(recorder,
                     client->request.shared ? METRIC_ACQUIRE_DUE_SHARED
                                            : METRIC_ACQUIRE_DUE_EXCLUSIVE,
                     acquired_ns - due_ns);
    }
    client_lagged(client, due_ns);
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
        leave_lost(client);
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
    struct holding me = {client->index, acquired_ns, client->grant.lease_end_ns,
                         client->grant.token};
    const bool observed = is_observed(client);
    client->hold.told = LB_OK;
    struct findings *findings = &client->worker->shared->findings;
    if (findings->by_session)
        atomic_store_explicit(&findings->holders[client->index].asked_ns, started_ns,
                              memory_order_relaxed);
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
    if (__builtin_expect(client->at.was_found, 0)) entry_was_found(client, outcome);
    if (observed) {
        struct parting parting = {releasing_ns, released_ns, outcome, called, learned};
        OBSERVERS_CALL(client, released, &parting);
    }
    if (client->reacquire) note_reacquired(client, acquired_ns);
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
        end_waiting(client);
    } else {
        rest_waiting(client, acquired_ns);
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
    client_pause(outcome);
}
