/* hold: see hold.h. */
#include "bench/load/hold.h"

#include "bench/load/entry.h"
#include "bench/load/observe.h"
#include "bench/load/session.h"

#define LOOK_NS (500 * LB_MS_NS) /* rarely, so that ten thousand holders cost little time */

/* Sleeps until end_ns, or until the client is told that its grant is lost. */
static void sleep_holding(struct client *client, int64_t end_ns) {
    client->hold.asleep = true;
    while (client->hold.told == LB_OK && lb_now() < end_ns && !lb_stopping())
        lb_sleep_until(end_ns);
    client->hold.asleep = false;
}

/* Holds until the supervisor says that the window is over. Nobody wakes the holder at that time, so the holder looks
 * now and then. */
static void hold_window(struct client *client) {
    const struct shared *shared = client->worker->shared;
    while (client->hold.told == LB_OK && !lb_stopping() &&
           lb_now() < atomic_load_explicit(&shared->let_go_ns, memory_order_relaxed))
        sleep_holding(client, lb_now() + LOOK_NS);
}

/* Lets the hold time pass once. LB_OK, or what the client was told about its grant. */
static enum lb_outcome pass_time(struct client *client, int64_t from_ns) {
    const struct shared *shared = client->worker->shared;
    const struct plan *plan = shared->plan;
    if (shared->no_hold) return client->hold.told;
    if (plan->hold.kind == DIST_WINDOW) {
        hold_window(client);
        return client->hold.told;
    }
    int64_t hold_ns = plan->hold.mean_ns ? dist_draw(&plan->hold, &client->rng) : 0;
    if (hold_ns < plan->at_least_ns) hold_ns = plan->at_least_ns;
    if (hold_ns > 0) {
        sleep_holding(client, from_ns + hold_ns);
        return client->hold.told;
    }
    /* If no two clients can meet on a key, there is no overlap to make room for. */
    bool can_meet = shared->clients > 1 && plan->keys.pick != KEYS_OWN;
    if (plan->gap == GAP_YIELD && can_meet) lb_yield();
    if (plan->gap == GAP_TIME) sleep_holding(client, from_ns + plan->gap_ns);
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

/* The hold without the observers' calls at its begin and end. */
static enum lb_outcome pass_all(struct client *client, int64_t acquired_ns,
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

/* Calls the observers at an end of the hold, until one of them ends it. */
static enum lb_outcome call_observers(struct client *client, bool begin) {
    const struct shared *shared = client->worker->shared;
    enum lb_outcome outcome = LB_OK;
    for (int i = 0; i < shared->observer_count && outcome == LB_OK; i++) {
        const struct observer *observer = shared->observers[i];
        observer_hold_fn *call = begin ? observer->begin_hold : observer->end_hold;
        if (call) outcome = call(client, client->observing[i]);
    }
    return outcome;
}

enum lb_outcome hold(struct client *client, int64_t acquired_ns, enum lb_outcome *ret_inner) {
    enum lb_outcome outcome = call_observers(client, true);
    if (outcome == LB_OK) outcome = pass_all(client, acquired_ns, ret_inner);
    if (outcome == LB_OK) outcome = call_observers(client, false);
    return outcome;
}
