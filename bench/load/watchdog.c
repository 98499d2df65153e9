/* watchdog: renews the grants that a session's clients hold, as Redisson's watchdog and etcd's
 * keepalive do. Each session has one fiber that renews all grants every third of the lease, counted
 * from the end of the last pass. If a renewal fails, the holder is told at once.
 *
 * The holder itself only reads a flag. The watchdog sees a new grant at its next pass, which begins at the latest
 * after a third of the lease. */
#include "bench/engine/loop.h"
#include "bench/load/account.h"
#include "bench/load/entry.h"
#include "bench/load/observe.h"
#include "bench/load/session.h"

void client_tell(struct client *client, enum lb_outcome outcome) {
    if (!client->hold.on || client->hold.told != LB_OK) return;
    client->hold.told = outcome;
    client->hold.told_ns = lb_now();
    if (outcome == LB_LOST) entry_told(client, client->hold.told_ns);
    if (is_observed(client)) OBSERVERS_CALL(client, told);
    if (client->hold.asleep) lb_wake(client->fiber);
}

void watchdog_keep_off(struct client *client) {
    /* A renewal ends by itself, at the latest when the run is cut off. */
    loop_shield(true);
    gate_enter(&client->hold.gate, LB_NEVER);
    loop_shield(false);
}

static void renew_grant(struct client *client) {
    struct session *session = client->session;
    struct client_stats *stats = client->stats;
    if (__builtin_expect(atomic_load_explicit(&stats->injected.starved, memory_order_relaxed), 0)) {
        client_count_one(&stats->injected.held_back);
        return;
    }
    if (!gate_enter(&client->hold.gate, LB_NEVER)) return;
    if (client->hold.on && client->hold.told == LB_OK) {
        enum lb_outcome outcome =
            session->lb.lock->algorithm->renew(&session->lb, &client->request, &client->grant);
        if (outcome == LB_OK) {
            client_count_one(&stats->renewals);
            entry_renewed(client);
            if (is_observed(client)) OBSERVERS_CALL(client, renewed);
        } else {
            client_tell(client, outcome);
        }
    }
    gate_leave(&client->hold.gate);
}

static void run_watchdog(void *arg) {
    struct session *session = arg;
    int64_t every_ns = session->lb.lease_ns / 3;
    while (!session->watchdog_ends && !lb_stopping()) {
        session->watchdog_sleeps = true;
        bool slept = lb_sleep_until(lb_now() + every_ns);
        session->watchdog_sleeps = false;
        for (uint32_t i = 0; slept && i < session->client_count && !session->watchdog_ends; i++) {
            if (session->clients[i].hold.on) renew_grant(&session->clients[i]);
        }
    }
}

void watchdog_start(struct session *session) {
    const struct lb_lock *lock = session->lb.lock;
    if (!session->worker->shared->plan->renew || !lock->algorithm->renew) return;
    session->watchdog_ends = false;
    /* If there is no memory for the fiber, nothing is renewed, and the leases end. */
    session->watchdog = lb_start_fiber("watchdog", run_watchdog, session);
}

void watchdog_stop(struct session *session) {
    if (!session->watchdog) return;
    session->watchdog_ends = true;
    if (session->watchdog_sleeps) lb_wake(session->watchdog);
    lb_join(session->watchdog);
    session->watchdog = NULL;
}
