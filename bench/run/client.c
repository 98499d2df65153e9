/* client: see client.h. The hot path is `cycle`: from due to released it has no allocation, no lock, no
 * printing, and no system call but the lock's own waits.
 *
 * Attempts in the window are accounted so: attempts = ok + busy + timeout + lost + unknown + refused +
 * broken.
 */
#include "bench/run/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine/loop.h"
#include "bench/run/traffic.h"

#define PINGS 500                  /* at most, before the load and again after it ... */
#define PING_NS (100 * LB_MS_NS)   /* ... and for at most so long */
#define RECONNECT_NS (5 * LB_S_NS) /* for one try */
#define PAUSE_NS (20 * LB_MS_NS)   /* after an attempt that could not even ask */

int client_init(struct client *client, struct worker *worker, uint32_t index) {
    struct shared *shared = worker->shared;
    const struct lb_lock *lock = shared->lock->lock;
    size_t session_bytes = (lock->backend->session_bytes + 63) & ~(size_t)63;
    size_t lock_bytes = (lock->session_bytes + 63) & ~(size_t)63;
    size_t grant_bytes = (lock->grant_bytes + 63) & ~(size_t)63;
    client->memory_bytes = session_bytes + lock_bytes;
    client->memory = calloc(1, client->memory_bytes + grant_bytes + 1);
    if (!client->memory) return -1;
    client->worker = worker;
    client->stats = &shared->client[index];
    client->session = (struct lb_session){
        .server = shared->server,
        .lock = lock,
        .options = shared->lock->options,
        .client = index,
        .lease_ns = shared->plan->lease_ns,
        .traffic_fd = -1,
        .state = client->memory,
        .lock_state = (char *)client->memory + session_bytes,
    };
    rng_seed(&client->session.rng, shared->seed, 2 * (uint64_t)index);
    rng_seed(&client->rng, shared->seed, 2 * (uint64_t)index + 1);
    client->grant.data = (char *)client->memory + client->memory_bytes;
    client->prefix_len = strlen(shared->key_prefix);
    memcpy(client->key, shared->key_prefix, client->prefix_len);
    client->key_index = UINT32_MAX;
    client->request = (struct lb_request){.key = client->key, .lease_ns = shared->plan->lease_ns};
    return 0;
}

void client_done(struct client *client) {
    free(client->memory);
    client->memory = NULL;
}

void worker_mark(struct worker *worker, int64_t now_ns) {
    struct worker_stats *stats = worker->stats;
    struct shared *shared = worker->shared;
    if (!stats->cpu_began && now_ns >= atomic_load_explicit(&shared->window_begin_ns, memory_order_relaxed)) {
        stats->cpu_begin_ns = thread_cpu_ns();
        stats->cpu_began = true;
    }
    if (stats->cpu_began && !stats->cpu_ended &&
        now_ns >= atomic_load_explicit(&shared->window_end_ns, memory_order_relaxed)) {
        stats->cpu_end_ns = thread_cpu_ns();
        stats->cpu_ended = true;
    }
}

/* Waits for the supervisor, whatever the cut-off says. */
static void wait_phase(struct client *client, enum phase phase) {
    loop_shield(true);
    while (atomic_load(&client->worker->shared->phase) < (int)phase) lb_sleep_until(LB_NEVER);
    loop_shield(false);
}

static void keep_first_err(struct client *client) {
    struct lb_err *err = &client->session.err;
    struct lb_err *first = &client->worker->stats->first_err;
    if (err->code && !first->code) *first = *err;
    err->code = 0;
}

static uint64_t client_bytes(const struct client *client) {
    int fd = client->session.traffic_fd;
    return client->session.more_bytes + (fd >= 0 ? traffic_bytes(fd) : 0);
}

static void close_session(struct client *client) {
    const struct lb_backend *backend = client->session.server->backend;
    if (client->in_window && client->session.traffic_fd >= 0) {
        client->stats->bytes += client_bytes(client) - client->bytes_begin;
        client->bytes_begin = client->session.more_bytes; /* the next connection counts from nothing */
    }
    if (backend->disconnect) backend->disconnect(&client->session);
    client->connected = false;
    client->session.traffic_fd = -1;
    memset(client->memory, 0, client->memory_bytes);
}

static int open_session(struct client *client, int64_t deadline_ns, struct lb_err *err) {
    const struct lb_backend *backend = client->session.server->backend;
    if (backend->connect && backend->connect(&client->session, deadline_ns, err) != 0) {
        close_session(client);
        return -1;
    }
    client->session.err.code = 0;
    client->connected = true;
    return 0;
}

/* A fresh session after one that broke, cleared of what an unknown attempt may have left. */
static bool restore(struct client *client) {
    const struct lb_lock *lock = client->session.lock;
    if (!client->connected) {
        struct lb_err err = {0};
        client->unreachable = open_session(client, lb_now() + RECONNECT_NS, &err) != 0 && !lb_stopping();
        if (!client->connected) {
            client->session.err = err;
            return false;
        }
    }
    if (!client->unsettled) return true;
    if (lock->settle && lock->settle(&client->session, &client->request, &client->grant) != LB_OK) {
        close_session(client);
        /* A lease ends by itself; a session may outlast what was asked for, so it must be settled. */
        bool over = lb_now() >= client->unsettled_until_ns;
        if ((lock->caps & LB_CAP_LEASE) && over) client->unsettled = false;
        return false;
    }
    client->unsettled = false;
    return true;
}

static void ping(struct client *client) {
    const struct lb_backend *backend = client->session.server->backend;
    if (!backend->ping || !client->connected) return;
    int64_t now_ns = lb_now(), end_ns = now_ns + PING_NS;
    for (int i = 0; i < PINGS && now_ns < end_ns && !lb_stopping(); i++) {
        int64_t start_ns = now_ns;
        enum lb_outcome outcome = backend->ping(&client->session, start_ns + RECONNECT_NS);
        now_ns = lb_now();
        if (outcome != LB_OK) {
            keep_first_err(client);
            if (outcome != LB_REFUSED) close_session(client);
            return;
        }
        recorder_add(&client->worker->stats->recorder, METRIC_PING, now_ns - start_ns);
    }
}

static void choose_key(struct client *client) {
    const struct shared *shared = client->worker->shared;
    uint32_t index = keys_pick(&shared->keys, client->session.client, &client->rng);
    if (index == client->key_index) return;
    client->key_index = index;
    char digits[12];
    int count = 0;
    uint32_t rest = index;
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    char *at = client->key + client->prefix_len;
    while (count > 0) *at++ = digits[--count];
    *at = '\0';
    client->request.key_len = (size_t)(at - client->key);
    client->request.key_index = index;
    /* A bijection of (salt + index): distinct keys of a stage get distinct numbers. */
    client->request.key_number = (shared->key_salt + index) & (UINT64_MAX >> 1);
}

/* Counting of commands and bytes begins with the client's first attempt in the window. */
static void begin_window(struct client *client) {
    client->in_window = true;
    client->commands_begin = client->session.commands;
    client->bytes_begin = client_bytes(client);
    client->stats->bytes_known = client->session.traffic_fd >= 0;
}

static void end_window(struct client *client) {
    if (!client->in_window) return;
    client->in_window = false;
    client->stats->commands = client->session.commands - client->commands_begin;
    client->stats->bytes += client_bytes(client) - client->bytes_begin;
}

/* Passes the hold time, renewing a lease that would not last. LB_OK, or what a renewal said. */
static enum lb_outcome hold(struct client *client, int64_t acquired_ns) {
    const struct shared *shared = client->worker->shared;
    const struct plan *plan = shared->plan;
    const struct lb_lock *lock = client->session.lock;
    int64_t hold_ns = plan->hold.mean_ns ? dist_draw(&plan->hold, &client->rng) : 0;
    if (hold_ns == 0) {
        /* Where nobody can meet there is no overlap to make room for. */
        bool can_meet = shared->clients > 1 && plan->keys.pick != KEYS_OWN;
        if (plan->gap == GAP_YIELD && can_meet) lb_yield();
        if (plan->gap == GAP_TIME) lb_sleep_until(acquired_ns + plan->gap_ns);
        return LB_OK;
    }
    int64_t end_ns = acquired_ns + hold_ns;
    /* A third of the lease, as Redisson's watchdog and etcd's keepalive do. */
    int64_t every_ns = plan->renew && lock->renew ? plan->lease_ns / 3 : LB_NEVER;
    int64_t next_ns = lb_after(acquired_ns, every_ns);
    while (next_ns < end_ns && !lb_stopping()) {
        lb_sleep_until(next_ns);
        enum lb_outcome outcome = lock->renew(&client->session, &client->request, &client->grant);
        if (outcome != LB_OK) return outcome;
        next_ns += every_ns;
    }
    lb_sleep_until(end_ns);
    return LB_OK;
}

static void count(_Atomic uint64_t *counter) {
    /* One writer: no locked instruction is needed. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* What follows an attempt that ended otherwise than well. */
static void mend(struct client *client, enum lb_outcome outcome) {
    keep_first_err(client);
    if (outcome == LB_UNKNOWN) {
        client->unsettled = true;
        client->unsettled_until_ns = lb_after(lb_now(), client->request.lease_ns);
    }
    if (outcome == LB_UNKNOWN || outcome == LB_BROKEN) close_session(client);
    if (outcome == LB_REFUSED || outcome == LB_BROKEN) lb_sleep_until(lb_now() + PAUSE_NS);
}

static void record_failed(struct client *client, int64_t waited_ns) {
    recorder_add(&client->worker->stats->recorder, METRIC_WAIT_FAILED, waited_ns);
    if (waited_ns > client->stats->max_wait_ns) client->stats->max_wait_ns = waited_ns;
}

/* One attempt, due and started at these moments: acquire, guard, hold, release, record. */
static void cycle(struct client *client, int64_t due_ns, int64_t started_ns, bool measured) {
    struct worker_stats *stats = client->worker->stats;
    struct shared *shared = client->worker->shared;
    const struct plan *plan = shared->plan;
    const struct lb_lock *lock = client->session.lock;

    enum lb_outcome outcome = LB_BROKEN;
    if ((client->connected && !client->unsettled) || restore(client)) {
        choose_key(client);
        client->request.deadline_ns = plan->mode == MODE_WAIT  ? LB_NEVER
                                      : plan->mode == MODE_TRY ? 0
                                                               : started_ns + plan->timeout_ns;
        outcome = lock->acquire(&client->session, &client->request, &client->grant);
    }
    int64_t acquired_ns = lb_now();
    client->ended_ns = acquired_ns;
    if (outcome == LB_OK) {
        struct holding me = {client->session.client, acquired_ns, client->grant.lease_end_ns,
                             client->grant.token};
        uint32_t place = (lock->caps & LB_CAP_BASELINE) ? client->session.client : client->key_index;
        struct cell *cell = &shared->cells[place];
        client->stats->inside = true;
        struct entry entry = cell_enter(cell, &shared->findings, place, &me);

        outcome = hold(client, acquired_ns);

        int64_t releasing_ns = lb_now();
        cell_leave(cell, me.client, &entry, releasing_ns);
        client->stats->inside = false;
        if (outcome == LB_OK) outcome = lock->release(&client->session, &client->request, &client->grant);
        int64_t released_ns = lb_now();
        client->ended_ns = released_ns;
        if (measured) {
            struct recorder *recorder = &stats->recorder;
            int64_t waited_ns = acquired_ns - started_ns;
            recorder_add(recorder, METRIC_ACQUIRE, waited_ns);
            recorder_add(recorder, METRIC_ACQUIRE_DUE, acquired_ns - due_ns);
            recorder_add(recorder, METRIC_LAG, started_ns - due_ns);
            recorder_add(recorder, METRIC_HOLD, releasing_ns - acquired_ns);
            if (outcome == LB_OK || outcome == LB_LOST) {
                recorder_add(recorder, METRIC_RELEASE, released_ns - releasing_ns);
            }
            /* Only who was waiting when the holder let go was handed anything. */
            if (entry.releasing_ns > started_ns) {
                recorder_add(recorder, METRIC_HANDOFF, acquired_ns - entry.releasing_ns);
            }
            client->stats->grants++;
            if (entry.run > client->stats->longest_run) client->stats->longest_run = entry.run;
            if (waited_ns > client->stats->max_wait_ns) client->stats->max_wait_ns = waited_ns;
        }
    } else if (measured) {
        record_failed(client, acquired_ns - started_ns);
    }
    if (measured) {
        count(&stats->attempts);
        count(&stats->outcomes[outcome]);
    }
    if (outcome > LB_TIMEOUT) mend(client, outcome);
}

/* The next attempt's moments. False when the load is over for this client. */
static bool next(struct client *client, int64_t *ret_due_ns, int64_t *ret_started_ns) {
    struct worker *worker = client->worker;
    struct shared *shared = worker->shared;
    int64_t end_ns = atomic_load_explicit(&shared->window_end_ns, memory_order_relaxed);
    if (!worker->schedule) {
        int64_t due_ns = client->next_ns;
        if (due_ns > client->ended_ns) lb_sleep_until(due_ns < end_ns ? due_ns : end_ns);
        *ret_started_ns = lb_now();
        *ret_due_ns = due_ns ? due_ns : *ret_started_ns;
        return *ret_started_ns < atomic_load_explicit(&shared->window_end_ns, memory_order_relaxed);
    }
    /* Open loop: the thread's slots, in order, each to the first client that is free. */
    for (;;) {
        int64_t due_ns = schedule_peek(worker->schedule);
        if (due_ns >= atomic_load_explicit(&shared->window_end_ns, memory_order_relaxed)) return false;
        schedule_take(worker->schedule);
        bool counted = due_ns >= atomic_load_explicit(&shared->window_begin_ns, memory_order_relaxed);
        worker->stats->due += counted;
        int64_t now_ns = lb_now();
        if (due_ns > now_ns) {
            lb_sleep_until(due_ns);
            now_ns = lb_now();
        }
        if (now_ns < atomic_load_explicit(&shared->window_end_ns, memory_order_relaxed) && !lb_stopping()) {
            worker->stats->started += counted;
            *ret_due_ns = due_ns;
            *ret_started_ns = now_ns;
            return true;
        }
        worker->stats->missed += counted;
    }
}

static void load(struct client *client) {
    struct worker *worker = client->worker;
    struct shared *shared = worker->shared;
    const struct dist *think = &shared->plan->think;
    bool closed = !worker->schedule;
    int64_t due_ns, started_ns;
    while (!lb_stopping() && next(client, &due_ns, &started_ns)) {
        bool measured = (closed ? started_ns : due_ns) >=
                        atomic_load_explicit(&shared->window_begin_ns, memory_order_relaxed);
        if (measured && !client->in_window) begin_window(client);
        cycle(client, due_ns, started_ns, measured);
        if (closed && think->mean_ns) client->next_ns = client->ended_ns + dist_draw(think, &client->rng);
        worker_mark(worker, client->ended_ns);
        recorder_turn(&worker->stats->recorder);
        loop_breathe(client->ended_ns);
    }
    /* Others may be waiting for what our last attempt may have left. */
    while (client->unsettled && !lb_stopping() && !restore(client)) lb_sleep_until(lb_now() + PAUSE_NS);
    if (!client->connected && !lb_stopping()) restore(client);
    if (client->unreachable) atomic_fetch_add(&shared->adrift, 1);
    end_window(client);
}

void client_run(void *arg) {
    struct client *client = arg;
    struct shared *shared = client->worker->shared;
    bool first = client->session.client == 0;
    client->fiber = lb_self();
    struct lb_err err = {0};
    int64_t begin_ns = lb_now();
    int failed = open_session(client, shared->connect_deadline_ns, &err);
    if (!failed && first && client->session.lock->setup) {
        failed = client->session.lock->setup(&client->session, &err);
    }
    if (failed) {
        if (!client->worker->stats->err.code) client->worker->stats->err = err;
        atomic_fetch_add(&shared->failed, 1);
    } else {
        client->stats->connect_ns = lb_now() - begin_ns;
    }
    atomic_fetch_add(&shared->connected, 1);

    wait_phase(client, PHASE_PING);
    if (first) {
        ping(client);
        atomic_fetch_add(&shared->pinged, 1);
    }
    wait_phase(client, PHASE_GO);
    lb_sleep_until(shared->go_ns);
    load(client);
    atomic_fetch_add(&shared->drained, 1);

    wait_phase(client, PHASE_PING2);
    if (first) {
        ping(client);
        atomic_fetch_add(&shared->pinged, 1);
    }
    wait_phase(client, PHASE_CLOSE);
    close_session(client);
    client->fiber = NULL;
    atomic_fetch_add(&shared->closed, 1);
}
