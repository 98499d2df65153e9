/* session: a connection (ZooKeeper handle, etcd lease) and the clients of one thread that use it.
 *
 * A session is never closed while a fiber is inside a call of its driver: a client's attempt begins with
 * session_join and ends with session_part, and the last client that leaves a broken session closes the
 * session. The next client that joins opens the session anew. */
#ifndef BENCH_LOAD_SESSION_H
#define BENCH_LOAD_SESSION_H

#include "bench/load/client.h"

struct session {
    struct lb_session lb;
    const struct lb_algorithm *algorithm; /* lb.lock->algorithm: a copy for the hot path */
    struct worker *worker;
    struct client *clients; /* its clients, which are consecutive */
    uint32_t client_count;
    uint32_t users;   /* clients that are between join and part */
    uint32_t present; /* clients that still load: the last one to leave ends the counting */
    bool connected;
    bool broken;      /* the last client to leave closes the session */
    bool ended;       /* the driver said that it is over: lb_session_lost */
    bool moving;      /* being opened or closed by one of the clients */
    bool tried;       /* the first try to open it is over */
    bool failed;      /* the first try to open it failed */
    bool unreachable; /* the last try to reconnect failed */
    bool in_window;   /* counting commands and bytes */
    uint64_t commands_begin, wakeups_begin, bytes_begin;

    struct lb_fiber *watchdog; /* renews the clients' grants; NULL = no grant has to be renewed */
    bool watchdog_ends, watchdog_sleeps;

    void *memory; /* session state, lock state: one block */
    size_t memory_bytes;
};

/* Prepares a session of `count` clients, the first of which is client `first`; the caller
 * initialises the clients later. 0, or -1 when out of memory. */
int session_init(struct session *session, struct worker *worker, struct client *clients,
                 uint32_t first, uint32_t count);
void session_done(struct session *session);

/* Connects. deadline_ns: by lb_now(). 0, or -1 with err. */
int session_open(struct session *session, int64_t deadline_ns, struct lb_err *err);
void session_close(struct session *session);

/* The slow path of joining: closes a broken session and opens it again, and settles attempts with
 * an unknown outcome. Returns false if that is not possible now. */
bool session_restore(struct client *client);

/* Joins the session to call its driver, if the session is usable. */
static inline bool session_join(struct client *client) {
    struct session *session = client->session;
    if (__builtin_expect(!session->connected || session->broken || client->unsettled_until_ns, 0)) {
        if (!session_restore(client)) return false;
    }
    session->users++;
    return true;
}

void session_part_last(struct session *session);

/* Leaves the session. */
static inline void session_part(struct client *client) {
    struct session *session = client->session;
    session->users--;
    if (__builtin_expect(session->broken && session->users == 0, 0)) session_part_last(session);
}

/* Marks the session as broken after a call that failed: no more requests go through it. */
void session_break(struct session *session);

#define SESSION_IDLE_NS (100 * LB_MS_NS) /* shorter rests are not worth a look */

/* Before an attempt after a rest: a server, or what lies before it, may have closed the connection as idle. Then the
 * attempt begins on a new one: nothing of the client was on the old one. */
void session_look(struct session *session);

/* Whether the session that the client's grant lives by is over at when_ns, by what the driver said; false for a grant with
 * a lease. */
bool session_is_over(const struct client *client, int64_t when_ns);

/* Keeps the driver's last error as the worker's first one, and clears it. */
void session_keep_err(struct session *session);

/* Counting of commands, wake-ups and bytes begins with the first attempt in the window of its
 * clients, and ends when the last of them has drained. */
void session_begin_window(struct session *session);
void session_end_window(struct session *session);

/* ---- renewals of the clients' grants ---- */

/* Enclose a driver call of a client that holds: no renewal of its grant runs meanwhile. Needed where there is a watchdog. */
void client_calls(struct client *client);
void client_called(struct client *client);

/* A call of the client moved grant.lease_end_ns. */
void client_renewed(struct client *client);

/* After an attempt that failed: keeps the driver's error, and, as the outcome asks, marks the session as broken and
 * the client as one that has to settle. */
void client_mend(struct client *client, enum lb_outcome outcome);

#endif
