/* pg_connect: opening and closing a session. See driver.h for the contracts. pg_conninfo has looked
 * the host up; only the hosts of a list (host1,host2) are looked up in each connect, by libpq, which
 * blocks the thread. */
#include <stdlib.h>
#include <sys/ioctl.h>

#include "drivers/facts.h"
#include "drivers/postgres/pg_impl.h"
#include "drivers/sql_lock.h"
#include "drivers/wait.h"

#define POOLED_NS (1 * LB_S_NS)          /* limit of looking how a pooler gives out sessions */
#define GREETING_BYTES_MAX (1024 * 1024) /* more than any server says before it is ready */

/* Warnings would go to stderr; those that matter come as values too (pg_advisory_unlock's
 * false). */
static void ignore_notice(void *arg, const PGresult *result) {
    (void)arg;
    (void)result;
}

/* Advice about a failed connection: ": ..." to follow the error's text, or ""; valid until the next call on this
 * thread. */
static const char *pg_tls_advice(const char *message, PGconn *conn);

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

/* Connects to the first of the hosts that takes the client. libpq goes on from a host that refuses, but not from one
 * that is silent: its connect_timeout holds only where it blocks. *ret_late: no host answered by deadline_ns. 0, or -1
 * with err. */
static int connect_to(struct lb_session *session, const char *const *value, int64_t deadline_ns,
                      bool *ret_late, struct lb_err *err) {
    struct pg_session *state = session->state;
    const struct pg_conninfo *info = session->server->state;
    *ret_late = false;
    PGconn *conn = state->conn = PQconnectStartParams(info->keyword, value, 0);
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
            *ret_late = true;
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
    return PQsetnonblocking(conn, 1) == 0 ? 0 : connect_failed(conn, err);
}

/* Takes the first host off the lists of hosts, addresses and ports. False if there is no other. */
static bool drop_first_host(const struct pg_conninfo *info, const char **value) {
    bool dropped = false;
    for (int i = 0; info->keyword[i]; i++) {
        bool host = strncmp(info->keyword[i], "host", 4) == 0;
        const char *comma = strchr(value[i], ',');
        if (!comma || !(host || strcmp(info->keyword[i], "port") == 0)) continue;
        value[i] = comma + 1;
        dropped |= host;
    }
    return dropped;
}

static int count_hosts(const struct pg_conninfo *info, const char *const *value) {
    int most = 1;
    for (int i = 0; info->keyword[i]; i++) {
        int count = 1;
        for (const char *at = value[i]; *at; at++) count += *at == ',';
        if (strncmp(info->keyword[i], "host", 4) == 0 && count > most) most = count;
    }
    return most;
}

static void pg_disconnect(struct lb_session *session) {
    struct pg_session *state = session->state;
    if (!state->conn) return;
    if (PQsocket(state->conn) >= 0) lb_fd_forget(PQsocket(state->conn));
    /* a busy backend finds out when it wants to answer; its locks go with it */
    PQfinish(state->conn);
    memset(state, 0, sizeof *state);
}

/* Each host of the URL, and each address of its name, has its share of the time, or the URL's connect_timeout. */
static int connect_any(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct pg_conninfo *info = session->server->state;
    const char *value[PG_KEYWORDS_MAX], *limit = pg_conninfo_value(info, "connect_timeout");
    int64_t limit_ns = limit ? (int64_t)atoi(limit) * LB_S_NS : 0;
    memcpy(value, info->value, sizeof value);
    for (;;) {
        int64_t now_ns = lb_now(), share_ns = (deadline_ns - now_ns) / count_hosts(info, value);
        if (limit_ns > 0 && limit_ns < share_ns) share_ns = limit_ns;
        struct lb_err why = {0};
        bool late;
        if (connect_to(session, value, now_ns + share_ns, &late, &why) == 0) return 0;
        if (!late || lb_stopping() || !drop_first_host(info, value))
            return err_set(err, why.code, "%s", why.text);
        pg_disconnect(session);
    }
}

static int pg_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct pg_session *state = session->state;
    if (connect_any(session, deadline_ns, err) != 0) return -1;
    state->fd = session->traffic_fd = PQsocket(state->conn);
    if (find_pooler(session, deadline_ns, err) != 0) return -1;
    if (!session->lock || !session->lock->algorithm->prepare) return 0;
    return session->lock->algorithm->prepare(session, deadline_ns, err);
}

/* pg_tls: encryption as libpq takes it. If neither the URL nor an option asks for TLS, libpq's own
 * rule holds (sslmode=prefer: TLS if the server has it, with no verification), and the facts say
 * so. If one of them asks for TLS, there is no connection without it. */

static const char *const modes[] = {
    [LB_TLS_FULL] = "verify-full", [LB_TLS_CA] = "verify-ca", [LB_TLS_NONE] = "require"};

/* Adds a keyword, or refuses it where the URL says something else. A NULL value adds nothing. */
static int add_option(struct pg_conninfo *info, const char *keyword, const char *value,
                      const char *option, struct lb_err *err) {
    const char *said = pg_conninfo_value(info, keyword);
    if (!value) return 0;
    if (said && strcmp(said, value) != 0)
        return err_set(
            err, LB_EXIT_USAGE,
            "postgres: the URL says %s=%s, but postgres.%s asks for %s=%s: leave one of them out",
            keyword, said, option, keyword, value);
    if (!said) pg_conninfo_add(info, keyword, value);
    return 0;
}

/* Adds the TLS options, and the authority of a server that lockbench started (may be NULL). 0,
 * or -1 with err where the URL contradicts them. */
static int pg_conninfo_tls(struct pg_conninfo *info, const struct lb_tls *options,
                           const char *server_ca, struct lb_err *err) {
    struct lb_tls tls = lb_tls_of(options, server_ca);
    bool is_set = lb_tls_is_set(options);
    if (lb_tls_check(options, true, "postgres", "sslmode=verify-full", err) != 0) return -1;
    if (is_set && add_option(info, "sslmode", modes[tls.verify], "tls_verify", err) != 0) return -1;
    if (server_ca && !is_set && pg_conninfo_value(info, "sslrootcert")) tls.ca = NULL;
    /* With a root certificate libpq verifies also where it was asked not to. */
    if (tls.verify == LB_TLS_NONE) tls.ca = NULL;
    if (add_option(info, "sslrootcert", tls.ca, "tls_ca", err) != 0) return -1;
    if (add_option(info, "sslcert", tls.cert, "tls_cert", err) != 0) return -1;
    return add_option(info, "sslkey", lb_tls_key(&tls), "tls_key", err);
}

/* The value of a keyword in the whole configuration of a connection; NULL = none. */
static const char *value_in(const PQconninfoOption *list, const char *keyword) {
    for (; list && list->keyword; list++) {
        if (strcmp(list->keyword, keyword) == 0) return list->val && *list->val ? list->val : NULL;
    }
    return NULL;
}

/* libpq does not tell why it refuses a certificate. */
static const char *libpq_unverified(const struct lb_tls *tls) {
    static _Thread_local char text[420];
    snprintf(text, sizeof text,
             ": no authority in %.300s signed the server's certificate, or it has expired",
             tls->ca ? tls->ca : "~/.postgresql/root.crt");
    return text;
}

static const char *advice_for(const char *message, const struct lb_tls *tls) {
    static const struct {
        const char *words, *advice;
    } known[] = {
        {"requires a valid client certificate", ": set tls_cert to one that the server trusts"},
        {"no encryption", ": if the server asks for TLS, write ?sslmode=verify-full or set tls_ca"},
        {"does not support SSL", ": switch TLS on at the server"},
    };
    if (strstr(message, "certificate verify failed")) return libpq_unverified(tls);
    if (strstr(message, "root certificate file")) /* tells the name of the file that it lacks */
        return tls->ca ? "" : ": set tls_ca to the authority that signed the server's certificate";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(message, known[i].words)) return known[i].advice;
    }
    return lb_tls_advice(message, tls);
}

static const char *pg_tls_advice(const char *message, PGconn *conn) {
    PQconninfoOption *list = PQconninfo(conn); /* with what came from service files and PGSSL... */
    struct lb_tls tls = {.ca = value_in(list, "sslrootcert"), .cert = value_in(list, "sslcert")};
    const char *advice = advice_for(message, &tls);
    PQconninfoFree(list);
    return advice;
}

static void pg_tls_facts(PGconn *conn, struct lb_facts *facts) {
    PQconninfoOption *list = PQconninfo(conn);
    const char *mode = value_in(list, "sslmode");
    struct lb_tls tls = {.verify = LB_TLS_NONE, .cert = value_in(list, "sslcert")};
    if (mode && strcmp(mode, modes[LB_TLS_FULL]) == 0) tls.verify = LB_TLS_FULL;
    if (mode && strcmp(mode, modes[LB_TLS_CA]) == 0) tls.verify = LB_TLS_CA;
    lb_facts_encryption(facts, &tls, PQsslInUse(conn) ? PQsslAttribute(conn, "protocol") : NULL);
    PQconninfoFree(list);
}

/* Whether the pooler gives a session of the server to another client while this one is connected: by transaction or
 * by statement. In session mode a client keeps the one that it got. */
static bool is_given_out(struct lb_session *session) {
    struct pg_session state = {0};
    struct lb_session other = {.server = session->server, .state = &state};
    struct lb_err ignored = {0};
    int64_t until_ns = lb_now() + POOLED_NS;
    PGresult *mine = NULL, *theirs = NULL;
    bool same = pg_connect(&other, until_ns, &ignored) == 0 &&
                pg_query(session, "SELECT pg_backend_pid()", until_ns, &mine) == LB_OK &&
                pg_query(&other, "SELECT pg_backend_pid()", until_ns, &theirs) == LB_OK &&
                strcmp(pg_text(mine, 0, 0), pg_text(theirs, 0, 0)) == 0;
    session->err.code = 0;
    PQclear(mine);
    PQclear(theirs);
    pg_disconnect(&other);
    return same;
}

/* What kind of server would not keep a lock, although it grants it. */
static void describe_fitness(struct lb_session *session, struct lb_facts *facts) {
    const struct pg_conninfo *info = session->server->state;
    if (lb_facts_value(facts, "standby"))
        lb_facts_unfit(session, facts, LB_SCENARIO_NONE,
                       "a standby (pg_is_in_recovery): its locks are not those of its primary");
    if (info->pooled != PG_POOLED_YES) return;
    bool given_out = is_given_out(session);
    lb_fact(facts, "pooler", "yes%s: statements are not prepared",
            given_out ? ", by transaction" : "");
    if (given_out)
        lb_facts_unfit(session, facts, LB_SCENARIO_POOLED,
                       "behind a pooler that gives out sessions by transaction (PgBouncer)");
}

/* pg_connector: the postgres backend's connector: opening, describing, pinging. The rest is in
 * pg_connect, pg_run. */

static int pg_open(struct lb_server *server, struct lb_err *err) {
    const struct sql_server_options *options = server->options;
    if (pg_conninfo_parse(server->state, server->urls[0], err) != 0 ||
        pg_conninfo_dial(server->state, server, err) != 0)
        return -1;
    return pg_conninfo_tls(server->state, &options->tls, server->ca, err);
}

static void pg_close(struct lb_server *server) {
    pg_conninfo_done(server->state);
}

/* The failures that a row survives when a session commits it as ours do. */
static void describe_durability(struct lb_facts *facts) {
    const char *fsync = lb_facts_value(facts, "fsync"),
               *commit = lb_facts_value(facts, "synchronous_commit");
    if (!fsync || !commit) {
        lb_facts_durability(facts, NULL, "not told: pg_settings does not show fsync");
        return;
    }
    bool first = strcmp(fsync, "on") == 0 && strcmp(commit, "off") != 0;
    lb_facts_durability(facts, first ? "disk" : "log",
                        "write-ahead log, %son disk before each commit returns (fsync %s, "
                        "synchronous_commit %s)",
                        first ? "" : "not ", fsync, commit);
}

static int pg_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    static const char settings[] =
        "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('server_version', 'fsync', "
        "'synchronous_commit', 'synchronous_standby_names', 'full_page_writes', 'max_connections', 'max_locks_per_transaction', "
        "'deadlock_timeout', 'lock_timeout', 'statement_timeout', 'idle_session_timeout', "
        "'client_connection_check_interval', 'tcp_keepalives_idle', 'shared_buffers') "
        "UNION ALL SELECT 'standby', 'yes' WHERE pg_is_in_recovery() ORDER BY name";
    PGresult *result = NULL;
    if (pg_query(session, settings, sql_answer_by(session), &result) != LB_OK) {
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    }
    for (int row = 0; row < PQntuples(result); row++) {
        const char *name = pg_text(result, row, 0);
        const char *value = pg_text(result, row, 1);
        lb_fact(facts, strcmp(name, "server_version") == 0 ? "version" : name, "%s", value);
    }
    PQclear(result);
    describe_durability(facts);
    describe_fitness(session, facts);
    const struct pg_session *state = session->state;
    pg_tls_facts(state->conn, facts);
    return 0;
}

/* The empty query: nothing to parse, plan or run. Measured on a loopback server, a bare Sync
 * message takes 59 us, this 60, a prepared SELECT 1 62.5 and an uncontended pg_advisory_lock
 * 62.6. */
static enum lb_outcome pg_ping(struct lb_session *session, int64_t deadline_ns) {
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_query(session, "", deadline_ns, &result);
    if (outcome == LB_OK) PQclear(result);
    return outcome;
}

static const struct lb_option pg_options[] = {SQL_SERVER_OPTIONS, {0}};

static const char *pg_library(char *text, size_t size) {
    int version = PQlibVersion(); /* 150014 is 15.14 */
    snprintf(text, size, "libpq %d.%d", version / 10000, version % 10000);
    return text;
}

const struct lb_connector postgres_connector = {
    .options = pg_options,
    .options_bytes = sizeof(struct sql_server_options),
    .server_bytes = sizeof(struct pg_conninfo),
    .session_bytes = sizeof(struct pg_session),
    .open = pg_open,
    .close = pg_close,
    .connect = pg_connect,
    .disconnect = pg_disconnect,
    .describe = pg_describe,
    .ping = pg_ping,
    .library = pg_library,
    .clean = pg_clean,
};
