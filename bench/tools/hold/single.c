/* single: see single.h. */
#define _GNU_SOURCE
#include "bench/tools/hold/single.h"

#include "bench/engine/loop.h"
#include "bench/load/layout.h"
#include "bench/load/worker.h"

#define SETTLE_NS (10 * LB_S_NS)        /* time limit of settling a request without an answer */
#define AGAIN_NS (200 * LB_MS_NS)       /* pause between two tries to renew without a connection */
#define SETTLE_PAUSE_NS (50 * LB_MS_NS) /* pause between two tries to settle */

int single_init(struct single *single, const struct plan *plan, struct lb_server *server,
                struct lb_err *err) {
    *single = (struct single){.shared = shared_new(plan, &plan->locks[0], server, 1, NULL, err)};
    struct shared *shared = single->shared;
    if (!shared) return -1;
    shared->seed = (uint64_t)lb_wall_now() ^ (uint64_t)lb_now(); /* tokens must differ each time */
    single->worker = (struct worker){.shared = shared, .stats = &shared->worker[0]};
    if (session_init(&single->session, &single->worker, &single->client, 0, 1) == 0 &&
        client_init(&single->client, &single->worker, &single->session, 0) == 0) {
        single->client.key_index = 0;
        return 0;
    }
    single_done(single);
    return err_set(err, LB_EXIT_MACHINE, "out of memory");
}

void single_done(struct single *single) {
    client_done(&single->client);
    session_done(&single->session);
    shared_free(single->shared);
    *single = (struct single){0};
}

void single_cut_off(struct single *single) {
    atomic_store(&single->shared->cutoff_ns, 0);
}

int single_open(struct single *single, int64_t deadline_ns, struct lb_err *err) {
    struct lb_session *session = &single->session.lb;
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    single->client.fiber = lb_self();
    if (session_open(&single->session, deadline_ns, err) != 0) return -1;
    if (algorithm->setup && algorithm->setup(session, err) != 0) return -1;
    return algorithm->arm ? algorithm->arm(session, &single->client.request, err) : 0;
}

/* Removes a grant that a request without an answer may have left. Returns whether it is certainly gone. */
static bool settle_single(struct single *single) {
    int64_t until_ns = lb_now() + SETTLE_NS;
    loop_shield(true);
    while (!session_restore(&single->client) && lb_now() < until_ns)
        lb_sleep_until(lb_now() + SETTLE_PAUSE_NS);
    loop_shield(false);
    return single->session.connected && !single->client.unsettled_until_ns;
}

/* After a call that failed: does the same as every client (client_mend). The driver's reason goes to err. */
static void mend_single(struct single *single, enum lb_outcome outcome, struct lb_err *err) {
    const struct lb_err *why = &single->session.lb.err;
    if (why->code) err_set(err, why->code, "%s", why->text);
    if (outcome > LB_TIMEOUT) client_mend(&single->client, outcome);
}

enum lb_outcome single_acquire(struct single *single, int64_t deadline_ns, bool *ret_unsettled,
                               struct lb_err *err) {
    struct client *client = &single->client;
    struct session *session = client->session;
    *ret_unsettled = false;
    session->users++;
    client->request.deadline_ns = deadline_ns;
    client->request.held = 0;
    enum lb_outcome outcome =
        session->algorithm->acquire(&session->lb, &client->request, &client->grant);
    if (outcome == LB_OK) {
        session->lb.err.code = 0;
        client->request.held = 1;
        client->hold = (struct client_hold){.on = true};
        return LB_OK;
    }
    mend_single(single, outcome, err);
    session_part(client);
    if (outcome == LB_UNKNOWN) *ret_unsettled = !settle_single(single);
    return outcome;
}

/* Whether the connection of a grant that lives as long as a connection is closed. */
static bool is_cut_off(const struct session *session) {
    bool lives_by_it = (session->lb.lock->caps & LB_CAP_SESSION) &&
                       session->lb.lock->about.crash == LB_CRASH_AT_ONCE;
    return lives_by_it && session_hung_up(session);
}

/* When the grant ends, as far as its holder can know. */
static int64_t grant_end_ns(const struct client *client) {
    int64_t lasts_ns = client->session->lb.lasts_until_ns;
    if (client->grant.lease_end_ns != LB_NEVER) return client->grant.lease_end_ns;
    return lasts_ns ? lasts_ns : LB_NEVER;
}

/* Whether a renewal had no answer, of a lease that still lasts and does not live by its connection. */
static bool is_in_doubt(const struct client *client) {
    const struct lb_lock *lock = client->session->lb.lock;
    bool unanswered = client->hold.told == LB_UNKNOWN || client->hold.told == LB_BROKEN;
    return unanswered && !(lock->caps & LB_CAP_SESSION) && lb_now() < grant_end_ns(client);
}

/* Renews the grant on a new connection: the server, or what lies before it, may have closed the old one as idle. */
static void renew_again(struct client *client) {
    struct session *session = client->session;
    session_break(session);
    session->users--;
    bool restored = session_restore(client);
    session->users++;
    if (!restored) return;
    session->lb.err.code = 0;
    client_calls(client);
    client->hold.told =
        session->lb.lock->algorithm->renew(&session->lb, &client->request, &client->grant);
    client_called(client);
}

enum lb_outcome single_wait(struct single *single, struct lb_poll *polls, int count,
                            int64_t until_ns, struct lb_err *err) {
    struct client *client = &single->client;
    if (is_in_doubt(client)) renew_again(client);
    bool in_doubt = is_in_doubt(client);
    if (client->hold.told == LB_OK || in_doubt) {
        int64_t end_ns = in_doubt ? lb_now() + AGAIN_NS : grant_end_ns(client);
        client->hold.asleep = true;
        lb_wait_any(polls, count, end_ns < until_ns ? end_ns : until_ns);
        client->hold.asleep = false;
    }
    if (is_in_doubt(client)) return LB_OK;
    const struct lb_err *driver = &single->session.lb.err;
    const char *why = driver->code ? driver->text : "";
    if (client->hold.told == LB_OK && lb_now() >= grant_end_ns(client)) {
        client_tell(client, LB_LOST);
        if (!*why) why = "its time ended before a renewal came through";
    } else if (client->hold.told == LB_OK && is_cut_off(&single->session)) {
        client_tell(client, LB_LOST);
        if (!*why) why = "the connection that it lives by was closed";
    } else if (!*why) {
        why = client->hold.told == LB_LOST
                  ? "the server had it no more as ours (expired, deleted, or given to another)"
                  : lb_outcome_name(client->hold.told);
    }
    if (client->hold.told != LB_OK) err_set(err, LB_EXIT_MACHINE, "%s", why);
    return client->hold.told;
}

enum lb_outcome single_release(struct single *single, struct lb_err *err) {
    struct client *client = &single->client;
    struct session *session = client->session;
    loop_shield(true);
    client_calls(client);
    client->hold.on = false;
    enum lb_outcome outcome = client->hold.told;
    /* A renewal without an answer has ended its connection. */
    if (outcome != LB_LOST && outcome != LB_UNKNOWN) {
        session->lb.err.code = 0;
        outcome = session->algorithm->release(&session->lb, &client->request, &client->grant);
    }
    /* Nothing was sent, so the lock is held unless it lived by that connection. */
    if (outcome == LB_BROKEN && session->algorithm->settle) outcome = LB_UNKNOWN;
    client_called(client);
    mend_single(single, outcome, err);
    session_part(client);
    if (outcome == LB_UNKNOWN && settle_single(single)) outcome = LB_OK;
    single_close(single);
    loop_shield(false);
    return outcome;
}

void single_close(struct single *single) {
    loop_shield(true);
    session_close(&single->session);
    loop_shield(false);
}
