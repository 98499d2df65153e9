/* maria_run: runs one statement and reads its answer. See maria_session.h.
 *
 * Prepared statements: the server need not parse, keys need no escaping and the answer carries no
 * column names. Measured on a loopback server: COM_PING takes 64 us, GET_LOCK prepared 70.5, as
 * text 72. */
#include <errmsg.h>
#include <mysqld_error.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/mariadb/maria_impl.h"
#include "drivers/wait.h"

/* maria_error: the outcomes that follow from error numbers. Pure functions. */

/* Not in the header of every version. */
#define MYSQL_USER_LOCK_DEADLOCK 3058
#define MYSQL_QUERY_TIMEOUT 3024
#define MYSQL_LOCK_NOWAIT 3572 /* what MariaDB calls ER_LOCK_WAIT_TIMEOUT too */

enum lb_outcome maria_outcome(unsigned number) {
    switch (number) {
    case ER_LOCK_WAIT_TIMEOUT: /* innodb_lock_wait_timeout, NOWAIT, WAIT n */
    case MYSQL_LOCK_NOWAIT:
    case ER_QUERY_INTERRUPTED: /* KILL QUERY */
    case ER_STATEMENT_TIMEOUT:
    case MYSQL_QUERY_TIMEOUT:
        return LB_TIMEOUT;
    /* The victim of a deadlock: its wait has ended. A node of Galera gives the same error for a transaction that lost
     * against a transaction of another node. */
    case ER_LOCK_DEADLOCK:
    case MYSQL_USER_LOCK_DEADLOCK:
    case ER_DUP_ENTRY: /* the unique row exists: another client's */
        return LB_BUSY;
    case ER_CONNECTION_KILLED:
    case ER_SERVER_SHUTDOWN:
    case ER_NORMAL_SHUTDOWN:
    case ER_NEW_ABORTING_CONNECTION:
        return LB_BROKEN;      /* said by the server: the session ends */
    case ER_UNKNOWN_COM_ERROR: /* a node of Galera without a majority: it serves nobody */
        return LB_BROKEN;
    case CR_SERVER_GONE_ERROR:
        return LB_BROKEN; /* could not be sent */
    default:
        /* Errors of the client library: there was no answer, or the library does not understand
         * it. */
        return number >= CR_MIN_ERROR && number < 3000 ? LB_UNKNOWN : LB_REFUSED;
    }
}

int maria_connect_exit(unsigned number) {
    switch (number) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_BAD_DB_ERROR:
    case ER_HOST_NOT_PRIVILEGED:
    case ER_NOT_SUPPORTED_AUTH_MODE:
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
        return LB_EXIT_USAGE;
    default:
        return LB_EXIT_MACHINE;
    }
}

bool maria_ended(const struct lb_session *session) {
    const struct maria_session *state = session->state;
    return state->ended;
}

bool maria_is_mariadb(const struct lb_session *session) {
    const struct maria_session *state = session->state;
    return mariadb_connection(state->mysql);
}

int maria_give_up(MYSQL *mysql) {
    /* libmariadb takes no notice of a time limit while it reads or writes through TLS, and would wait for ever:
     * there the call fails because the connection has ended. */
    if (mysql_get_ssl_cipher(mysql)) shutdown((int)mysql_get_socket(mysql), SHUT_RDWR);
    return MYSQL_WAIT_TIMEOUT;
}

int maria_wait(struct lb_session *session, int asked, int64_t deadline_ns) {
    struct maria_session *state = session->state;
    int events = ((asked & MYSQL_WAIT_READ) ? LB_READABLE : 0) |
                 ((asked & MYSQL_WAIT_WRITE) ? LB_WRITABLE : 0);
    /* libmariadb asks only after it has met EAGAIN, which is what an edge needs. */
    int ready = lb_wait_edge(state->fd, events, deadline_ns);
    maria_tls_before_call(session);
    state->timed_out = ready <= 0;
    if (ready <= 0) return maria_give_up(state->mysql);
    return asked & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
}

/* Marks the connection dead. libmariadb may have closed the socket already. */
static void die(struct lb_session *session) {
    struct maria_session *state = session->state;
    state->dead = true;
    session->traffic_fd = -1;
    lb_fd_forget(state->fd);
}

/* What grants the right that an account lacks; the error's text names the account. Writes ": ...", or "". */
static const char *advise(const struct lb_session *session, unsigned number, const char *text,
                          char advice[300]) {
    const struct maria_server *server = session->server->state;
    const char *account = strstr(text, "'");
    bool denied = number == ER_TABLEACCESS_DENIED_ERROR || number == ER_DBACCESS_DENIED_ERROR;
    advice[0] = '\0';
    if (denied && account)
        snprintf(advice, 300,
                 ": GRANT CREATE, DROP, INDEX, SELECT, INSERT, UPDATE, DELETE ON %.64s.* TO %.*s",
                 server->url.path[0] ? server->url.path : "lockbench", (int)strcspn(account, " "),
                 account);
    return advice;
}

enum lb_outcome maria_failed(struct lb_session *session, unsigned number, const char *text) {
    struct maria_session *state = session->state;
    if (state->timed_out) {
        lb_fail(session, LB_UNKNOWN, "mariadb: %s",
                lb_stopping() ? "cut off while waiting" : "no answer in time");
        die(session);
        return LB_UNKNOWN;
    }
    enum lb_outcome outcome = maria_outcome(number);
    /* A lock's ordinary answers; no text is made for them. */
    if (outcome == LB_BUSY || number == ER_LOCK_WAIT_TIMEOUT || number == ER_STATEMENT_TIMEOUT)
        return outcome;
    char advice[300];
    lb_fail(session, outcome, "mariadb: %.*s (error %u)%s", (int)strcspn(text, "\n"), text, number,
            advise(session, number, text, advice));
    if (outcome == LB_BROKEN || outcome == LB_UNKNOWN) {
        state->ended = number < 2000;
        die(session);
        lb_session_lost(session);
    }
    return outcome;
}

/* An error in place of a row, above all a time limit. libmariadb notes it at the connection
 * only. */
static enum lb_outcome statement_failed(struct lb_session *session, MYSQL_STMT *statement) {
    const struct maria_session *state = session->state;
    if (mysql_stmt_errno(statement) == 0)
        return maria_failed(session, mysql_errno(state->mysql), mysql_error(state->mysql));
    return maria_failed(session, mysql_stmt_errno(statement), mysql_stmt_error(statement));
}

bool maria_is_up(struct lb_session *session) {
    struct maria_session *state = session->state;
    state->timed_out = false;
    maria_tls_before_call(session);
    if (state->mysql && !state->dead) return true;
    lb_fail(session, LB_BROKEN, "mariadb: not connected");
    return false;
}

MYSQL_STMT *maria_prepare(struct lb_session *session, const char *sql, MYSQL_BIND *args,
                          struct maria_row *row, int64_t deadline_ns, struct lb_err *err) {
    struct maria_session *state = session->state;
    if (!maria_is_up(session)) goto failed;
    MYSQL_STMT *statement =
        state->statement_count < MARIA_STATEMENTS_MAX ? mysql_stmt_init(state->mysql) : NULL;
    if (!statement) {
        err_set(err, LB_EXIT_MACHINE, "mariadb: no room for a prepared statement");
        return NULL;
    }
    state->statement[state->statement_count++] = statement;
    session->commands++;
    int failed = 0;
    int asked = mysql_stmt_prepare_start(&failed, statement, sql, strlen(sql));
    while (asked) {
        asked =
            mysql_stmt_prepare_cont(&failed, statement, maria_wait(session, asked, deadline_ns));
    }
    if (failed) {
        statement_failed(session, statement);
        goto failed;
    }
    MYSQL_BIND columns[MARIA_COLUMNS_MAX] = {0};
    for (int i = 0; i < MARIA_COLUMNS_MAX; i++) {
        columns[i].buffer_type = MYSQL_TYPE_LONGLONG;
        columns[i].buffer = &row->number[i];
        columns[i].is_null = &row->is_null[i];
    }
    if (mysql_stmt_field_count(statement) > MARIA_COLUMNS_MAX ||
        (mysql_stmt_param_count(statement) > 0 && mysql_stmt_bind_param(statement, args)) ||
        (mysql_stmt_field_count(statement) > 0 && mysql_stmt_bind_result(statement, columns))) {
        err_set(err, LB_EXIT_MACHINE, "mariadb: can't bind '%s': %s", sql,
                mysql_stmt_error(statement));
        return NULL;
    }
    return statement;
failed:
    err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    return NULL;
}

/* Reads the row and the rest of the answer, so that the connection is free for the next statement. */
static enum lb_outcome fetch_row(struct lb_session *session, MYSQL_STMT *statement,
                                 struct maria_row *row, int64_t deadline_ns) {
    int got = 0;
    int asked = mysql_stmt_fetch_start(&got, statement);
    while (asked)
        asked = mysql_stmt_fetch_cont(&got, statement, maria_wait(session, asked, deadline_ns));
    if (got == 1) return statement_failed(session, statement);
    row->found = got != MYSQL_NO_DATA;
    my_bool failed = 0;
    asked = mysql_stmt_free_result_start(&failed, statement);
    while (asked) {
        asked = mysql_stmt_free_result_cont(&failed, statement,
                                            maria_wait(session, asked, deadline_ns));
    }
    return failed ? statement_failed(session, statement) : LB_OK;
}

enum lb_outcome maria_run(struct lb_session *session, MYSQL_STMT *statement, struct maria_row *row,
                          int64_t deadline_ns) {
    if (!maria_is_up(session)) return LB_BROKEN;
    session->commands++;
    int failed = 0;
    int asked = mysql_stmt_execute_start(&failed, statement);
    while (asked) {
        asked =
            mysql_stmt_execute_cont(&failed, statement, maria_wait(session, asked, deadline_ns));
    }
    if (failed) return statement_failed(session, statement);
    row->found = false;
    row->affected = mysql_stmt_affected_rows(statement);
    row->insert_id = mysql_stmt_insert_id(statement);
    return mysql_stmt_field_count(statement) > 0 ? fetch_row(session, statement, row, deadline_ns)
                                                 : LB_OK;
}

enum lb_outcome maria_query(struct lb_session *session, const char *sql, int64_t deadline_ns,
                            MYSQL_RES **ret_result) {
    struct maria_session *state = session->state;
    if (!maria_is_up(session)) return LB_BROKEN;
    MYSQL *mysql = state->mysql;
    session->commands++;
    int failed = 0;
    int asked = mysql_real_query_start(&failed, mysql, sql, strlen(sql));
    while (asked)
        asked = mysql_real_query_cont(&failed, mysql, maria_wait(session, asked, deadline_ns));
    if (failed) return maria_failed(session, mysql_errno(mysql), mysql_error(mysql));
    MYSQL_RES *result = NULL;
    if (mysql_field_count(mysql) > 0) {
        asked = mysql_store_result_start(&result, mysql);
        while (asked)
            asked =
                mysql_store_result_cont(&result, mysql, maria_wait(session, asked, deadline_ns));
        if (!result) return maria_failed(session, mysql_errno(mysql), mysql_error(mysql));
    }
    *ret_result = result;
    return LB_OK;
}
