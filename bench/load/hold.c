/* hold: see hold.h. */
#include "bench/load/hold.h"

#include "bench/load/guard.h"
#include "bench/load/session.h"
#include "bench/load/store.h"
#include "bench/load/trace.h"

/* Sleeps, unless told that the grant is lost. */
static void sleep_holding(struct client *client, int64_t end_ns) {
    client->asleep = true;
    while (client->told == LB_OK && lb_now() < end_ns && !lb_stopping()) lb_sleep_until(end_ns);
    client->asleep = false;
}

/* Passes the hold time once. LB_OK, or what was told about the grant. */
static enum lb_outcome pass(struct client *client, int64_t from_ns) {
    const struct shared *shared = client->worker->shared;
    const struct plan *plan = shared->plan;
    if (shared->no_hold) return client->told;
    int64_t hold_ns = plan->hold.mean_ns ? dist_draw(&plan->hold, &client->rng) : 0;
    if (hold_ns > 0) {
        sleep_holding(client, from_ns + hold_ns);
        return client->told;
    }
    /* Where nobody can meet there is no overlap to make room for. */
    bool can_meet = shared->clients > 1 && plan->keys.pick != KEYS_OWN;
    if (plan->gap == GAP_YIELD && can_meet) lb_yield();
    if (plan->gap == GAP_TIME) sleep_holding(client, from_ns + plan->gap_ns);
    return client->told;
}

/* The key again and again, one inside the other. */
static enum lb_outcome take_inner(struct client *client, uint32_t depth) {
    const struct lb_lock *lock = client->session->lb.lock;
    enum lb_outcome outcome = LB_OK;
    while (client->request.held < depth && outcome == LB_OK) {
        client_calls(client);
        if (client->told == LB_OK) {
            int64_t begin_ns = client->recorded ? lb_now() : 0;
            outcome =
                lock->algorithm->acquire(&client->session->lb, &client->request, &client->grant);
            if (client->recorded) trace_inner(client, false, begin_ns, outcome);
        }
        client_called(client);
        if (client->told != LB_OK) return client->told;
        if (outcome == LB_OK) {
            client->request.held++;
            guard_renewed(client);
        }
    }
    return outcome;
}

/* All but the outermost. */
static enum lb_outcome free_inner(struct client *client) {
    const struct lb_lock *lock = client->session->lb.lock;
    enum lb_outcome outcome = LB_OK;
    while (client->request.held > 1 && outcome == LB_OK) {
        client_calls(client);
        if (client->told == LB_OK) {
            int64_t begin_ns = client->recorded ? lb_now() : 0;
            outcome =
                lock->algorithm->release(&client->session->lb, &client->request, &client->grant);
            if (client->recorded) trace_inner(client, true, begin_ns, outcome);
        }
        client_called(client);
        if (client->told != LB_OK) return client->told;
        if (outcome == LB_OK) client->request.held--;
    }
    return outcome;
}

/* The holding itself, between what a guarded store in the backend wants on entry and before
 * leaving. */
static enum lb_outcome pass_all(struct client *client, int64_t acquired_ns,
                                enum lb_outcome *ret_inner) {
    const struct shared *shared = client->worker->shared;
    if (shared->depth <= 1) return pass(client, acquired_ns);
    enum lb_outcome outcome = take_inner(client, shared->depth);
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT || outcome == LB_REFUSED) {
        *ret_inner = outcome; /* what was taken until then is freed in order */
        return free_inner(client);
    }
    if (outcome == LB_OK) outcome = pass(client, acquired_ns);
    if (outcome == LB_OK) outcome = free_inner(client);
    /* The inner ones are freed, the outer one must still hold: a lock whose first unlock frees it
     * shows now. */
    return outcome == LB_OK ? pass(client, lb_now()) : outcome;
}

/* Whether the grant is not over yet as far as its holder can know: by its lease, or what its
 * session was last known to last. It says nothing of what comes between this look and the write. */
static enum lb_outcome look_at_clock(struct client *client) {
    struct lb_session *session = &client->session->lb;
    bool leased = client->grant.lease_end_ns != LB_NEVER;
    int64_t end_ns = leased ? client->grant.lease_end_ns : session->lasts_until_ns;
    if (end_ns == 0 || lb_now() < end_ns) return LB_OK;
    if (!leased) lb_session_lost(session);
    client_tell(client, LB_LOST);
    return client->told;
}

enum lb_outcome hold(struct client *client, int64_t acquired_ns, enum lb_outcome *ret_inner) {
    bool careful = client->worker->shared->plan->careful;
    bool stored =
        client->visits && client->worker->shared->store_backend && !client->request.shared;
    enum lb_outcome outcome = stored ? store_install(client) : LB_OK;
    if (outcome == LB_OK) outcome = pass_all(client, acquired_ns, ret_inner);
    if (outcome == LB_OK && careful) outcome = look_at_clock(client);
    if (outcome == LB_OK && stored) outcome = store_save(client);
    return outcome;
}
