/* maria_connector: the mariadb backend: URLs, opening and closing sessions, facts, ping. The rest is
 * in maria_run. */
#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>

#include "drivers/facts.h"
#include "drivers/mariadb/maria_impl.h"
#include "drivers/resolve.h"
#include "drivers/sql_lock.h"
#include "drivers/wait.h"

static void maria_disconnect(struct lb_session *session);

/* maria_url: reads the servers and the account from the URL, and looks the names up once. libmariadb would look a
 * name up in each connect, on the small stack of its own coroutine, and would take "localhost" for a Unix socket. */

#define MARIA_PORT 3306

int maria_url(struct maria_server *server, const struct lb_server *routes, const char *text,
              struct lb_err *err) {
    if (url_parse(&server->url, text, MARIA_PORT, err) != 0) return -1;
    for (int i = 0; i < server->url.host_count; i++) {
        struct maria_host *to = &server->host[i];
        const char *dial_host = server->url.host[i];
        to->dial_port = server->url.port[i];
        lb_route(routes, &dial_host, &to->dial_port);
        to->resolved = resolve_host(dial_host, err);
        if (!to->resolved) return -1;
    }
    return 0;
}

/* maria_connect: opening and closing a session. See driver.h for the contracts. */

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

/* Of a login or an answer to any of our statements: the library takes the memory for what a server announces. */
#define PACKET_BYTES_MAX (4UL * 1024 * 1024)

static int connect_to(struct lb_session *session, const char *address, int64_t deadline_ns,
                      struct lb_err *err) {
    struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    const struct url *url = &server->url;
    MYSQL *mysql = state->mysql = mysql_init(NULL);
    if (!mysql) return err_set(err, LB_EXIT_MACHINE, "mariadb: out of memory");
    unsigned tcp = MYSQL_PROTOCOL_TCP;
    size_t stack_bytes = COROUTINE_STACK_BYTES, packet_bytes = PACKET_BYTES_MAX;
    my_bool no = 0;
    if (mysql_options(mysql, MYSQL_OPT_NONBLOCK, &stack_bytes) != 0 ||
        mysql_options(mysql, MYSQL_OPT_PROTOCOL, &tcp) != 0 ||
        mysql_options(mysql, MYSQL_OPT_RECONNECT, &no) != 0 ||
        mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4") != 0 ||
        mysql_options(mysql, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet_bytes) != 0 ||
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
        asked = maria_tls_connect_cont(&connected, session, got, deadline_ns, &in_time);
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

static lb_disconnect_fn maria_disconnect;

/* Not in the header of every version. compose/local/mariadb-galera locks the account until all nodes have joined. */
#define ACCOUNT_LOCKED_MARIADB 4151
#define ACCOUNT_LOCKED_MYSQL 3118

/* Opens the whole session with one host; see lb_connect_host_fn. The caller disconnects. */
static int connect_host(struct lb_session *session, int at, int64_t deadline_ns,
                        struct lb_err *err) {
    struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    const struct resolved *to = server->host[at].resolved;
    for (int i = 0;; i++) {
        struct lb_err why = {0};
        int64_t now_ns = lb_now(), share_ns = (deadline_ns - now_ns) / (to->count - i);
        state->host = at;
        if (connect_to(session, to->address[i], now_ns + share_ns, &why) == 0) break;
        if (i + 1 == to->count) {
            unsigned number = state->mysql ? mysql_errno(state->mysql) : 0;
            bool locked = number == ACCOUNT_LOCKED_MARIADB || number == ACCOUNT_LOCKED_MYSQL;
            err_set(err, why.code, "%s", why.text);
            return locked ? -2 : -1;
        }
        maria_disconnect(session);
    }
    state->fd = session->traffic_fd = (int)mysql_get_socket(state->mysql);
    if (check_serves(session, deadline_ns, err) != 0) return -1;
    if (!session->lock || !session->lock->algorithm->prepare) return 0;
    return session->lock->algorithm->prepare(session, deadline_ns, err);
}

/* The accounts are the same on all nodes; and a client that moved on from one that refuses it would use another node
 * than the other clients. */
static int maria_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct maria_server *server = session->server->state;
    const struct maria_options *options = session->server->options;
    unsigned first = options->nodes == MARIA_NODES_ALL ? session->client : 0;
    return lb_connect_in_turn(session, first, server->url.host_count, deadline_ns, connect_host,
                              err);
}

static void maria_disconnect(struct lb_session *session) {
    struct maria_session *state = session->state;
    if (!state->mysql) return;
    if (!state->dead) lb_fd_forget(state->fd);
    /* The connection is closed first: closing a statement then only frees memory, and sends nothing to the
     * server. */
    mysql_close(state->mysql);
    for (int i = 0; i < state->statement_count; i++) mysql_stmt_close(state->statement[i]);
    memset(state, 0, sizeof *state);
}

static int maria_open(struct lb_server *server, struct lb_err *err) {
    if (mysql_library_init(0, NULL, NULL) != 0)
        return err_set(err, LB_EXIT_MACHINE, "mariadb: out of memory");
    const struct maria_options *options = server->options;
    struct maria_server *state = server->state;
    if (maria_url(state, server, server->urls[0], err) != 0) return -1;
    state->encrypted =
        strcmp(state->url.scheme, "mysqls") == 0 || strcmp(state->url.scheme, "mariadbs") == 0;
    if (!state->encrypted && maria_keep_password(err) != 0) return -1;
    state->tls = lb_tls_of(&options->sql.tls, server->ca);
    if (state->encrypted && state->tls.verify == LB_TLS_CA && !state->tls.ca)
        return err_set(
            err, LB_EXIT_USAGE,
            "mariadb.tls_verify = ca needs mariadb.tls_ca: libmariadb looks at no authority "
            "without it");
    return lb_tls_check(&options->sql.tls, state->encrypted, "mariadb", "mysqls://", err);
}

/* Adds the failures that a committed row survives. After a crash the server rolls back a commit that is
 * missing in the binary log, so both logs must be flushed. */
static void describe_durability(struct lb_facts *facts) {
    const char *flush = lb_facts_value(facts, "innodb_flush_log_at_trx_commit"),
               *method = lb_facts_value(facts, "innodb_flush_method"),
               *binary = lb_facts_value(facts, "log_bin"),
               *sync = lb_facts_value(facts, "sync_binlog");
    if (!flush) {
        lb_facts_durability(facts, NULL, "not told: no innodb_flush_log_at_trx_commit is shown");
        return;
    }
    bool has_binary = binary && strcmp(binary, "ON") == 0;
    bool first = strcmp(flush, "1") == 0 && !(method && strcmp(method, "nosync") == 0) &&
                 (!has_binary || (sync && strcmp(sync, "1") == 0));
    lb_facts_durability(facts, first ? "disk" : "log",
                        "InnoDB log, %son disk before each commit returns "
                        "(innodb_flush_log_at_trx_commit=%s, %s%s)",
                        first ? "" : "not ", flush, has_binary ? "sync_binlog=" : "no binary log",
                        has_binary ? sync ? sync : "?" : "");
}

static int maria_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    static const char settings[] =
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', "
        "'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'sync_binlog', 'log_bin', 'max_connections', 'thread_handling', "
        "'lock_wait_timeout', 'innodb_lock_wait_timeout', 'wait_timeout', 'max_prepared_stmt_count', "
        "'innodb_buffer_pool_size', 'wsrep_on', 'read_only')";
    MYSQL_RES *result = NULL;
    if (maria_query(session, settings, sql_answer_by(session), &result) != LB_OK) {
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    }
    MYSQL_ROW row;
    while (result && (row = mysql_fetch_row(result)) != NULL) {
        if (row[0] && row[1]) lb_fact(facts, row[0], "%s", row[1]);
    }
    mysql_free_result(result);
    const char *version = lb_facts_value(facts, "version");
    char number[64];
    snprintf(number, sizeof number, "%s", version ? version : "");
    if (!maria_is_mariadb(session)) lb_fact(facts, "version", "mysql %s", number);
    describe_durability(facts);
    const char *galera = lb_facts_value(facts, "wsrep_on"),
               *read_only = lb_facts_value(facts, "read_only");
    if (galera && strcmp(galera, "ON") == 0)
        lb_facts_unfit(session, facts, LB_SCENARIO_MULTI_PRIMARY, "a node of Galera");
    const struct maria_server *server = session->server->state;
    const struct maria_options *options = session->server->options;
    /* Through one node all locks hold. */
    if (server->url.host_count == 1 || options->nodes == MARIA_NODES_ONE)
        facts->kind = LB_SCENARIO_NONE;
    if (read_only && strcmp(read_only, "ON") == 0)
        lb_facts_unfit(session, facts, LB_SCENARIO_NONE,
                       "a replica (read_only): its locks are not those of its primary");
    const struct maria_session *state = session->state;
    maria_tls_facts(state->mysql, session->server->state, facts);
    return 0;
}

/* COM_PING: the protocol's own empty round trip; the server parses nothing. */
static enum lb_outcome maria_ping(struct lb_session *session, int64_t deadline_ns) {
    struct maria_session *state = session->state;
    if (!maria_is_up(session)) return LB_BROKEN;
    session->commands++;
    int failed = 0;
    int asked = mysql_ping_start(&failed, state->mysql);
    while (asked)
        asked = mysql_ping_cont(&failed, state->mysql, maria_wait(session, asked, deadline_ns));
    return failed ? maria_failed(session, mysql_errno(state->mysql), mysql_error(state->mysql))
                  : LB_OK;
}

static const struct lb_option maria_options[] = {
    SQL_SERVER_OPTIONS,
    {"nodes", LB_OPT_CHOICE, offsetof(struct maria_options, nodes), "one", 0, 0, "one,all",
     "of a URL with several hosts: one = all clients use the first that serves; all = they are spread"},
    {0},
};

static const char *maria_library(char *text, size_t size) {
    snprintf(text, size, "libmariadb %s", mysql_get_client_info());
    return text;
}

const struct lb_connector mariadb_connector = {
    .options = maria_options,
    .options_bytes = sizeof(struct maria_options),
    .server_bytes = sizeof(struct maria_server),
    .session_bytes = sizeof(struct maria_session),
    .open = maria_open,
    .connect = maria_connect,
    .disconnect = maria_disconnect,
    .describe = maria_describe,
    .ping = maria_ping,
    .library = maria_library,
    .clean = maria_clean,
};
