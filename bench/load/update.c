/* update: one guarded update with an optimistic lock, which holds nothing. The client reads a
 * version, works, and writes on the condition that the version is still the same. If another client
 * was faster, it starts again from the read. A lock of one statement (LB_CAP_ATOMIC) has written at
 * the read, and never starts again.
 *
 * The time until the read that the successful write was based on counts as `acquire`, like the
 * waiting of other locks. So the failed tries are part of `acquire`. */
#include "bench/load/account.h"
#include "bench/load/attempt.h"
#include "bench/load/choose.h"
#include "bench/load/hold.h"
#include "bench/load/session.h"

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
    client_pause(outcome);
}
