/* maria_connect: opening and closing a session. See driver.h for the contracts. */
#include "drivers/mariadb/maria_impl.h"

#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>

#include "drivers/wait.h"

/* For libmariadb's coroutine; its own default of 60 KB is near what a login with a TLS library
 * needs. */
#define COROUTINE_STACK_BYTES (128 * 1024)

/* While connecting, libmariadb opens and closes sockets by itself, so each wait registers its socket for that wait
 * only. */
static int wait_connecting(struct lb_session *session, int asked, int64_t deadline_ns) {
    const struct maria_session *state = session->state;
    int fd = (int)mysql_get_socket(state->mysql);
    int events = ((asked & MYSQL_WAIT_READ) ? LB_READABLE : 0) |
                 ((asked & MYSQL_WAIT_WRITE) ? LB_WRITABLE : 0);
    struct lb_poll wait = {fd, events, 0};
    int ready = lb_wait_any(&wait, 1, deadline_ns);
    lb_fd_forget(fd);
    maria_tls_before_call(session);
    return ready > 0 ? asked & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE) : maria_give_up(state->mysql);
}

static int connect_failed(struct lb_session *session, bool in_time, struct lb_err *err) {
    const struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    const char *host = server->url.host[state->host];
    int port = server->url.port[state->host];
    if (!in_time) {
        return err_set(err, LB_EXIT_MACHINE, "mariadb at %s:%d: no connection in time", host, port);
    }
    unsigned number = mysql_errno(state->mysql);
    const char *text = mysql_error(state->mysql);
    const char *hint = maria_tls_advice(number, text, server);
    if (number == ER_CON_COUNT_ERROR) hint = ": raise max_connections or lower load.clients";
    return err_set(err, maria_connect_exit(number), "mariadb at %s:%d: %.*s (error %u)%s", host,
                   port, (int)strcspn(text, "\n"), text, number, hint);
}

static int connect_to(struct lb_session *session, const char *address, int64_t deadline_ns,
                      struct lb_err *err) {
    struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    const struct url *url = &server->url;
    MYSQL *mysql = state->mysql = mysql_init(NULL);
    if (!mysql) return err_set(err, LB_EXIT_MACHINE, "mariadb: out of memory");
    unsigned tcp = MYSQL_PROTOCOL_TCP;
    size_t stack_bytes = COROUTINE_STACK_BYTES;
    my_bool no = 0;
    if (mysql_options(mysql, MYSQL_OPT_NONBLOCK, &stack_bytes) != 0 ||
        mysql_options(mysql, MYSQL_OPT_PROTOCOL, &tcp) != 0 ||
        mysql_options(mysql, MYSQL_OPT_RECONNECT, &no) != 0 ||
        mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4") != 0 ||
        maria_tls_prepare(mysql, server, deadline_ns) != 0) {
        return err_set(err, LB_EXIT_MACHINE, "mariadb: out of memory");
    }
    MYSQL *connected = NULL;
    char host[sizeof *url->host];
    snprintf(host, sizeof host, "%s", address);
    bool in_time = true, greeted = false, offered = true;
    int asked = mysql_real_connect_start(&connected, mysql, host, url->user, url->password,
                                         url->path[0] ? url->path : NULL,
                                         (unsigned)server->host[state->host].dial_port, NULL, 0);
    while (asked) {
        int got = wait_connecting(session, asked, deadline_ns);
        /* The first wait is for the connection. Once the connection is there, libmariadb reads and
         * answers a greeting that has arrived already, without another wait. So the greeting is
         * looked at here first. */
        if (server->encrypted && !greeted && got != MYSQL_WAIT_TIMEOUT) {
            greeted = true;
            if (!(got & MYSQL_WAIT_READ) &&
                wait_connecting(session, MYSQL_WAIT_READ, deadline_ns) == MYSQL_WAIT_TIMEOUT)
                got = MYSQL_WAIT_TIMEOUT;
            offered = got == MYSQL_WAIT_TIMEOUT || maria_tls_offered(mysql, server, deadline_ns);
            if (!offered) got = MYSQL_WAIT_TIMEOUT;
        }
        in_time = got != MYSQL_WAIT_TIMEOUT;
        maria_tls_step(session, host);
        asked = mysql_real_connect_cont(&connected, mysql, got);
    }
    if (!offered) return maria_tls_check(session, offered, err);
    if (!connected) return connect_failed(session, in_time, err);
    maria_tls_step(session, host);
    return maria_tls_check(session, offered, err);
}

/* Refuses a node of Galera that is not in a cluster with a majority: such a node lets clients log in, and then refuses
 * nearly all statements. A server without Galera does not have this status variable. */
static int check_serves(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    const struct url *url = &server->url;
    MYSQL_RES *result = NULL;
    if (url->host_count == 1) return 0;
    if (maria_query(session, "SHOW STATUS LIKE 'wsrep_ready'", deadline_ns, &result) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;
    bool serves = !row || !row[1] || strcmp(row[1], "ON") == 0;
    mysql_free_result(result);
    if (serves) return 0;
    return err_set(err, LB_EXIT_MACHINE, "mariadb at %s:%d: wsrep_ready is not ON",
                   url->host[state->host], url->port[state->host]);
}

/* Opens the whole session with one host. 0, or -1 with err; the caller disconnects. */
static int connect_host(struct lb_session *session, int at, int64_t deadline_ns,
                        struct lb_err *err) {
    struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    const struct maria_host *host = &server->host[at];
    for (int i = 0;; i++) {
        struct lb_err why = {0};
        int64_t now_ns = lb_now(), share_ns = (deadline_ns - now_ns) / (host->address_count - i);
        state->host = at;
        if (connect_to(session, host->address[i], now_ns + share_ns, &why) == 0) break;
        if (i + 1 == host->address_count) return err_set(err, why.code, "%s", why.text);
        maria_disconnect(session);
    }
    state->fd = session->traffic_fd = (int)mysql_get_socket(state->mysql);
    if (check_serves(session, deadline_ns, err) != 0) return -1;
    if (!session->lock || !session->lock->algorithm->prepare) return 0;
    return session->lock->algorithm->prepare(session, deadline_ns, err);
}

#define ACCOUNT_LOCKED_MARIADB 4151 /* not in the header of every version */
#define ACCOUNT_LOCKED_MYSQL 3118

/* Whether the next host would fail in the same way, so that it need not be tried: the accounts are the same
 * on all nodes, and a client that moved on would use another node than the other clients. */
static bool is_same_everywhere(const struct lb_session *session, const struct lb_err *why) {
    const struct maria_session *state = session->state;
    unsigned number = state->mysql ? mysql_errno(state->mysql) : 0;
    return why->code == LB_EXIT_USAGE || number == ACCOUNT_LOCKED_MARIADB ||
           number == ACCOUNT_LOCKED_MYSQL;
}

/* The next hosts follow in the order of the URL, until one serves. */
int maria_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct maria_server *server = session->server->state;
    const struct maria_options *options = session->server->options;
    int count = server->url.host_count;
    unsigned first = options->nodes == MARIA_NODES_ALL ? session->client : 0;
    session->traffic_fd = -1;
    for (int i = 0; i < count; i++) {
        int64_t now_ns = lb_now(), share_ns = (deadline_ns - now_ns) / (count - i);
        struct lb_err why = {0};
        int at = (int)((first + (unsigned)i) % (unsigned)count);
        if (connect_host(session, at, count > 1 ? now_ns + share_ns : deadline_ns, &why) == 0)
            return 0;
        *err = why;
        if (i + 1 == count || is_same_everywhere(session, &why) || lb_stopping()) break;
        maria_disconnect(session);
        session->err = (struct lb_err){0};
    }
    return -1;
}

void maria_disconnect(struct lb_session *session) {
    struct maria_session *state = session->state;
    session->traffic_fd = -1;
    if (!state->mysql) return;
    if (!state->dead) lb_fd_forget(state->fd);
    /* The connection is closed first: closing a statement then only frees memory, and sends nothing to the
     * server. */
    mysql_close(state->mysql);
    for (int i = 0; i < state->statement_count; i++) mysql_stmt_close(state->statement[i]);
    memset(state, 0, sizeof *state);
}
