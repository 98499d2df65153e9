/* pg_connect: opening and closing a session. See driver.h for the contracts. pg_conninfo has looked
 * the host up; only the hosts of a list (host1,host2) are looked up in each connect, by libpq, which
 * blocks the thread. */
#include "drivers/postgres/pg_impl.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#include "drivers/wait.h"

#define GREETING_BYTES_MAX (1024 * 1024) /* more than any server says before it is ready */

/* Warnings would go to stderr; those that matter come as values too (pg_advisory_unlock's
 * false). */
static void ignore_notice(void *arg, const PGresult *result) {
    (void)arg;
    (void)result;
}

static int connect_failed(PGconn *conn, struct lb_err *err) {
    char sqlstate[6], line[400];
    pg_connect_message(PQerrorMessage(conn), sqlstate, line, sizeof line);
    if (PQconnectionNeedsPassword(conn)) {
        return err_set(
            err, LB_EXIT_USAGE,
            "postgres at %s:%s asks for a password: write it in the URL, postgres://user:password@host",
            PQhost(conn), PQport(conn));
    }
    const char *hint = pg_tls_advice(line, conn);
    if (!*hint) hint = pg_connect_advice(sqlstate, line);
    int code = pg_connect_exit(sqlstate);
    if (strncmp(line, "invalid ", 8) == 0) code = LB_EXIT_USAGE; /* a parameter of the URL */
    return err_set(err, code, "postgres: %s%s", line, hint);
}

/* Behind PgBouncer and similar poolers a connection has no server session of its own. The sign of a
 * pooler is that the server process that answers is not the one that greeted. */
static int find_pooler(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct pg_session *state = session->state;
    struct pg_conninfo *info = session->server->state;
    PGresult *result = NULL;
    uint64_t commands = session->commands;
    if (info->pooled != PG_POOLED_UNKNOWN) return 0;
    enum lb_outcome outcome = pg_query(session, "SELECT pg_backend_pid()", deadline_ns, &result);
    if (outcome == LB_BROKEN || outcome == LB_UNKNOWN)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    /* A server that only speaks the protocol may not have the function. */
    bool same = outcome != LB_OK || atoi(pg_text(result, 0, 0)) == PQbackendPID(state->conn);
    session->err = (struct lb_err){0};
    PQclear(result);
    info->pooled = same ? PG_POOLED_NO : PG_POOLED_YES;
    session->commands = commands; /* this was no request of the lock */
    return 0;
}

int pg_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct pg_session *state = session->state;
    const struct pg_conninfo *info = session->server->state;
    session->traffic_fd = -1;
    PGconn *conn = state->conn = PQconnectStartParams(info->keyword, info->value, 0);
    if (!conn) return err_set(err, LB_EXIT_MACHINE, "postgres: out of memory");
    if (PQstatus(conn) == CONNECTION_BAD) return connect_failed(conn, err);
    /* has the SQLSTATE: our only way to tell why it failed */
    PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    PQsetNoticeReceiver(conn, ignore_notice, NULL);
    size_t heard = 0;
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
        if (status == PGRES_POLLING_FAILED) return connect_failed(conn, err);
        /* libpq may close the socket and go on with another: nothing stays registered. */
        int fd = PQsocket(conn);
        struct lb_poll wait = {fd, status == PGRES_POLLING_READING ? LB_READABLE : LB_WRITABLE, 0};
        int ready = lb_wait_any(&wait, 1, deadline_ns);
        lb_fd_forget(fd);
        if (ready <= 0 || lb_now() >= deadline_ns) {
            return err_set(err, LB_EXIT_MACHINE, "postgres at %s:%s: no connection in time",
                           PQhost(conn), PQport(conn));
        }
        int waiting = 0;
        if (ioctl(fd, FIONREAD, &waiting) == 0) heard += (size_t)waiting;
        if (heard > GREETING_BYTES_MAX)
            return err_set(err, LB_EXIT_MACHINE, "postgres at %s:%s: this is no PostgreSQL server",
                           PQhost(conn), PQport(conn));
        status = PQconnectPoll(conn);
    }
    PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
    if (PQsetnonblocking(conn, 1) != 0) return connect_failed(conn, err);
    state->fd = session->traffic_fd = PQsocket(conn);
    if (find_pooler(session, deadline_ns, err) != 0) return -1;
    if (!session->lock || !session->lock->algorithm->prepare) return 0;
    return session->lock->algorithm->prepare(session, deadline_ns, err);
}

void pg_disconnect(struct lb_session *session) {
    struct pg_session *state = session->state;
    session->traffic_fd = -1;
    pg_sweeper_end(state);
    if (!state->conn) return;
    if (PQsocket(state->conn) >= 0) lb_fd_forget(PQsocket(state->conn));
    /* a busy backend finds out when it wants to answer; its locks go with it */
    PQfinish(state->conn);
    memset(state, 0, sizeof *state);
}
