/* conform_exclude: clients exclude each other, few and many. */
#include <limits.h>
#include <stdlib.h>

#include "bench/conform/conform.h"

#define CLIENTS 8
#define HOLD_NS (200 * LB_US_NS)
#define SHARERS 8
#define SHARES_ALL 1000

/* ---- a contest; static memory outlives a client that hangs ---- */

static struct contest contest;
static _Atomic int grants, shares, beside, old_tokens;
static _Atomic uint64_t newest; /* token */
static int least;               /* grants, however late they come */
static int64_t end_ns;

/* Gives up soon, late, and right when its turn comes. */
static int64_t short_wait_ns(struct lb_rng *rng) {
    static const int64_t waits_ns[] = {0,        2 * LB_US_NS, 50 * LB_US_NS, 300 * LB_US_NS,
                                       LB_MS_NS, 5 * LB_MS_NS};
    return waits_ns[rng_below(rng, sizeof waits_ns / sizeof *waits_ns)];
}

static bool has_writers(const struct actor *client) {
    return client->session.lock->caps & LB_CAP_SHARED;
}

/* The shares that a holder has: one for each permit; a reader one, a writer all. */
static int shares_of(const struct actor *client, const struct lb_request *request) {
    if (!has_writers(client)) return (int)request->permits;
    return request->shared ? 1 : SHARES_ALL;
}

static void enter(const struct actor *client, const struct lb_request *request,
                  const struct lb_grant *grant) {
    int mine = shares_of(client, request);
    int bound = has_writers(client) ? SHARES_ALL : (int)request->bound;
    atomic_fetch_add(&grants, 1);
    if (atomic_fetch_add(&shares, mine) + mine > bound) atomic_fetch_add(&beside, 1);
    if (!(client->session.lock->caps & LB_CAP_FENCE) || request->shared) return;
    if (atomic_exchange(&newest, grant->token) >= grant->token) atomic_fetch_add(&old_tokens, 1);
}

static void leave(const struct actor *client, const struct lb_request *request) {
    atomic_fetch_sub(&shares, shares_of(client, request));
}

static void begin(void) {
    grants = shares = beside = old_tokens = 0;
    newest = 0;
}

/* Fails the trial if clients held at once, or if tokens did not grow. */
static void judge(struct trial *trial) {
    if (beside > 0)
        trial_overlap(trial, "does not exclude: %d grants, %d of them beside a holder", grants,
                      beside);
    else if (old_tokens > 0)
        trial_overlap(trial, "its tokens do not grow: %d grants, %d tokens that did not grow",
                      grants, old_tokens);
}

/* One attempt. False after a call that must not end so. */
static bool attempt(struct actor *client, int turn) {
    client->request.deadline_ns =
        contest.impatient ? lb_now() + short_wait_ns(&client->session.rng) : trial_soon();
    if (contest.prepare) contest.prepare(client, turn);
    client->session.err.code = 0; /* not that an earlier wait ran out */
    actor_job_acquire(client);
    if (client->outcome == LB_OK) {
        enter(client, &client->request, &client->grant);
        if (!contest.impatient || turn % 4 == 0) lb_sleep_until(lb_now() + contest.hold_ns);
        leave(client, &client->request);
        actor_job_release(client);
        return client->outcome == LB_OK;
    }
    if (!contest.impatient) return false;
    lb_yield();
    /* If the server made the grant while the client withdrew its request, the driver says
     * "unknown", which is honest, and settling repairs it. */
    return client->outcome == LB_BUSY || client->outcome == LB_TIMEOUT ||
           (client->outcome == LB_UNKNOWN && actor_mend(client));
}

static bool goes_on(int turn) {
    return turn < contest.turns_most && atomic_load(&grants) < contest.grants_most &&
           (lb_now() < end_ns || atomic_load(&grants) < least) && !lb_stopping();
}

static void contend(struct actor *client) {
    for (int turn = 0; goes_on(turn); turn++) {
        if (attempt(client, turn)) continue;
        trial_fail(client->trial, "a call gave %s", actor_said(&client->session, client->outcome));
        return;
    }
}

void contest_run(struct trial *trial, const struct contest *wanted, const struct trial_key *key,
                 int count, struct actor **ret_clients) {
    contest = *wanted;
    if (contest.turns_most == 0) contest.turns_most = INT_MAX;
    least = contest.impatient ? 0 : count;
    begin();
    actors_new(trial, key, count, ret_clients);
    end_ns = lb_now() + contest.time_ns;
    actors_do(ret_clients, count, contend);
    judge(trial);
    if (grants < least) trial_fail(trial, "too few grants to say anything: %d", grants);
}

void conform_exclude(struct trial *trial) {
    /* A client that is a program takes a millisecond of a processor for each request. */
    const struct contest patient = {.grants_most = trial->lock->lock->needs ? 100 : 300,
                                    .time_ns = 3 * LB_S_NS / 2,
                                    .hold_ns = HOLD_NS};
    struct trial_key key = trial_key();
    struct actor *clients[CLIENTS];
    contest_run(trial, &patient, &key, CLIENTS, clients);
}

void conform_give_up(struct trial *trial) {
    static const struct contest brief = {.grants_most = INT_MAX,
                                         .turns_most = 1000,
                                         .time_ns = LB_S_NS / 2,
                                         .hold_ns = HOLD_NS,
                                         .impatient = true};
    struct trial_key key = trial_key();
    struct actor *clients[CLIENTS];
    contest_run(trial, &brief, &key, CLIENTS, clients);
    /* A client that gave up has left nothing that blocks others. */
    for (int i = 0; i < CLIENTS; i++) {
        MUST_USE(clients[i], &key, TRIAL_TRY);
    }
}

/* ---- many clients: order where it is claimed, a turn for everybody, one session for several ---- */

#define QUEUE 6
/* the time between the starts of two waiters: each is queued long before the next */
#define APART_MS 100
#define CROWD 64
#define ROUNDS 10

void conform_fair(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiters[QUEUE];
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    for (int i = 0; i < QUEUE; i++) {
        waiters[i] = actor_new(trial);
        actor_begin_acquire(waiters[i], &key, trial_soon());
        MUST_WAIT(waiters[i], APART_MS, "while another holds");
    }
    for (int i = 0; i < QUEUE; i++) {
        MUST_GIVE(i ? waiters[i - 1] : holder, actor_release(i ? waiters[i - 1] : holder), LB_OK);
        MUST_GIVE(waiters[i], actor_end(waiters[i]), LB_OK);
        for (int j = i + 1; j < QUEUE; j++) MUST_WAIT(waiters[j], 0, "though it was not its turn");
    }
    MUST_GIVE(waiters[QUEUE - 1], actor_release(waiters[QUEUE - 1]), LB_OK);
}

static void wait_long(struct actor *client, int turn) {
    (void)turn;
    client->request.deadline_ns = lb_now() + 3 * trial_patience_ns;
}

void conform_crowd(struct trial *trial) {
    static const struct contest once = {
        .grants_most = CROWD, .turns_most = 1, .time_ns = 60 * LB_S_NS, .prepare = wait_long};
    struct trial_key key = trial_key();
    struct actor *clients[CROWD];
    contest_run(trial, &once, &key, CROWD, clients);
}

/* One of several clients on the actor's session. */
struct sharer {
    struct actor *actor;
    struct lb_request request;
    struct lb_grant grant;
    struct lb_fiber *fiber;
};

static void share(void *arg) {
    struct sharer *sharer = arg;
    struct lb_session *session = &sharer->actor->session;
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    enum lb_outcome outcome = LB_OK;
    for (int i = 0; i < ROUNDS && outcome == LB_OK && !lb_stopping(); i++) {
        sharer->request.deadline_ns = trial_soon();
        outcome = algorithm->acquire(session, &sharer->request, &sharer->grant);
        if (outcome != LB_OK) break;
        enter(sharer->actor, &sharer->request, &sharer->grant);
        lb_sleep_until(lb_now() + HOLD_NS);
        leave(sharer->actor, &sharer->request);
        outcome = algorithm->release(session, &sharer->request, &sharer->grant);
    }
    if (outcome != LB_OK)
        trial_fail(sharer->actor->trial, "a client that shares its session got %s",
                   actor_said(session, outcome));
}

static void share_session(struct actor *client) {
    static struct sharer sharers[2][SHARERS]; /* static memory outlives a client that hangs */
    struct sharer *mine = sharers[client->session.client % 2];
    for (int i = 0; i < SHARERS; i++) {
        mine[i] = (struct sharer){.actor = client, .request = client->request};
        mine[i].request.client = client->session.client * SHARERS + (uint32_t)i;
        mine[i].grant.data = calloc(1, client->session.lock->algorithm->grant_bytes + 1);
        mine[i].fiber = lb_start_fiber("sharer", share, &mine[i]);
    }
    for (int i = 0; i < SHARERS; i++) {
        lb_join(mine[i].fiber);
        free(mine[i].grant.data);
    }
}

void conform_share(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *both[2];
    begin();
    actors_new(trial, &key, 2, both);
    actors_do(both, 2, share_session);
    judge(trial);
    MUST(trial, grants == 2 * SHARERS * ROUNDS, "%d grants", grants);
}
