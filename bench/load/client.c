/* client: see client.h. The hot path is `attempt`: from due to released it has no allocation, no
 * lock, no printing, and no system call but the lock's own waits.
 *
 * Attempts in the window are accounted so: attempts = ok + busy + timeout + lost + unknown +
 * refused + broken. */
#include "bench/load/client.h"

#include <stdlib.h>
#include <string.h>

#include "bench/engine/loop.h"
#include "bench/load/guard.h"
#include "bench/load/hold.h"
#include "bench/load/kinds.h"
#include "bench/load/session.h"
#include "bench/load/store.h"
#include "bench/load/trace.h"

#define PINGS 500                /* at most, before the load and again after it ... */
#define PING_NS (100 * LB_MS_NS) /* ... and for at most so long */
#define PING_WAIT_NS (5 * LB_S_NS)
#define FIRST_LOOK_NS LB_MS_NS /* while another client opens the session that it shares */

int client_init(struct client *client, struct worker *worker, struct session *session,
                uint32_t index) {
    struct shared *shared = worker->shared;
    const struct lb_lock *lock = shared->lock->lock;
    client->worker = worker;
    client->session = session;
    client->index = index;
    client->stats = &shared->client[index];
    client->stats->guest = index != session->lb.client;
    if (shared->turns) {
        char *turns = shared->turns;
        client->turns = (struct turns *)(void *)(turns + index * turns_bytes(shared->turn_keys));
    }
    client->guard = shared->guard;
    rng_seed(&client->rng, shared->seed, 2 * (uint64_t)index + 1);
    client->grant.data = calloc(1, lock->algorithm->grant_bytes + 1);
    if (!client->grant.data) return -1;
    client->request = shared_request(shared, 0, client->key);
    client->request.client = index;
    client->key_index = UINT32_MAX;
    if (shared->guard == GUARD_CELLS) {
        client->keys = calloc(1, sizeof *client->keys);
        if (!client->keys) return -1;
    }
    if (shared->store) {
        client->visits = calloc(LB_KEYS_MAX, sizeof *client->visits);
        if (!client->visits) return -1;
    }
    return 0;
}

void client_done(struct client *client) {
    free(client->grant.data);
    free(client->keys);
    free(client->visits);
    client->grant.data = NULL;
    client->keys = NULL;
    client->visits = NULL;
}

/* Waits for the supervisor, whatever the cut-off says. */
static void wait_phase(struct client *client, enum phase phase) {
    loop_shield(true);
    while (atomic_load(&client->worker->shared->phase) < (int)phase) lb_sleep_until(LB_NEVER);
    loop_shield(false);
}

static void ping(struct client *client) {
    struct session *session = client->session;
    const struct lb_backend *backend = session->lb.server->backend;
    if (!backend->connector->ping || !session->connected || session->broken) return;
    int64_t now_ns = lb_now(), end_ns = now_ns + PING_NS;
    session->users++;
    for (int i = 0; i < PINGS && now_ns < end_ns && !lb_stopping(); i++) {
        int64_t start_ns = now_ns;
        enum lb_outcome outcome = backend->connector->ping(&session->lb, start_ns + PING_WAIT_NS);
        now_ns = lb_now();
        if (outcome != LB_OK) {
            session_keep_err(session);
            if (outcome != LB_REFUSED) session_break(session);
            break;
        }
        recorder_add(&client->worker->stats->recorder, METRIC_PING, now_ns - start_ns);
    }
    session_part(client);
}

void client_failed(struct client *client, int64_t waited_ns) {
    recorder_add(&client->worker->stats->recorder, METRIC_WAIT_FAILED, waited_ns);
    if (waited_ns > client->stats->max_wait_ns) client->stats->max_wait_ns = waited_ns;
}

void client_mend(struct client *client, enum lb_outcome outcome) {
    session_keep_err(client->session);
    if (outcome == LB_UNKNOWN) {
        client->unsettled = true;
        client->unsettled_until_ns = lb_after(lb_now(), client->request.lease_ns);
    }
    /* A grant that could not be released is left until its lease ends. */
    if (outcome == LB_UNKNOWN || (outcome != LB_LOST && client->request.held > 0)) {
        client->worker->stats->unsure = true;
    }
    if (outcome == LB_UNKNOWN || outcome == LB_BROKEN) session_break(client->session);
}

int64_t client_deadline_ns(const struct client *client, int64_t started_ns) {
    const struct plan *plan = client->worker->shared->plan;
    return plan->mode == MODE_WAIT  ? LB_NEVER
           : plan->mode == MODE_TRY ? 0
                                    : started_ns + plan->timeout_ns;
}

/* From now on it waits for its key, unless it did so already: a run of tries of one key is one
 * wait. */
static void begin_waiting(struct client *client, int64_t started_ns) {
    _Atomic int64_t *waiting_ns = &client->stats->waiting_ns;
    if (atomic_load_explicit(waiting_ns, memory_order_relaxed) == 0) {
        atomic_store_explicit(waiting_ns, started_ns, memory_order_relaxed);
    }
}

static void end_waiting(struct client *client) {
    atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
}

/* A try brought nothing: until the next one it rests, and nobody knows whether it would get the
 * key. */
static void rest_waiting(struct client *client, int64_t now_ns) {
    atomic_store_explicit(&client->stats->refused_ns, now_ns, memory_order_relaxed);
}

/* What happens to a grant whose holder was told about it. */
static void leave_lost(struct client *client) {
    bool leased = client->grant.lease_end_ns != LB_NEVER;
    int64_t end_ns = leased ? client->grant.lease_end_ns : client->session->lb.lasts_until_ns;
    int64_t late_ns = client->told_ns - end_ns;
    if (end_ns != 0 && late_ns > client->stats->detect_max_ns)
        client->stats->detect_max_ns = late_ns;
    guard_abandon(client);
    client->was_found = true;
}

/* Counts those that were overtaken, by their own clocks: somebody who started later was granted
 * before. */
static void note_order(struct client *client, int64_t started_ns) {
    _Atomic int64_t *latest = &client->worker->shared->latest_started[client->key_index];
    if (started_ns < atomic_load_explicit(latest, memory_order_relaxed)) {
        client->stats->inversions++;
    } else {
        atomic_store_explicit(latest, started_ns, memory_order_relaxed);
    }
}

/* Whether the holder knows that it lost the grant: then it does not write. A loss that nothing
 * explains is no excuse: then it does, and the damage shows. */
static bool knows_loss(struct client *client, enum lb_outcome outcome, int64_t now_ns) {
    if (client->told == LB_LOST) return true;
    if (outcome == LB_OK || now_ns < client->grant.lease_end_ns) return false;
    client->told_ns = now_ns;
    return true;
}

/* What few plans ask for on the way in. */
static void enter_more(struct client *client, int64_t started_ns, int64_t acquired_ns) {
    if (client->worker->shared->oplog) trace_granted(client, started_ns, acquired_ns);
    if (client->worker->shared->latest_started && !client->request.shared)
        note_order(client, started_ns);
}

/* Who held the key when, for short-term fairness: by the moment of the grant, so that numbers
 * follow upon each other. */
static void note_turn(struct client *client, int64_t acquired_ns) {
    const struct shared *shared = client->worker->shared;
    if (client->key_index >= shared->turn_keys || client->request.shared) return;
    if (acquired_ns < stage_begin_ns(shared)) return;
    turns_note(client->turns, client->worker->stats->between, client->key_index,
               client->entry.turn);
}

/* Granted: guard, hold, release, record. Returns how the attempt ended. */
static enum lb_outcome use(struct client *client, int64_t due_ns, int64_t started_ns,
                           int64_t acquired_ns, bool measured) {
    const struct shared *shared = client->worker->shared;
    struct session *session = client->session;
    struct holding me = {client->index, acquired_ns, client->grant.lease_end_ns,
                         client->grant.token};
    client->told = LB_OK;
    guard_enter(client, &me);
    client->holding = true;
    client->request.held = 1;
    if (__builtin_expect(shared->more_to_enter, 0)) enter_more(client, started_ns, acquired_ns);

    enum lb_outcome inner = LB_OK, outcome = LB_OK;
    if (!shared->no_hold) outcome = hold(client, acquired_ns, &inner);

    client_calls(client);
    client->holding = false;
    if (outcome == LB_OK) outcome = client->told;
    int64_t releasing_ns = lb_now();
    if (__builtin_expect(outcome == LB_OK, 1)) {
        guard_leave(client, releasing_ns);
        outcome =
            session->lb.lock->algorithm->release(&session->lb, &client->request, &client->grant);
    } else if (knows_loss(client, outcome, releasing_ns)) {
        leave_lost(client);
        client->went = OPLOG_UNCALLED | OPLOG_LEARNED;
    } else {
        guard_leave(client, releasing_ns);
        client->went = OPLOG_UNCALLED;
    }
    if (__builtin_expect(client->was_found, 0)) guard_was_found(client, outcome);
    client_called(client);
    int64_t released_ns = lb_now();
    client->ended_ns = released_ns;
    if (__builtin_expect(client->recorded, 0))
        trace_released(client, releasing_ns, released_ns, outcome);
    if (client->turns) note_turn(client, acquired_ns);
    if (measured) {
        struct recorder *recorder = &client->worker->stats->recorder;
        client_granted(client, acquired_ns - started_ns);
        recorder_add(recorder, METRIC_ACQUIRE_DUE, acquired_ns - due_ns);
        recorder_add(recorder, METRIC_LAG, started_ns - due_ns);
        recorder_add(recorder, METRIC_HOLD, releasing_ns - acquired_ns);
        if (outcome == LB_OK || outcome == LB_LOST) {
            recorder_add(recorder, METRIC_RELEASE, released_ns - releasing_ns);
        }
        /* Only who was waiting when the holder let go was handed anything. */
        if (client->entry.releasing_ns > started_ns) {
            recorder_add(recorder, METRIC_HANDOFF, acquired_ns - client->entry.releasing_ns);
        }
        if (client->entry.run > client->stats->longest_run)
            client->stats->longest_run = client->entry.run;
    }
    return outcome == LB_OK ? inner : outcome;
}

/* Opens the attempt's own session and records how long that took. Returns when it was done. */
static int64_t connect_anew(struct client *client, int64_t started_ns, bool measured) {
    bool open = session_restore(client);
    int64_t now_ns = lb_now();
    if (open && measured) {
        recorder_add(&client->worker->stats->recorder, METRIC_CONNECT, now_ns - started_ns);
    }
    return now_ns;
}

/* One attempt, due and started at these moments. */
static void attempt(struct client *client, int64_t due_ns, int64_t started_ns, bool measured) {
    struct session *session = client->session;
    const struct shared *shared = client->worker->shared;
    enum lb_outcome outcome = LB_BROKEN;
    bool joined = session_join(client);
    if (joined) {
        if (!shared->one_key || client->key_index == UINT32_MAX) client_choose(client);
        begin_waiting(client, started_ns);
        client->request.held = 0;
        client->request.deadline_ns = client_deadline_ns(client, started_ns);
        outcome =
            session->lb.lock->algorithm->acquire(&session->lb, &client->request, &client->grant);
    }
    int64_t acquired_ns = lb_now();
    client->ended_ns = acquired_ns;
    if (outcome != LB_BUSY && outcome != LB_TIMEOUT) {
        end_waiting(client);
    } else {
        rest_waiting(client, acquired_ns);
    }
    if (outcome == LB_OK) {
        outcome = use(client, due_ns, started_ns, acquired_ns, measured);
    } else {
        if (shared->oplog && joined) trace_refused(client, started_ns, acquired_ns, outcome);
        if (measured) client_failed(client, acquired_ns - started_ns);
    }
    if (measured) client_count(client, outcome);
    if (outcome > LB_TIMEOUT) client_mend(client, outcome);
    if (joined) session_part(client);
    if (outcome == LB_REFUSED || outcome == LB_BROKEN) lb_sleep_until(lb_now() + CLIENT_PAUSE_NS);
}

/* The next attempt's moments. False when the load is over for this client. */
static bool next(struct client *client, int64_t *ret_due_ns, int64_t *ret_started_ns) {
    struct worker *worker = client->worker;
    struct shared *shared = worker->shared;
    int64_t end_ns = stage_end_ns(shared);
    if (!worker->schedule) {
        int64_t due_ns = client->next_ns;
        if (due_ns > client->ended_ns) lb_sleep_until(due_ns < end_ns ? due_ns : end_ns);
        *ret_started_ns = lb_now();
        *ret_due_ns = due_ns ? due_ns : *ret_started_ns;
        return *ret_started_ns < stage_end_ns(shared) && !lb_stopping();
    }
    /* Open loop: the thread's slots, in order, each to the first client that is free. */
    for (;;) {
        int64_t due_ns = schedule_peek(worker->schedule);
        if (due_ns >= stage_end_ns(shared)) return false;
        schedule_take(worker->schedule);
        bool counted = due_ns >= stage_begin_ns(shared);
        worker->stats->due += counted;
        int64_t now_ns = lb_now();
        if (due_ns > now_ns) {
            lb_sleep_until(due_ns);
            now_ns = lb_now();
        } else {
            /* a free client would have taken it before it was due */
            worker->stats->queued += counted;
        }
        if (now_ns < stage_end_ns(shared) && !lb_stopping()) {
            worker->stats->started += counted;
            *ret_due_ns = due_ns;
            *ret_started_ns = now_ns;
            return true;
        }
        worker->stats->missed += counted;
    }
}

void client_turn(struct client *client) {
    worker_mark(client->worker, client->ended_ns);
    recorder_turn(&client->worker->stats->recorder);
    loop_breathe(client->ended_ns);
}

static void load(struct client *client) {
    struct worker *worker = client->worker;
    struct shared *shared = worker->shared;
    const struct dist *think = &shared->plan->think;
    bool closed = !worker->schedule;
    bool optimistic = shared->lock->lock->primitive == LB_OPTIMISTIC;
    int64_t due_ns, started_ns;
    /* Also when the run was cut off: the schedule's slots that nobody came to are still to be
     * counted. */
    while (next(client, &due_ns, &started_ns)) {
        bool measured = (closed ? started_ns : due_ns) >= stage_begin_ns(shared);
        if (measured) session_begin_window(client->session);
        if (shared->churn) started_ns = connect_anew(client, started_ns, measured);
        if (optimistic) {
            update_attempt(client, due_ns, started_ns, measured);
        } else {
            attempt(client, due_ns, started_ns, measured);
        }
        if (shared->churn && client->session->connected) session_close(client->session);
        if (closed && think->mean_ns)
            client->next_ns = client->ended_ns + dist_draw(think, &client->rng);
        client_turn(client);
    }
}

/* Leaves things in order when the load is over. */
static void drain(struct client *client) {
    struct session *session = client->session;
    struct shared *shared = client->worker->shared;
    end_waiting(client);
    /* Others may be waiting for what our last attempt may have left. */
    while (client->unsettled && !lb_stopping() && !session_restore(client)) {
        lb_sleep_until(lb_now() + CLIENT_PAUSE_NS);
    }
    if (!session->connected && !lb_stopping()) session_restore(client);
    if (session->unreachable) atomic_fetch_add(&shared->adrift, 1);
    session_end_window(session);
    atomic_fetch_add(&shared->drained, 1);
    client->stats->drained = true;
}

/* What the stage's keys must have on the server, by its first client. */
static int prepare_keys(struct client *client, struct lb_err *err) {
    struct shared *shared = client->worker->shared;
    const struct lb_lock *lock = shared->lock->lock;
    struct lb_session *session = &client->session->lb;
    if (lock->algorithm->setup && lock->algorithm->setup(session, err) != 0) return -1;
    if (shared->store_backend && store_prepare(shared, session, err) != 0) return -1;
    /* a latch: each round's key in its turn */
    if (!lock->algorithm->arm || lock->primitive == LB_LATCH) return 0;
    for (uint32_t i = 0; i < shared->key_count; i++) {
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, i, name);
        if (lock->algorithm->arm(session, &request, err) != 0) return -1;
    }
    return 0;
}

/* Opens the session, or waits for the client that does. */
static void open_first(struct client *client) {
    struct session *session = client->session;
    struct shared *shared = client->worker->shared;
    struct lb_err err = {0};
    if (client->stats->guest) {
        while (!session->tried) lb_sleep_until(lb_now() + FIRST_LOOK_NS);
    } else {
        int64_t begin_ns = lb_now();
        session->failed = session_open(session, shared->connect_deadline_ns, &err) != 0;
        if (!session->failed) client->stats->connect_ns = lb_now() - begin_ns;
        if (!session->failed && client->index == 0)
            session->failed = prepare_keys(client, &err) != 0;
        session->tried = true;
    }
    if (session->failed) {
        if (err.code && !client->worker->stats->err.code) client->worker->stats->err = err;
        atomic_fetch_add(&shared->failed, 1);
    }
    atomic_fetch_add(&shared->connected, 1);
}

void client_run(void *arg) {
    struct client *client = arg;
    struct session *session = client->session;
    struct shared *shared = client->worker->shared;
    bool first = client->index == 0;
    client->fiber = lb_self();
    open_first(client);

    wait_phase(client, PHASE_PING);
    if (first) {
        ping(client);
        atomic_fetch_add(&shared->pinged, 1);
    }
    wait_phase(client, PHASE_GO);
    if (shared->churn) session_close(session);
    lb_sleep_until(shared->go_ns);
    if (shared->lock->lock->primitive == LB_LATCH) {
        latch_rounds(client);
    } else {
        load(client);
    }
    drain(client);

    wait_phase(client, PHASE_PING2);
    if (first) {
        ping(client);
        atomic_fetch_add(&shared->pinged, 1);
    }
    wait_phase(client, PHASE_CLOSE);
    client->fiber = NULL;
    bool last = true;
    for (uint32_t i = 0; i < session->client_count; i++) last &= session->clients[i].fiber == NULL;
    if (last) session_close(session);
    atomic_fetch_add(&shared->closed, 1);
    client->stats->closed = true;
}
