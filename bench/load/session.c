/* session: see session.h. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "bench/load/session.h"

#include <errno.h>
#include <linux/tcp.h> /* the kernel's struct: glibc's lacks the byte counts */
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bench/engine/loop.h"
#include "bench/load/observe.h"

#define RECONNECT_NS (5 * LB_S_NS) /* time limit of one try to reconnect */
#define LOOK_NS LB_MS_NS           /* pause between looks while another client opens or closes */

/* The driver says that the session is lost. It may do so on a helper fiber, so nothing is closed
 * here. */
static void on_lost(struct lb_session *lb) {
    struct session *session = lb->core;
    session->ended = true;
    session_break(session);
}

int session_init(struct session *session, struct worker *worker, struct client *clients,
                 uint32_t first, uint32_t count) {
    struct shared *shared = worker->shared;
    const struct lb_lock *lock = shared->lock->lock;
    size_t session_bytes = (lock->backend->connector->session_bytes + 63) & ~(size_t)63;
    size_t lock_bytes = (lock->algorithm->session_bytes + 63) & ~(size_t)63;
    session->memory_bytes = session_bytes + lock_bytes;
    session->memory = calloc(1, session->memory_bytes + 1);
    if (!session->memory) return -1;
    session->worker = worker;
    session->algorithm = lock->algorithm;
    session->clients = clients;
    session->client_count = session->present = count;
    session->lb = (struct lb_session){
        .server = shared->server,
        .lock = lock,
        .options = shared->lock->options,
        .client = first,
        .lease_ns = shared->lease_ns,
        .traffic_fd = -1,
        .state = session->memory,
        .lock_state = (char *)session->memory + session_bytes,
        .on_lost = on_lost,
        .injected = &shared->client[first].injected,
        .core = session,
    };
    /* Not from the plan's seed: two runs with the same seed at the same server, at the same time, would give their
     * clients the same names and owner tokens, and NATS would send each answer to both. */
    rng_seed_unique(&session->lb.rng);
    return 0;
}

void session_done(struct session *session) {
    free(session->memory);
    session->memory = NULL;
}

void session_keep_err(struct session *session) {
    struct lb_err *err = &session->lb.err;
    struct lb_err *first = &session->worker->stats->first_err;
    if (err->code && !first->code) *first = *err;
    err->code = 0;
}

/* The session's figures are counted with its first client's. */
static struct client_stats *stats_of(struct session *session) {
    return session->clients[0].stats;
}

/* Payload bytes sent and received by a TCP socket since it was opened; 0 for anything else. */
static uint64_t traffic_bytes(int fd) {
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0) return 0;
    if (len < offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent) return 0;
    return info.tcpi_bytes_sent + info.tcpi_bytes_received;
}

static uint64_t bytes_of(const struct session *session) {
    int fd = session->lb.traffic_fd;
    return session->lb.more_bytes + (fd >= 0 ? traffic_bytes(fd) : 0);
}

/* Adds the bytes since the last call. The next connection counts from 0. */
static void take_bytes(struct session *session) {
    if (session->lb.traffic_fd < 0) return;
    /* A client library may have connected again by itself: its new socket counts from 0 too. */
    uint64_t bytes = bytes_of(session);
    stats_of(session)->bytes += bytes >= session->bytes_begin ? bytes - session->bytes_begin : 0;
    stats_of(session)->bytes_known = true;
    session->bytes_begin = session->lb.more_bytes;
}

/* watchdog: renews the grants that a session's clients hold, as Redisson's watchdog and etcd's
 * keepalive do. Each session has one fiber that renews all grants every third of the lease, counted
 * from the end of the last pass. If a renewal fails, the holder is told at once.
 *
 * The holder itself only reads a flag. The watchdog sees a new grant at its next pass, which begins at the latest
 * after a third of the lease. */

/* The client's grant is lost or uncertain, as the outcome says: its hold ends. */
static void client_tell(struct client *client, enum lb_outcome outcome) {
    if (!client->hold.on || client->hold.told != LB_OK) return;
    client->hold.told = outcome;
    client->hold.told_ns = lb_now();
    if (client->hold.asleep) lb_wake(client->fiber);
}

void client_calls(struct client *client) {
    /* A renewal ends by itself, at the latest when the run is cut off. */
    loop_shield(true);
    gate_enter(&client->hold.gate, LB_NEVER);
    loop_shield(false);
}

void client_called(struct client *client) {
    gate_leave(&client->hold.gate);
}

void client_renewed(struct client *client) {
    struct client_inside *at = &client->at;
    int64_t now_ns = lb_now(), end_ns = client->grant.lease_end_ns;
    if (now_ns > at->lease_end_ns && end_ns > at->lease_end_ns) {
        if (!(at->marks & MARK_LAPSED)) at->lapsed_ns = at->lease_end_ns;
        at->marks |= MARK_LAPSED;
        at->renewed_ns = now_ns;
    }
    at->lease_end_ns = end_ns;
}

static void renew_grant(struct client *client) {
    struct session *session = client->session;
    struct client_stats *stats = client->stats;
    if (__builtin_expect(atomic_load_explicit(&stats->injected.starved, memory_order_relaxed), 0)) {
        count_by(&stats->injected.held_back, 1);
        return;
    }
    if (!gate_enter(&client->hold.gate, LB_NEVER)) return;
    if (client->hold.on && client->hold.told == LB_OK) {
        enum lb_outcome outcome =
            session->lb.lock->algorithm->renew(&session->lb, &client->request, &client->grant);
        if (outcome == LB_OK) {
            count_by(&stats->renewals, 1);
            client_renewed(client);
            observe_renewed(client);
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

static void watchdog_start(struct session *session) {
    const struct lb_lock *lock = session->lb.lock;
    if (!session->worker->shared->plan->renew || !lock->algorithm->renew) return;
    session->watchdog_ends = false;
    /* If there is no memory for the fiber, nothing is renewed, and the leases end. */
    session->watchdog = lb_start_fiber("watchdog", run_watchdog, session);
}

/* Starts to renew the grants of its clients, every third of the lease; stops that, and waits until
 * the renewing fiber has ended. */
static void watchdog_stop(struct session *session) {
    if (!session->watchdog) return;
    session->watchdog_ends = true;
    if (session->watchdog_sleeps) lb_wake(session->watchdog);
    lb_join(session->watchdog);
    session->watchdog = NULL;
}

void session_close(struct session *session) {
    const struct lb_backend *backend = session->lb.server->backend;
    session->moving = true;
    session->connected = false;
    watchdog_stop(session);
    if (session->in_window) take_bytes(session);
    if (backend->connector->disconnect) backend->connector->disconnect(&session->lb);
    session->lb.traffic_fd = -1;
    memset(session->memory, 0, session->memory_bytes);
    session->broken = false;
    session->moving = false;
}

/* Each closed connection keeps its local port for a minute, so many short sessions use them up. */
static void name_lack_of_ports(struct lb_err *err) {
    size_t used = strlen(err->text);
    if (strstr(err->text, strerror(EADDRNOTAVAIL)) && !strstr(err->text, "ip_local_port_range"))
        snprintf(err->text + used, sizeof err->text - used,
                 ": this machine has no free local port: widen net.ipv4.ip_local_port_range");
}

int session_open(struct session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct lb_backend *backend = session->lb.server->backend;
    session->moving = true;
    session->lb.lasts_until_ns = 0;
    if (backend->connector->connect &&
        backend->connector->connect(&session->lb, deadline_ns, err) != 0) {
        session_close(session);
        name_lack_of_ports(err);
        return -1;
    }
    session->lb.err.code = 0;
    session->moving = session->broken = session->ended = false;
    session->connected = true;
    watchdog_start(session);
    return 0;
}

/* Closes a broken session and opens it again. False if that is not possible now. */
static bool reopen_session(struct session *session) {
    for (;;) {
        /* Another client still calls through the session, or opens or closes it. */
        while (session->moving || (session->broken && session->users > 0)) {
            if (lb_stopping()) return false;
            lb_sleep_until(lb_now() + LOOK_NS);
        }
        if (!session->broken) break;
        session_close(session);
    }
    if (session->connected) return true;
    struct lb_err err = {0};
    session->unreachable =
        session_open(session, lb_now() + RECONNECT_NS, &err) != 0 && !lb_stopping();
    if (!session->connected) session->lb.err = err;
    return session->connected;
}

/* Removes a grant or a place in a queue that an attempt with an unknown outcome may have left, on another connection
 * than the attempt's. */
static bool settle_attempt(struct client *client) {
    struct session *session = client->session;
    const struct lb_lock *lock = session->lb.lock;
    if (!lock->algorithm->settle) {
        client->unsettled_until_ns = 0;
        return true;
    }
    session->users++;
    bool settled = lock->algorithm->settle(&session->lb, &client->request, &client->grant) == LB_OK;
    if (!settled) {
        session_break(session);
        /* A lease ends by itself. A session may last longer than was asked for, so its grants must
         * be settled. */
        bool over = lb_now() >= client->unsettled_until_ns;
        if ((lock->caps & LB_CAP_LEASE) && over) client->unsettled_until_ns = 0;
    } else {
        client->unsettled_until_ns = 0;
    }
    session_part(client);
    return settled;
}

bool session_restore(struct client *client) {
    /* If the session was lost while an attempt was settled, the last client that left it has closed it. */
    while (reopen_session(client->session)) {
        if (!client->unsettled_until_ns) return true;
        if (!settle_attempt(client)) return false;
    }
    return false;
}

void session_break(struct session *session) {
    if (session->broken) return;
    session->broken = true;
    if (!(session->lb.lock->caps & LB_CAP_SESSION)) return;
    /* The grants of the other clients end with the session. */
    for (uint32_t i = 0; i < session->client_count; i++) client_tell(&session->clients[i], LB_LOST);
}

/* Whether the session's connection is closed. No fiber reads from it while its clients rest, so only the
 * socket's state shows that. */
static bool hung_up(const struct session *session) {
    struct pollfd look = {.fd = session->lb.traffic_fd, .events = POLLRDHUP};
    return look.fd >= 0 && poll(&look, 1, 0) > 0 &&
           (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void session_look(struct session *session) {
    const struct lb_lock *lock = session->lb.lock;
    /* A session of ZooKeeper or etcd outlives its connections, which its driver makes anew. */
    bool outlives = (lock->caps & LB_CAP_SESSION) && lock->about.crash != LB_CRASH_AT_ONCE;
    bool at_rest = session->connected && session->users == 0 && !session->moving;
    if (at_rest && !outlives && hung_up(session)) session_break(session);
}

bool session_is_over(const struct client *client, int64_t when_ns) {
    const struct session *session = client->session;
    int64_t lasts_ns = session->lb.lasts_until_ns;
    if (!(session->lb.lock->caps & LB_CAP_SESSION) || client->grant.lease_end_ns != LB_NEVER)
        return false;
    return session->ended || (lasts_ns != 0 && when_ns >= lasts_ns);
}

void session_part_last(struct session *session) {
    if (!session->moving) session_close(session);
}

void session_begin_window(struct session *session) {
    session->in_window = true;
    session->commands_begin = session->lb.commands;
    session->wakeups_begin = session->lb.wakeups;
    session->bytes_begin = bytes_of(session);
}

void session_end_window(struct session *session) {
    if (--session->present > 0 || !session->in_window) return;
    session->in_window = false;
    stats_of(session)->commands = session->lb.commands - session->commands_begin;
    stats_of(session)->wakeups = session->lb.wakeups - session->wakeups_begin;
    take_bytes(session);
}

void client_mend(struct client *client, enum lb_outcome outcome) {
    session_keep_err(client->session);
    if (outcome == LB_UNKNOWN) {
        client->unsettled_until_ns = lb_after(lb_now(), client->request.lease_ns);
    }
    /* A grant that could not be released stays on the server until its lease ends. */
    if (outcome == LB_UNKNOWN || (outcome != LB_LOST && client->request.held > 0)) {
        client->worker->stats->unsure = true;
        if (!lb_stopping()) atomic_store(&client->worker->shared->unsure_ns, lb_now());
    }
    if (outcome == LB_UNKNOWN || outcome == LB_BROKEN) session_break(client->session);
}
