/* session: see session.h. It opens, pumps and closes sessions; calls.c sends the requests of the algorithms. */
#define _GNU_SOURCE /* memmem */
#include "drivers/zookeeper/session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "drivers/injected.h"
#include "drivers/wait.h"

#define SHORT_MS 50 /* a session time-out in which a connection may not be made */
#define GREETING_BYTES_MAX 65536
#define PING_XID 0xfffffffe
#define PING_EARLY_NS (2 * LB_MS_NS) /* more than the error by which the library rounds its times */
#define STARVED_LOOK_NS                                                                            \
    (10 * LB_MS_NS)              /* the pause between two checks whether the fault has ended */
#define GOODBYE_NS (2 * LB_S_NS) /* how long to wait for the server to end a session */

bool zk_session_connected(const struct zk_session *z) {
    return z->handle && z->running && zoo_state(z->handle) == ZOO_CONNECTED_STATE;
}

void zk_session_sent(struct zk_session *z) {
    if (zoo_state(z->handle) == ZOO_CONNECTED_STATE) return;
    z->down = true;
    lb_wake(z->pump);
}

int64_t zk_session_end_ns(const struct zk_session *z) {
    return z->down ? z->heard_ns + z->timeout_ms * LB_MS_NS : LB_NEVER;
}

void zk_session_enlist(struct zk_session *z, struct zk_idler *idler) {
    idler->next = z->idlers;
    z->idlers = idler;
}

void zk_session_delist(struct zk_session *z, struct zk_idler *idler) {
    struct zk_idler **at = &z->idlers;
    while (*at && *at != idler) at = &(*at)->next;
    if (*at) *at = idler->next;
}

bool zk_session_idle(struct zk_session *z, struct zk_idler *idler, int64_t deadline_ns) {
    if (lb_stopping() || lb_now() >= deadline_ns) return false;
    struct zk_idler own = {0};
    struct zk_idler *me = idler ? idler : &own;
    if (!idler) zk_session_enlist(z, me);
    me->fiber = lb_self();
    lb_sleep_until(deadline_ns);
    me->fiber = NULL;
    if (!idler) zk_session_delist(z, me);
    return !lb_stopping();
}

static void wake_idlers(struct zk_session *z) {
    for (struct zk_idler *at = z->idlers; at; at = at->next) {
        if (at->fiber) lb_wake(at->fiber);
    }
}

bool zk_session_over(const struct zk_session *z) {
    if (z->ignores_loss) return false;
    return z->expired || z->lost || lb_now() >= z->heard_ns + z->timeout_ms * LB_MS_NS;
}

/* Reports the loss of a session. A holder must learn of it before it writes again. After a pause
 * of this process this runs as soon as the closed connection is seen, because the loop looks at
 * connections before it wakes sleeping fibers. */
static void tell_if_over(struct zk_session *z) {
    if (!z->stood || z->lost || !zk_session_over(z)) return;
    z->lost = true;
    lb_session_lost(z->owner);
}

/* Notes the local address of the connection, which Curator writes into its nodes. */
static void learn_address(struct zk_session *z) {
    struct sockaddr_storage own = {0};
    socklen_t len = sizeof own;
    if (getsockname(z->fd, (struct sockaddr *)&own, &len) != 0) return;
    const void *bytes = own.ss_family == AF_INET6
                            ? (const void *)&((struct sockaddr_in6 *)&own)->sin6_addr
                            : (const void *)&((struct sockaddr_in *)&own)->sin_addr;
    inet_ntop(own.ss_family, bytes, z->address, sizeof z->address);
}

void zk_session_heard(struct zk_session *z, int64_t sent_ns) {
    if (sent_ns < z->heard_ns) return;
    z->heard_ns = sent_ns;
    lb_session_renewed(z->owner, sent_ns + z->timeout_ms * LB_MS_NS);
    if (z->ping_ns < sent_ns) z->ping_ns = 0; /* answers come in the order of the requests */
}

/* To be called before zookeeper_interest. That function pings when no request is on its way and nothing was sent for a
 * third of the time-out, in whole milliseconds, but it does not tell whether it has. */
static void note_turn(struct zk_session *z) {
    z->turn_ns = lb_now();
    int64_t due_ns = z->sent_ns + z->timeout_ms * LB_MS_NS / 3 - PING_EARLY_NS;
    if (!z->stood || z->turn_ns < due_ns) return;
    for (const struct zk_slot *at = z->sent; at; at = at->next) {
        if (!at->done) return;
    }
    z->sent_ns = z->turn_ns;
    if (!z->ping_ns) z->ping_ns = z->turn_ns;
}

/* Whether the answer to a ping is what the library will read now. */
static bool is_ping_answered(const struct zk_session *z) {
    uint32_t head[2]; /* length, xid */
    return z->ping_ns &&
           recv(z->fd, head, sizeof head, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof head &&
           ntohl(head[1]) == PING_XID;
}

/* The library calls this from zookeeper_process and zookeeper_interest, so on the pump's fiber: no
 * waiting. */
static void on_state(zhandle_t *handle, int type, int state, const char *path, void *context) {
    (void)path;
    struct zk_session *z = context;
    if (type != ZOO_SESSION_EVENT) return;
    if (state == ZOO_CONNECTED_STATE) {
        struct zk_server *server = z->owner->server->state;
        atomic_store(&server->reached, true);
        z->timeout_ms = zoo_recv_timeout(handle);
        z->sent_ns = z->connect_ns;
        zk_session_heard(z, z->connect_ns);
        z->down = false;
        z->stood = true;
        z->refusals = 0;
        learn_address(z);
    } else {
        z->down = true;
    }
    wake_idlers(z);
}

/* Notes the socket that the library uses now. The library closes sockets without a notice, so the
 * loop forgets a changed or closed socket here, before another one with the same number is opened
 * on this thread. */
static void note_socket(struct zk_session *z, int fd) {
    if (fd == z->fd) return;
    if (z->fd >= 0) lb_fd_forget(z->fd);
    z->fd = fd;
    z->connect_ns = z->turn_ns;
    z->ping_ns = 0;
    z->unheard = true;
    z->owner->traffic_fd = fd;
}

/* Ends a connection whose first answer announces an absurd length; a real one has about 40
 * bytes. The library would allocate that much memory and fill it with whatever the server sends.
 * Returns the socket's error, or 0: a socket tells it once, so the library does not learn it. */
static int end_if_absurd(struct zk_session *z) {
    uint32_t length;
    if (!z->unheard) return 0;
    z->unheard = false;
    ssize_t got = recv(z->fd, &length, sizeof length, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN ? 0 : errno;
    if (got == (ssize_t)sizeof length && ntohl(length) > GREETING_BYTES_MAX)
        shutdown(z->fd, SHUT_RDWR);
    return 0;
}

static void note_failure(struct zk_session *z, int rc, int error) {
    note_socket(z, -1);
    bool refused = error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
    z->refusals = refused ? z->refusals + 1 : 0; /* a server that hangs up may be electing */
    z->last_rc = rc;
    z->last_errno = rc == ZOPERATIONTIMEOUT ? ETIMEDOUT : error;
    z->down = true;
    if (is_unrecoverable(z->handle)) z->expired = true;
    tell_if_over(z);
    wake_idlers(z);
}

/* A fault holds the renewals of this session back. The library pings only while it is called, and
 * it reads answers, events and the end of its connection on the same thread. So none of these come
 * meanwhile, as in a real client whose thread gets no processor; requests are still sent. */
static void stand_while_starved(struct zk_session *z) {
    if (!lb_is_starved(z->owner) || !zk_session_connected(z)) return;
    int64_t every_ns = z->timeout_ms * LB_MS_NS / 3, ping_ns = lb_now() + every_ns;
    while (!z->stop && !lb_stopping() && lb_is_starved(z->owner)) {
        lb_sleep_until(lb_now() + STARVED_LOOK_NS);
        if (lb_now() < ping_ns) continue;
        lb_held_back(z->owner);
        ping_ns += every_ns;
    }
}

static void run_pump(void *arg) {
    struct zk_session *z = arg;
    while (!z->stop && !z->expired && !lb_stopping()) {
        stand_while_starved(z);
        if (z->stop) break;
        int fd = -1, interest = 0;
        struct timeval wait = {0, 0};
        errno = 0;
        note_turn(z);
        int rc = zookeeper_interest(z->handle, &fd, &interest, &wait);
        if (rc != ZOK) {
            note_failure(z, rc, errno);
            lb_yield();
            continue;
        }
        note_socket(z, fd);
        struct lb_poll poll = {.fd = fd,
                               .events = ((interest & ZOOKEEPER_READ) ? LB_READABLE : 0) |
                                         ((interest & ZOOKEEPER_WRITE) ? LB_WRITABLE : 0)};
        int64_t until_ns =
            z->turn_ns + (int64_t)wait.tv_sec * LB_S_NS + (int64_t)wait.tv_usec * LB_US_NS;
        if (!z->lost && z->stood && zk_session_end_ns(z) < until_ns)
            until_ns = zk_session_end_ns(z);
        int ready = lb_wait_any(&poll, fd >= 0, until_ns);
        if (z->stop) break;
        tell_if_over(z); /* before data that arrived meanwhile is read */
        if (ready <= 0) continue;
        int events = ((poll.ready & (LB_READABLE | LB_HANGUP)) ? ZOOKEEPER_READ : 0) |
                     ((poll.ready & (LB_WRITABLE | LB_HANGUP)) ? ZOOKEEPER_WRITE : 0);
        int error = (events & ZOOKEEPER_READ) ? end_if_absurd(z) : 0;
        bool pong = (events & ZOOKEEPER_READ) && is_ping_answered(z);
        errno = 0;
        rc = zookeeper_process(z->handle, events);
        if (rc != ZOK && rc != ZNOTHING) {
            note_failure(z, rc, error ? error : errno);
        } else if (pong) {
            zk_session_heard(z, z->ping_ns);
            z->ping_ns = 0;
        }
    }
    z->running = false;
    wake_idlers(z);
    for (struct zk_slot *at = z->sent; at; at = at->next) {
        if (!at->abandoned) lb_wake(at->fiber);
    }
}

/* What may be wrong where servers hang up without an answer. */
static const char *hint_of(const struct zk_session *z, const struct zk_server *server) {
    if (z->refusals > 0) return "";
    if (z->timeout_ms < SHORT_MS)
        return ": the lease, which is the session's time-out, is too short to connect";
    /* It served others before, so it speaks no TLS. */
    if (atomic_load(&server->reached) && z->last_errno != ETIMEDOUT)
        return ": a server takes no more connections of one address than its maxClientCnxns";
    return ": if it speaks TLS, give a tunnel to it";
}

static int whole_ms(int64_t ns) {
    int64_t ms = ns / LB_MS_NS;
    return ms < 1 ? 1 : ms > 3600 * 1000 ? 3600 * 1000 : (int)ms;
}

int zk_session_open(struct zk_session *z, struct lb_session *owner, const clientid_t *previous,
                    int64_t deadline_ns, bool *ret_gone, struct lb_err *err) {
    const struct zk_server *server = owner->server->state;
    z->owner = owner;
    z->fd = -1;
    owner->traffic_fd = -1;
    z->timeout_ms = whole_ms(owner->lease_ns > 0 ? owner->lease_ns : 10 * LB_S_NS);
    z->down = true;
    z->heard_ns = lb_now();
    z->handle =
        zookeeper_init(server->hosts, on_state, z->timeout_ms, previous, z, ZOO_NO_LOG_CLIENTENV);
    if (!z->handle) {
        return err_set(err, LB_EXIT_MACHINE, "zookeeper at %s: %s", server->shown, strerror(errno));
    }
    /* The library would look up its servers' names at each zookeeper_interest, with a netlink
     * dump and a read of /dev/urandom: half of the processor time of a request. Our server names
     * are numeric addresses. */
    zoo_set_servers_resolution_delay(z->handle, -1);
    if (server->credentials[0] &&
        zoo_add_auth(z->handle, "digest", server->credentials, (int)strlen(server->credentials),
                     NULL, NULL) != ZOK) {
        return err_set(err, LB_EXIT_MACHINE, "zookeeper at %s: cannot use the user and password",
                       server->shown);
    }
    z->running = true;
    z->pump = lb_start_fiber("zookeeper pump", run_pump, z);
    if (!z->pump) {
        z->running = false;
        return err_set(err, LB_EXIT_MACHINE, "out of memory for a fiber");
    }
    while (!zk_session_connected(z)) {
        if (ret_gone && z->expired && z->last_rc == ZSESSIONEXPIRED) {
            *ret_gone = true;
            return 0;
        }
        /* Once each address has refused, there is nothing to wait for, unless a server was there before. A server that
         * hangs up may be starting, electing, or have too many new connections at once. */
        bool nobody = z->refusals >= server->host_count && !atomic_load(&server->reached);
        bool hopeless = z->expired || nobody;
        if (hopeless || (!zk_session_idle(z, NULL, deadline_ns) && !zk_session_connected(z))) {
            return err_set(err, LB_EXIT_MACHINE, "zookeeper at %s: no session%s: %s%s",
                           server->shown, hopeless ? "" : " in time",
                           z->last_errno ? strerror(z->last_errno) : "the server does not answer",
                           hopeless ? "" : hint_of(z, server));
        }
    }
    return 0;
}

/* Asks the server to end the session and waits for the answer without blocking the thread.
 * zookeeper_close would send the same request and then block for up to 1.5 s for the answer, for
 * each client. So we write the request here, and show the library the end of the connection,
 * after which it closes at once. True if the server confirmed. */
static bool say_goodbye(struct zk_session *z) {
    /* Length; an xid that the library does not reach; operation -11, close. The answer: length,
     * xid, ... */
    static const unsigned char request[] = {0,    0,    0,    8,    0x7f, 0xff,
                                            0xff, 0xfe, 0xff, 0xff, 0xff, 0xf5};
    static const unsigned char answer[] = {0, 0, 0, 16, 0x7f, 0xff, 0xff, 0xfe};
    if (z->fd < 0 || zoo_state(z->handle) != ZOO_CONNECTED_STATE) return false;
    bool confirmed = false;
    char data[512];
    int64_t deadline_ns = lb_now() + GOODBYE_NS;
    lb_fd_forget(z->fd); /* the pump must not wait as usual any more */
    ssize_t got = send(z->fd, request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
    z->owner->commands++;
    while (got > 0 && !confirmed && lb_now() < deadline_ns) {
        got = recv(z->fd, data, sizeof data, MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) {
            got = lb_wait_fd(z->fd, LB_READABLE, deadline_ns);
        } else if (got > 0) {
            confirmed = memmem(data, (size_t)got, answer, sizeof answer) != NULL;
        }
    }
    /* Even if the server did not close the connection, from here on the library reads the end of
     * the stream. */
    shutdown(z->fd, SHUT_RDWR);
    while (recv(z->fd, data, sizeof data, MSG_DONTWAIT) > 0) {
    }
    zookeeper_process(z->handle, ZOOKEEPER_READ);
    return confirmed;
}

static void free_slots(struct zk_slot *first) {
    while (first) {
        struct zk_slot *next = first->next;
        free(first);
        first = next;
    }
}

bool zk_session_close(struct zk_session *z) {
    bool confirmed = false;
    if (!z->owner) return false;
    z->stop = true;
    if (z->pump) {
        lb_wake(z->pump);
        lb_join(z->pump);
        z->pump = NULL;
    }
    if (z->handle) {
        confirmed = say_goodbye(z);
        note_socket(z, -1);
        zookeeper_close(z->handle);
        z->handle = NULL;
    }
    free_slots(z->free);
    free_slots(z->sent);
    z->free = z->sent = NULL;
    z->owner->traffic_fd = -1;
    z->owner = NULL;
    return confirmed;
}
