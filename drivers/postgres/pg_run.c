/* pg_run: one statement, one answer. See pg_session.h.
 *
 * A round trip is one send, one park and one recv: libpq's send goes out at once, and we wait
 * before the first read instead of reading into EAGAIN. */
#include <ctype.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "drivers/postgres/pg_impl.h"
#include "drivers/wait.h"

/* pg_error: what the server's errors mean here. Pure functions over SQLSTATEs and texts. */

static bool in_class(const char *sqlstate, const char *class) {
    return strncmp(sqlstate, class, strlen(class)) == 0;
}

enum lb_outcome pg_outcome(const char *sqlstate) {
    if (strcmp(sqlstate, "55P03") == 0) return LB_TIMEOUT; /* lock_timeout, or NOWAIT */
    /* cancelled: statement_timeout, or an admin */
    if (strcmp(sqlstate, "57014") == 0) return LB_TIMEOUT;
    /* chosen as a deadlock's victim: not waiting now */
    if (strcmp(sqlstate, "40P01") == 0) return LB_BUSY;
    if (strcmp(sqlstate, "40001") == 0) return LB_BUSY; /* serialization failure: rolled back */
    if (strcmp(sqlstate, "23505") == 0) return LB_BUSY; /* the unique row is there: somebody's */
    if (in_class(sqlstate, "08")) return LB_BROKEN;     /* connection */
    /* terminated, shutting down, starting up */
    if (in_class(sqlstate, "57P")) return LB_BROKEN;
    if (strcmp(sqlstate, "25P03") == 0) return LB_BROKEN; /* idle_in_transaction_session_timeout */
    if (strcmp(sqlstate, "25P04") == 0) return LB_BROKEN; /* transaction_timeout, from 17 on */
    if (in_class(sqlstate, "XX")) return LB_BROKEN;       /* internal error */
    /* rights, names, syntax, out of lock slots, ... */
    return LB_REFUSED;
}

const char *pg_advice(const char *sqlstate) {
    if (strcmp(sqlstate, "42P07") == 0)
        return ": it is not of lockbench, or of another version: rename or drop it, or use another schema of the search_path";
    /* no right to a schema or a table; no schema of the search_path that may be used */
    if (strcmp(sqlstate, "42501") != 0 && strcmp(sqlstate, "3F000") != 0) return "";
    return ": the lock makes tables lockbench_* of its own: GRANT USAGE, CREATE ON SCHEMA public (or another schema of "
           "the search_path) TO the URL's user; a table that another user made must be dropped by that user";
}

int pg_connect_exit(const char *sqlstate) {
    /* authentication: user, password, pg_hba.conf */
    if (in_class(sqlstate, "28")) return LB_EXIT_USAGE;
    if (in_class(sqlstate, "3D")) return LB_EXIT_USAGE; /* no such database */
    if (in_class(sqlstate, "42")) return LB_EXIT_USAGE; /* no right to it, or unknown option */
    return LB_EXIT_MACHINE;
}

const char *pg_connect_advice(const char *sqlstate, const char *line) {
    /* The user and the password were not looked at. */
    if (strstr(line, "no pg_hba.conf entry"))
        return ": the server's pg_hba.conf needs a line that lets them in";
    if (in_class(sqlstate, "28")) return ": check the user and password of the URL";
    if (strcmp(sqlstate, "53300") == 0) return ": raise max_connections or lower load.clients";
    return "";
}

/* Finds ":  28P01: ", which PQERRORS_VERBOSE puts after the severity word, in whatever language that is. */
static const char *find_sqlstate(const char *line, size_t len) {
    for (size_t i = 0; i + 10 <= len; i++) {
        if (strncmp(line + i, ":  ", 3) != 0 || strncmp(line + i + 8, ": ", 2) != 0) continue;
        size_t good = 0;
        for (const char *c = line + i + 3;
             good < 5 && (isdigit((unsigned char)*c) || isupper((unsigned char)*c)); c++) {
            good++;
        }
        if (good == 5) return line + i + 3;
    }
    return NULL;
}

void pg_connect_message(const char *message, char ret_sqlstate[6], char *ret_line, size_t size) {
    const char *line = message;
    size_t len = strcspn(line, "\n");
    const char *state = NULL;
    /* Several addresses give several messages; the one of a server that answered tells most. */
    for (const char *at = message; *at && !state;) {
        size_t at_len = strcspn(at, "\n");
        state = find_sqlstate(at, at_len);
        if (state) {
            line = at;
            len = at_len;
        }
        at += at_len + (at[at_len] == '\n');
    }
    ret_sqlstate[0] = '\0';
    if (!state) {
        snprintf(ret_line, size, "%.*s", (int)len, line);
        return;
    }
    memcpy(ret_sqlstate, state, 5);
    ret_sqlstate[5] = '\0';
    const char *rest = state + 7;
    snprintf(ret_line, size, "%.*s%.*s", (int)(state - 1 - line), line, (int)(line + len - rest),
             rest);
}

/* More than the answer to any of our statements: a server that sends more is not answering them. */
#define ANSWER_BYTES_MAX (16 * 1024 * 1024)

bool pg_ended(const struct lb_session *session) {
    const struct pg_session *state = session->state;
    return state->ended;
}

/* Marks the connection as dead. On an error libpq has closed the socket itself. */
static void mark_dead(struct lb_session *session) {
    struct pg_session *state = session->state;
    state->dead = true;
    session->traffic_fd = -1;
    lb_fd_forget(state->fd);
}

static enum lb_outcome fail_lost(struct lb_session *session, enum lb_outcome outcome) {
    struct pg_session *state = session->state;
    const char *message = PQerrorMessage(state->conn);
    lb_fail(session, outcome, "postgres: %.*s", (int)strcspn(message, "\n"), message);
    mark_dead(session);
    lb_session_lost(session);
    return outcome;
}

/* Waits for the socket. The first wait of a statement is edge-triggered, half the kernel's work. A
 * later one comes after a read that took all there was, except perhaps an end of file that came
 * with it and gives no new edge: registering anew reports it. Rare, so its two system calls do not
 * matter. */
static int wait_socket(struct pg_session *state, int events, int64_t deadline_ns) {
    if (state->read) lb_fd_forget(state->fd);
    state->read = true;
    return lb_wait_edge(state->fd, events, deadline_ns);
}

/* Fails: the server sends data, but no answer that can be used. */
static enum lb_outcome fail_unusable(struct lb_session *session, const char *why) {
    lb_fail(session, LB_UNKNOWN, "postgres: %s", why);
    mark_dead(session);
    return LB_UNKNOWN;
}

/* Reads until libpq has a whole result. A server that sends without end keeps the socket
 * readable, so that no wait reaches its deadline: each read after the first one checks the time
 * and the number of bytes. */
static enum lb_outcome await_result(struct lb_session *session, int64_t deadline_ns) {
    struct pg_session *state = session->state;
    int unsent;
    size_t taken = 0;
    while ((unsent = PQflush(state->conn)) != 0 || PQisBusy(state->conn)) {
        if (unsent < 0) return fail_lost(session, LB_UNKNOWN);
        bool again = state->read;
        int ready =
                wait_socket(state, unsent ? LB_READABLE | LB_WRITABLE : LB_READABLE, deadline_ns),
            waiting = 0;
        if (ready < 0) return fail_unusable(session, "the socket can't be waited for");
        if (ready == 0 || (again && lb_stopping()))
            return fail_unusable(session,
                                 lb_stopping() ? "cut off while waiting" : "no answer in time");
        if (again && lb_now() >= deadline_ns)
            return fail_unusable(session, "no whole answer in time");
        if (again && ioctl(state->fd, FIONREAD, &waiting) == 0) taken += (size_t)waiting;
        if (taken > ANSWER_BYTES_MAX) return fail_unusable(session, "answer too long");
        if (!PQconsumeInput(state->conn)) return fail_lost(session, LB_UNKNOWN);
    }
    return LB_OK;
}

/* The server's error as an outcome. */
static enum lb_outcome fail_refused(struct lb_session *session, const PGresult *result) {
    struct pg_session *state = session->state;
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (!sqlstate) return fail_lost(session, LB_UNKNOWN); /* made by libpq: the connection broke */
    enum lb_outcome outcome = pg_outcome(sqlstate);
    /* A lock's ordinary answers; no text is made for them. */
    if (outcome == LB_BUSY || strcmp(sqlstate, "55P03") == 0) return outcome;
    lb_fail(session, outcome, "postgres: %s (SQLSTATE %s)%s", text ? text : "error", sqlstate,
            pg_advice(sqlstate));
    if (outcome == LB_BROKEN) {
        state->ended = true;
        mark_dead(session);
        lb_session_lost(session);
    }
    return outcome;
}

/* True for a result after which the server says nothing more. */
static bool is_last_word(const PGresult *result) {
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return sqlstate && pg_outcome(sqlstate) == LB_BROKEN;
}

/* A result that libpq gives again and again until somebody copies data, which we never do. */
static bool is_copy(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* Takes the one answer to the statement. libpq wants its results taken until there is none left. */
static enum lb_outcome collect_result(struct lb_session *session, int64_t deadline_ns,
                                      PGresult **ret_result) {
    struct pg_session *state = session->state;
    PGresult *result = NULL;
    for (;;) {
        enum lb_outcome outcome = await_result(session, deadline_ns);
        if (outcome != LB_OK) {
            PQclear(result);
            return outcome;
        }
        PGresult *next = PQgetResult(state->conn);
        if (!next) break;
        if (is_copy(next) || (result && lb_now() >= deadline_ns)) {
            const char *why = is_copy(next)
                                  ? "the server wants to copy data, which nobody asked for"
                                  : "no end of the answer in time";
            PQclear(next);
            PQclear(result);
            return fail_unusable(session, why);
        }
        if (!result) {
            result = next;
            if (is_last_word(result)) break;
        } else {
            PQclear(next);
        }
    }
    if (!result) return fail_lost(session, LB_UNKNOWN);
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
        *ret_result = result;
        return LB_OK;
    default:
        break;
    }
    enum lb_outcome outcome = fail_refused(session, result);
    PQclear(result);
    return outcome;
}

enum lb_outcome pg_odd_answer(struct lb_session *session) {
    return fail_unusable(session, "the answer does not fit the statement");
}

static enum lb_outcome not_connected(struct lb_session *session) {
    return lb_fail(session, LB_BROKEN, "postgres: not connected");
}

/* The text of a statement that could not be prepared; NULL = it was. */
static const char *unprepared(const struct pg_session *state, const char *name) {
    for (int i = 0; i < state->statement_count; i++) {
        if (strcmp(state->statement[i].name, name) == 0) return state->statement[i].sql;
    }
    return NULL;
}

enum lb_outcome pg_run(struct lb_session *session, const char *statement,
                       const struct pg_args *args, int64_t deadline_ns, PGresult **ret_result) {
    struct pg_session *state = session->state;
    if (!state->conn || state->dead) return not_connected(session);
    session->commands++;
    state->read = false;
    const char *sql = unprepared(state, statement);
    if (sql ? !PQsendQueryParams(state->conn, sql, args->count, NULL, args->value, args->length,
                                 args->format, 1)
            : !PQsendQueryPrepared(state->conn, statement, args->count, args->value, args->length,
                                   args->format, 1)) {
        return fail_lost(session, LB_BROKEN);
    }
    return collect_result(session, deadline_ns, ret_result);
}

enum lb_outcome pg_query(struct lb_session *session, const char *sql, int64_t deadline_ns,
                         PGresult **ret_result) {
    struct pg_session *state = session->state;
    if (!state->conn || state->dead) return not_connected(session);
    session->commands++;
    state->read = false;
    if (!PQsendQuery(state->conn, sql)) return fail_lost(session, LB_BROKEN);
    return collect_result(session, deadline_ns, ret_result);
}

int pg_prepare(struct lb_session *session, const char *name, const char *sql, int64_t deadline_ns,
               struct lb_err *err) {
    struct pg_session *state = session->state;
    PGresult *result = NULL;
    enum lb_outcome outcome = LB_BROKEN;
    bool is_pooled = ((const struct pg_conninfo *)session->server->state)->pooled == PG_POOLED_YES;
    if (is_pooled && state->statement_count == PG_STATEMENTS_MAX)
        return err_set(err, LB_EXIT_MACHINE, "postgres: too many statements");
    if (!state->conn || state->dead) {
        not_connected(session);
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    }
    session->commands++;
    state->read = false;
    /* A statement without a name is replaced by the next one; it is prepared here only to learn
     * whether its tables are there. */
    if (PQsendPrepare(state->conn, is_pooled ? "" : name, sql, 0, NULL)) {
        outcome = collect_result(session, deadline_ns, &result);
    } else {
        fail_lost(session, LB_BROKEN);
    }
    PQclear(result);
    if (outcome == LB_OK && is_pooled) {
        state->statement[state->statement_count].name = name;
        state->statement[state->statement_count++].sql = sql;
    }
    if (outcome == LB_OK) return 0;
    return err_set(err, outcome == LB_REFUSED ? LB_EXIT_USAGE : LB_EXIT_MACHINE, "%s",
                   session->err.text);
}
