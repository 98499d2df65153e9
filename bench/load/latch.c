/* latch: the rounds of a count-down latch; each round uses a new key.
 *
 * One client arms the round's key, and a barrier in shared memory lets all clients begin; this is not
 * measured. Then the counters hold and count down, and the others await. Two things are checked: no
 * awaiter returns before the last count-down was called, and a client that comes late to an open
 * latch does not wait. A client that is alone counts down, then awaits. */
#include "bench/load/account.h"
#include "bench/load/attempt.h"
#include "bench/load/session.h"

#define BARRIER_FIRST_NS                                                                           \
    (50 * LB_US_NS)              /* the first pause between two looks; it is doubled each time */
#define BARRIER_LAST_NS LB_MS_NS /* the longest pause */
#define SLICE_NS (2 * LB_S_NS)   /* an await looks this often whether its round can still end */
#define LATE_NS (5 * LB_S_NS)    /* time limit of an await that should not wait at all */

struct round {
    uint32_t number, counters;
    bool measured;
};

static bool is_over(const struct shared *shared) {
    return atomic_load(&shared->latch.rounds_over) || lb_stopping() ||
           atomic_load(&shared->lost) > 0;
}

/* Waits until all clients have come to their n-th barrier. */
static void pass_barrier(struct client *client, uint64_t number) {
    struct shared *shared = client->worker->shared;
    uint64_t goal = number * (uint64_t)shared->clients;
    int64_t wait_ns = BARRIER_FIRST_NS;
    atomic_fetch_add(&shared->latch.arrived, 1);
    while (atomic_load(&shared->latch.arrived) < goal && !is_over(shared)) {
        lb_sleep_until(lb_now() + wait_ns);
        if (wait_ns < BARRIER_LAST_NS) wait_ns *= 2;
    }
}

static void use_round_key(struct client *client, const struct round *round) {
    client->request = shared_request(client->worker->shared, round->number, client->key);
    client->request.client = client->index;
    client->request.bound = round->counters;
}

/* Only the first client does this: the open latch must let it pass, then the round's key is removed
 * from the server. */
static void end_round(struct client *client, const struct round *round) {
    struct shared *shared = client->worker->shared;
    struct lb_session *session = &client->session->lb;
    const struct lb_lock *lock = session->lock;
    struct lb_err err = {0};
    if (round->number == 0 || !session_join(client)) return;
    if (!atomic_load(&shared->latch.spoilt) && !lb_stopping()) {
        client->request.deadline_ns = lb_now() + LATE_NS;
        enum lb_outcome outcome =
            lock->algorithm->acquire(session, &client->request, &client->grant);
        if (outcome == LB_BUSY || (outcome == LB_TIMEOUT && !lb_stopping())) {
            atomic_fetch_add(&shared->findings.early, 1);
        }
        if (outcome > LB_TIMEOUT) client_mend(client, outcome);
        if (round->measured) atomic_fetch_add(&shared->latch.rounds, 1);
    }
    if (lock->algorithm->disarm && !client->session->broken)
        lock->algorithm->disarm(session, &client->request, &err);
    session_part(client);
}

/* Only the first client does this, while the others wait at the barrier. */
static void begin_round(struct client *client, const struct round *round) {
    struct shared *shared = client->worker->shared;
    struct lb_session *session = &client->session->lb;
    struct lb_err err = {0};
    atomic_store(&shared->latch.invoked, 0);
    atomic_store(&shared->latch.spoilt, 0);
    atomic_store(&shared->latch.last_awake_ns, 0);
    use_round_key(client, round);
    bool armed = lb_now() < stage_end_ns(shared) && session_join(client);
    if (armed) {
        armed = session->lock->algorithm->arm(session, &client->request, &err) == 0;
        session_part(client);
    }
    if (err.code && !client->worker->stats->first_err.code) client->worker->stats->first_err = err;
    if (!armed) atomic_store(&shared->latch.rounds_over, 1);
}

static void count_down(struct client *client, const struct round *round) {
    struct shared *shared = client->worker->shared;
    enum lb_outcome inner = LB_OK, outcome = LB_BROKEN;
    int64_t from_ns = lb_now();
    client_spent(client, &client->stats->state_idle_ns, from_ns);
    client->hold.told = LB_OK;
    client->request.held = 1;
    hold(client, from_ns, &inner);
    bool joined = session_join(client);
    int64_t invoked_ns = lb_now();
    client_spent(client, &client->stats->state_holding_ns, invoked_ns);
    if (joined) {
        atomic_store(&shared->latch.last_invoked_ns, invoked_ns);
        /* counted before the call, because awaiters may return from now on */
        atomic_fetch_add(&shared->latch.invoked, 1);
        outcome = client->session->lb.lock->algorithm->release(&client->session->lb,
                                                               &client->request, &client->grant);
    }
    client->ended_ns = lb_now();
    client_spent(client, &client->stats->state_releasing_ns, client->ended_ns);
    if (outcome != LB_OK) atomic_store(&shared->latch.spoilt, 1);
    if (round->measured) {
        client_count(client, outcome);
        client->stats->grants += outcome == LB_OK;
        recorder_add(&client->worker->stats->recorder, METRIC_HOLD, invoked_ns - from_ns);
        recorder_add(&client->worker->stats->recorder, METRIC_RELEASE,
                     client->ended_ns - invoked_ns);
    }
    if (outcome > LB_TIMEOUT) client_mend(client, outcome);
    if (joined) session_part(client);
}

static enum lb_outcome await_open(struct client *client, int64_t started_ns) {
    struct shared *shared = client->worker->shared;
    struct lb_session *session = &client->session->lb;
    int64_t deadline_ns = client_deadline_ns(client, started_ns);
    for (;;) {
        int64_t slice_ns = lb_now() + SLICE_NS;
        client->request.deadline_ns = slice_ns < deadline_ns ? slice_ns : deadline_ns;
        enum lb_outcome outcome =
            session->lock->algorithm->acquire(session, &client->request, &client->grant);
        bool again = outcome == LB_TIMEOUT && lb_now() < deadline_ns && !is_over(shared);
        if (!again || atomic_load(&shared->latch.spoilt)) return outcome;
    }
}

static void note_awake(struct shared *shared, int64_t now_ns) {
    int64_t last_ns = atomic_load(&shared->latch.last_awake_ns);
    while (now_ns > last_ns &&
           !atomic_compare_exchange_weak(&shared->latch.last_awake_ns, &last_ns, now_ns)) {
    }
}

static void await_round(struct client *client, const struct round *round) {
    struct shared *shared = client->worker->shared;
    enum lb_outcome outcome = LB_BROKEN;
    int64_t started_ns = lb_now();
    client_spent(client, &client->stats->state_idle_ns, started_ns);
    client_begin(client, started_ns);
    bool joined = session_join(client);
    if (joined) outcome = await_open(client, started_ns);
    int64_t now_ns = client->ended_ns = lb_now();
    client_spent(client, &client->stats->state_waiting_ns, now_ns);
    client_waited(client, started_ns, now_ns);
    client_note_cut_off(client, outcome, now_ns - started_ns);
    if (outcome == LB_OK) {
        bool early = atomic_load(&shared->latch.invoked) < round->counters;
        if (early && !atomic_load(&shared->latch.spoilt))
            atomic_fetch_add(&shared->findings.early, 1);
        atomic_fetch_add(&shared->cells[0].grants, 1);
        atomic_fetch_add(&shared->cells[0].counter, 1);
        note_awake(shared, now_ns);
        client_count_by_time(client, now_ns, round->measured);
    }
    if (round->measured) {
        client_count(client, outcome);
        if (outcome == LB_OK) {
            int64_t opened_ns = atomic_load(&shared->latch.last_invoked_ns);
            client_granted(client, now_ns - started_ns);
            recorder_add(&client->worker->stats->recorder, METRIC_ACQUIRE_DUE, now_ns - started_ns);
            if (opened_ns > started_ns && opened_ns <= now_ns) {
                recorder_add(&client->worker->stats->recorder, METRIC_HANDOFF, now_ns - opened_ns);
            }
        } else {
            client_failed(client, now_ns - started_ns);
        }
    }
    if (outcome > LB_TIMEOUT) client_mend(client, outcome);
    if (joined) session_part(client);
}

void latch_rounds(struct client *client) {
    struct shared *shared = client->worker->shared;
    bool first = client->index == 0;
    uint32_t others = shared->clients > 1 ? (uint32_t)shared->clients - 1 : 1;
    uint32_t bound = shared->plan->bound > 0 ? shared->plan->bound : 1;
    struct round round = {.counters = bound < others ? bound : others};
    uint64_t barriers = 0;
    for (;;) {
        if (first) end_round(client, &round);
        round.number++;
        if (first) begin_round(client, &round);
        pass_barrier(client, ++barriers);
        if (is_over(shared)) break;
        if (!first) use_round_key(client, &round);
        round.measured = lb_now() >= stage_begin_ns(shared);
        if (round.measured) session_begin_window(client->session);
        if (client->index < round.counters) count_down(client, &round);
        if (client->index >= round.counters || shared->clients == 1) await_round(client, &round);
        pass_barrier(client, ++barriers);
        int64_t awake_ns =
            atomic_load(&shared->latch.last_awake_ns) - atomic_load(&shared->latch.last_invoked_ns);
        if (first && round.measured && awake_ns > 0 && !atomic_load(&shared->latch.spoilt)) {
            recorder_add(&client->worker->stats->recorder, METRIC_LAST_AWAKE, awake_ns);
        }
        client_turn(client);
    }
}
