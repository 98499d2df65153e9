/* life: the life of a client; see worker.h. */
#include "bench/load/worker.h"

#include <stddef.h>
#include <stdlib.h>

#include "bench/engine/loop.h"
#include "bench/load/account.h"
#include "bench/load/session.h"

/* The least and the greatest pause. A recovery is measured late by one pause at most. */
#define PAUSE_NS (20 * LB_MS_NS)
#define PAUSE_MOST_NS (50 * LB_MS_NS)
#define PINGS 500                /* the most pings before the load, and again after it */
#define PING_NS (100 * LB_MS_NS) /* the longest time for these pings ... */
#define PING_PART 20             /* ... and at most this part of run.duration */
#define PING_WAIT_NS (5 * LB_S_NS)
#define WORK_OFF_TIMES                                                                             \
    10 /* a queue that a stall of lockbench caused lasts at most so many times as long */
#define STATE_HEAD_BYTES 256   /* of a session's state, where drivers have what each call touches */
#define FIRST_LOOK_NS LB_MS_NS /* while another client opens the session that it shares */

int client_init(struct client *client, struct worker *worker, struct session *session,
                uint32_t index) {
    struct shared *shared = worker->shared;
    client->worker = worker;
    client->session = session;
    client->index = index;
    client->stats = &shared->client[index];
    client->at.kind = shared->entry;
    client->stats->joined = index != session->lb.client;
    rng_seed(&client->rng, shared->seed, 2 * (uint64_t)index + 1);
    client->grant.data = calloc(1, shared->lock->lock->algorithm->grant_bytes + 1);
    if (!client->grant.data) return -1;
    client->request = shared_request(shared, 0, client->key);
    client->request.client = index;
    client->key_index = UINT32_MAX;
    return 0;
}

void client_done(struct client *client) {
    free(client->grant.data);
}

/* Waits until the supervisor begins a phase; the cut-off does not end this wait. */
static void wait_phase(struct client *client, enum phase phase) {
    loop_shield(true);
    while (atomic_load(&client->worker->shared->phase) < (int)phase) lb_sleep_until(LB_NEVER);
    loop_shield(false);
}

static void send_pings(struct client *client) {
    struct session *session = client->session;
    const struct lb_backend *backend = session->lb.server->backend;
    if (!backend->connector->ping || !session->connected || session->broken) return;
    int64_t part_ns = client->worker->shared->plan->duration_ns / PING_PART;
    int64_t now_ns = lb_now(), end_ns = now_ns + (part_ns < PING_NS ? part_ns : PING_NS);
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

static void ping_server(struct client *client) {
    send_pings(client);
    atomic_fetch_add(&client->worker->shared->pinged, 1);
}

/* Opens the attempt's own session and records how long that took. */
static void connect_anew(struct client *client) {
    struct stamps *stamps = &client->stamps;
    bool open = session_restore(client);
    stamps->started_ns = lb_now();
    if (open && stamps->measured)
        recorder_add(&client->worker->stats->recorder, METRIC_CONNECT,
                     stamps->started_ns - stamps->began_ns);
}

/* For how long the thread itself stood still around the time at which the slot fell due; 0 = it did not. If the lock
 * blocks its thread by design, late beats do not show a stall. But a client that waited for the slot was in no call of
 * the lock, so if it is late, its timer was late. */
static int64_t stall_around(const struct worker *worker, int64_t due_ns, int64_t now_ns,
                            bool free) {
    if (worker->shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD) return free ? now_ns - due_ns : 0;
    return stalls_around(&worker->stats->stalls, due_ns, now_ns);
}

/* Counts a slot that started late, as delayed by the lock or by a stall of lockbench. free: a client waited for the
 * slot. Slots that queued in a stall are worked off after the stall, and later slots wait behind them: at a load of
 * 80 % for four times as long as the stall. */
static void count_late_slot(struct worker *worker, int64_t due_ns, int64_t now_ns, bool free) {
    struct worker_stats *stats = worker->stats;
    int64_t stall_ns = stall_around(worker, due_ns, now_ns, free);
    if (free && stall_ns == 0)
        return; /* only the client's timer was late, which METRIC_LAG shows */
    if (!worker->behind) worker->ours_until_ns = due_ns + WORK_OFF_TIMES * stall_ns;
    worker->behind = true;
    if (due_ns < stage_begin_ns(worker->shared)) return;
    if (stall_ns == 0 && due_ns >= worker->ours_until_ns) {
        stats->queued++;
        return;
    }
    stats->stalled++;
    stats->stalled_missed += now_ns >= stage_last_start_ns(worker->shared);
}

/* Sleeps until when_ns, or until the window ends. */
static void rest_until(struct client *client, int64_t when_ns) {
    client->resting = true;
    lb_sleep_until(when_ns);
    client->resting = false;
}

/* Open loop: takes the thread's next slot for this client, which is free. False when no slot is left. */
static bool next_slot(struct client *client) {
    struct worker *worker = client->worker;
    const struct shared *shared = worker->shared;
    for (;;) {
        int64_t due_ns = schedule_peek(worker->schedule);
        if (due_ns >= stage_end_ns(shared)) return false;
        schedule_take(worker->schedule);
        int64_t now_ns = lb_now();
        /* A client that is free waits for its arrival. */
        bool free = due_ns > now_ns;
        if (free) {
            worker->behind = false;
            rest_until(client, due_ns);
            now_ns = lb_now();
        }
        if (due_ns >= stage_end_ns(shared)) return false; /* the window ended early meanwhile */
        bool counted = due_ns >= stage_begin_ns(shared);
        worker->stats->due += counted;
        if (!free || now_ns - due_ns > STALL_LATE_NS) count_late_slot(worker, due_ns, now_ns, free);
        if (now_ns < stage_last_start_ns(shared) && !lb_stopping()) {
            worker->stats->started += counted;
            client->stamps.due_ns = due_ns;
            client->stamps.started_ns = now_ns;
            return true;
        }
        worker->stats->missed += counted;
    }
}

/* Closed loop: waits until the next attempt is due. */
static bool next_turn(struct client *client) {
    int64_t end_ns = stage_end_ns(client->worker->shared), due_ns = client->next_ns;
    if (due_ns > client->stamps.ended_ns) rest_until(client, due_ns < end_ns ? due_ns : end_ns);
    int64_t now_ns = client->stamps.started_ns = lb_now();
    client->stamps.due_ns = due_ns ? due_ns : now_ns;
    if (due_ns > client->state_since_ns)
        client_spent(client, &client->stats->state_thinking_ns, due_ns < now_ns ? due_ns : now_ns);
    return now_ns < stage_end_ns(client->worker->shared) && !lb_stopping();
}

/* Waits for the next attempt, and says when it was due and when it started. False when the load is
 * over for this client. */
static bool next_attempt(struct client *client) {
    return client->worker->schedule ? next_slot(client) : next_turn(client);
}

/* Ticks count from the begin of the load, so that all threads and processes agree on them. */
static void go_to_tick(struct client *client, uint32_t tick) {
    const struct shared *shared = client->worker->shared;
    int64_t late_ns = dist_draw(&shared->plan->think, &client->rng);
    client->tick = tick;
    client->next_ns = shared->go_ns + (int64_t)tick * shared->plan->tick_ns + late_ns;
}

/* The first tick after the last attempt: a client that is busy at a tick leaves the tick out. */
static uint32_t next_tick(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    int64_t passed = (client->stamps.ended_ns - shared->go_ns) / shared->plan->tick_ns;
    uint32_t now = passed < shared->ticks ? (uint32_t)passed : shared->ticks;
    return (now > client->tick ? now : client->tick) + 1;
}

/* Closed loop: says when the next attempt is due. */
static void plan_next(struct client *client) {
    const struct plan *plan = client->worker->shared->plan;
    if (plan->tick_ns > 0) {
        go_to_tick(client, next_tick(client));
    } else if (plan->think.mean_ns) {
        client->next_ns = client->stamps.ended_ns + dist_draw(&plan->think, &client->rng);
    }
}

/* Draws the key of an attempt into its request, and whether it is a reader. */
static void choose_key(struct client *client) {
    const struct shared *shared = client->worker->shared;
    if (shared->one_key && client->key_index != UINT32_MAX) return;
    if (shared->readers > 0)
        client->request.shared = (int)rng_below(&client->rng, 100) < shared->readers;
    uint32_t index = keys_pick(&shared->keys, client->index, &client->rng);
    if (index == client->key_index) return;
    client->key_index = index;
    shared_choose_key(shared, index, &client->request, client->key);
    /* The wait for another key is a new wait. */
    atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&client->stats->waiting_key, index, memory_order_relaxed);
}

/* Rests after an attempt that could send no request: for nine times what it took to connect in vain. */
static void rest_in_vain(int64_t connecting_ns) {
    int64_t pause_ns = 9 * connecting_ns < PAUSE_NS ? PAUSE_NS : 9 * connecting_ns;
    lb_sleep_until(lb_now() + (pause_ns < PAUSE_MOST_NS ? pause_ns : PAUSE_MOST_NS));
}

/* Chooses a key, and makes the attempt through the client's session. */
static void make_attempt(struct client *client) {
    const struct shared *shared = client->worker->shared;
    const struct plan *plan = shared->plan;
    struct stamps *stamps = &client->stamps;
    enum lb_outcome outcome = LB_BROKEN;
    bool joined = session_join(client);
    if (joined) {
        choose_key(client);
        client->request.deadline_ns = plan->mode == MODE_WAIT ? LB_NEVER
                                      : plan->mode == MODE_TRY
                                          ? 0
                                          : stamps->started_ns + plan->timeout_ns;
        outcome = shared->versions ? update_attempt(client) : attempt(client);
    } else {
        atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
        stamps->granted = false;
        stamps->acquired_ns = stamps->ended_ns = lb_now();
        client_waited(client);
    }
    account_attempt(client, outcome);
    if (outcome > LB_TIMEOUT) client_mend(client, outcome);
    if (joined) session_part(client);
    if (outcome == LB_REFUSED || outcome == LB_BROKEN)
        rest_in_vain(joined ? 0 : stamps->ended_ns - stamps->started_ns);
}

/* Between two attempts: hands figures to the supervisor, and lets other fibers run. Other fibers run also if the
 * client has just waited for an answer: its next request would otherwise overtake the clients whose messages came
 * together with that answer. (redis-reentrant, 16 clients, one key: the longest run was 367 and 412 grants instead of
 * 17 and 18.) */
static void pass_turn(const struct client *client) {
    int64_t now_ns = client->stamps.ended_ns;
    worker_mark(client->worker, now_ns);
    recorder_turn(&client->worker->stats->recorder);
    loop_breathe(now_ns);
}

static void run_load(struct client *client) {
    const struct worker *worker = client->worker;
    struct shared *shared = worker->shared;
    struct stamps *stamps = &client->stamps;
    bool closed = !worker->schedule;
    if (shared->ticks) go_to_tick(client, 0);
    /* The loop goes on after the cut-off, because the arrivals that no client took must still be counted. */
    while (next_attempt(client)) {
        stamps->measured = (closed ? stamps->started_ns : stamps->due_ns) >= stage_begin_ns(shared);
        if (stamps->measured && !client->session->in_window) session_begin_window(client->session);
        stamps->began_ns = stamps->started_ns;
        stamps->stood_ns = stalls_sum(&worker->stats->stalls, stamps->began_ns);
        if (stamps->began_ns - stamps->ended_ns > SESSION_IDLE_NS) session_look(client->session);
        if (shared->churn) connect_anew(client);
        make_attempt(client);
        if (shared->churn && client->session->connected) session_close(client->session);
        if (closed) plan_next(client);
        pass_turn(client);
    }
}

/* After the load: settles what an attempt may have left, and ends the counting. */
static void drain_client(struct client *client) {
    struct session *session = client->session;
    struct shared *shared = client->worker->shared;
    client_spent(client, &client->stats->state_idle_ns, LB_NEVER);
    atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
    /* Other clients may wait for a grant that this client's last attempt may have left on the server. */
    for (int64_t now_ns = lb_now(); client->unsettled_until_ns && !lb_stopping(); now_ns = lb_now())
        if (!session_restore(client)) rest_in_vain(lb_now() - now_ns);
    if (!session->connected && !lb_stopping()) session_restore(client);
    if (session->unreachable) atomic_fetch_add(&shared->adrift, 1);
    session_end_window(session);
    atomic_fetch_add(&shared->drained, 1);
    client->stats->drained = true;
}

/* Makes keys ready from the index on, as many as one call of the driver takes. Returns how many, or -1 with err. */
static int64_t arm_some(struct shared *shared, struct lb_session *session, uint32_t from,
                        struct lb_err *err) {
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    char name[KEY_TEXT_MAX];
    struct lb_request request = shared_request(shared, from, name);
    if (!algorithm->arm_range || shared->plan->key_names.count > 0)
        return algorithm->arm(session, &request, err) == 0 ? 1 : -1;
    uint32_t left = shared->key_count - from;
    const struct lb_key_range range = {.prefix = shared->key_prefix,
                                       .first = from,
                                       .count = left < LB_RANGE_MAX ? left : LB_RANGE_MAX};
    return algorithm->arm_range(session, &range, &request, err) == 0 ? (int64_t)range.count : -1;
}

/* Makes the server ready for the stage's keys. The first client does it for all. */
static int prepare_keys(struct client *client, struct lb_err *err) {
    struct shared *shared = client->worker->shared;
    const struct lb_lock *lock = shared->lock->lock;
    struct lb_session *session = &client->session->lb;
    if (lock->algorithm->setup && lock->algorithm->setup(session, err) != 0) return -1;
    if (!lock->algorithm->arm) return 0;
    for (uint32_t ready = 0; ready < shared->key_count;) {
        if (lb_stopping()) return err_set(err, LB_EXIT_INTERRUPTED, "interrupted");
        int64_t armed = arm_some(shared, session, ready, err);
        if (armed < 0) return -1;
        ready += (uint32_t)armed;
    }
    return 0;
}

/* Opens the session when it is the client's turn. 0, or -1 with err. */
static int open_in_turn(struct client *client, struct lb_err *err) {
    const struct shared *shared = client->worker->shared;
    struct gate *gate = &client->worker->opening[client->index % CLIENTS_OPENING];
    if (!gate_enter(gate, shared->connect_deadline_ns))
        return err_set(
            err, LB_EXIT_MACHINE,
            "the client's turn to connect did not come in time: the clients before it took too "
            "long");
    int64_t begin_ns = lb_now();
    int failed = session_open(client->session, shared->connect_deadline_ns, err);
    if (!failed) client->stats->connect_ns = lb_now() - begin_ns;
    gate_leave(gate);
    return failed;
}

/* Opens the session, or waits for the client that opens it. */
static void open_first(struct client *client) {
    struct session *session = client->session;
    struct shared *shared = client->worker->shared;
    struct lb_err err = {0};
    if (client->stats->joined) {
        while (!session->tried) lb_sleep_until(lb_now() + FIRST_LOOK_NS);
    } else {
        session->failed = open_in_turn(client, &err) != 0;
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

/* Tells the engine the memory that each attempt touches. */
static void warm_client(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    const struct session *session = client->session;
    size_t state_bytes =
        session->memory_bytes < STATE_HEAD_BYTES ? session->memory_bytes : STATE_HEAD_BYTES;
    lb_warm(LB_WARM_CLIENT, client, sizeof *client);
    lb_warm(LB_WARM_STATS, client->stats, offsetof(struct client_stats, joined));
    /* That of a key which several clients use is in the cache anyway, or nobody knows which comes next. */
    if (shared->plan->keys.pick == KEYS_OWN)
        lb_warm(LB_WARM_CELL, &shared->cells[client->index], sizeof *shared->cells);
    lb_warm(LB_WARM_GRANT, client->grant.data, client->session->lb.lock->algorithm->grant_bytes);
    lb_warm(LB_WARM_SESSION, session, offsetof(struct session, lb.err.text));
    lb_warm(LB_WARM_SESSION_USE, &session->lb.state,
            offsetof(struct session, memory) - offsetof(struct session, lb.state));
    lb_warm(LB_WARM_STATE, session->memory, state_bytes);
}

void client_run(void *arg) {
    struct client *client = arg;
    struct session *session = client->session;
    struct shared *shared = client->worker->shared;
    bool first = client->index == 0;
    client->fiber = lb_self();
    open_first(client);

    wait_phase(client, PHASE_PING);
    if (first) ping_server(client);
    wait_phase(client, PHASE_GO);
    if (shared->churn) session_close(session);
    lb_sleep_until(shared->go_ns);
    client->state_since_ns = shared->go_ns;
    warm_client(client);
    run_load(client);
    drain_client(client);

    wait_phase(client, PHASE_PING2);
    if (first) ping_server(client);
    wait_phase(client, PHASE_CLOSE);
    client->fiber = NULL;
    bool last = true;
    for (uint32_t i = 0; i < session->client_count; i++) last &= session->clients[i].fiber == NULL;
    if (last) session_close(session);
    atomic_fetch_add(&shared->closed, 1);
    client->stats->closed = true;
}
