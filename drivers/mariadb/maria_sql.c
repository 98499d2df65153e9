/* maria_sql: see maria_sql.h. */
#include "drivers/mariadb/maria_sql.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/mariadb/maria_impl.h"
#include "drivers/sql_lock.h"

_Static_assert(SQL_ROLES <= MARIA_STATEMENTS_MAX, "a session keeps a statement for each role");
_Static_assert(sizeof(struct maria_sql) <= SQL_SESSION_BYTES,
               "session_bytes has room for the port");

#define ARGS_MAX 8

/* Bound once: the values lie still in the session's memory. */
static int port_prepare(struct lb_session *session, enum sql_role role, int64_t deadline_ns,
                        struct lb_err *err) {
    struct maria_sql *mine = session->lock_state;
    struct sql_values *values = &mine->sql.values;
    const struct sql_statement *statement = &mine->sql.recipe->statement[role];
    MYSQL_BIND args[ARGS_MAX] = {0};
    int count = 0;
    for (const char *letter = statement->args; *letter && count < ARGS_MAX; letter++) {
        if (*letter == 'k') {
            args[count] = maria_text(values->key, &values->key_len);
            args[count].buffer_type = MYSQL_TYPE_BLOB; /* bytes, in no character set */
        } else if (*letter == 'o') {
            args[count] = maria_text(values->owner, &values->owner_len);
        } else {
            args[count] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG,
                                       .buffer = sql_number(values, *letter)};
        }
        count++;
    }
    mine->statement[role] =
        maria_prepare(session, statement->text, args, &mine->row, deadline_ns, err);
    return mine->statement[role] ? 0 : -1;
}

static enum lb_outcome port_run(struct lb_session *session, enum sql_role role,
                                int64_t answer_by_ns, struct sql_answer *ret_answer) {
    struct maria_sql *mine = session->lock_state;
    const struct maria_row *row = &mine->row;
    enum lb_outcome outcome = maria_run(session, mine->statement[role], &mine->row, answer_by_ns);
    if (outcome != LB_OK) return outcome;
    struct sql_answer answer = {.rows = row->affected, .number = {(int64_t)row->insert_id}};
    unsigned columns = mysql_stmt_field_count(mine->statement[role]);
    if (columns > 0) answer.rows = row->found;
    for (unsigned i = 0; row->found && i < columns && i < SQL_NUMBERS; i++)
        answer.number[i] = row->is_null[i] ? 0 : row->number[i];
    *ret_answer = answer;
    return LB_OK;
}

static enum lb_outcome port_query(struct lb_session *session, const char *text, int64_t deadline_ns,
                                  uint64_t *ret_number) {
    MYSQL_RES *result = NULL;
    enum lb_outcome outcome = maria_query(session, text, deadline_ns, &result);
    if (outcome != LB_OK) return outcome;
    MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;
    if (ret_number) *ret_number = row && row[0] ? strtoull(row[0], NULL, 10) : 0;
    mysql_free_result(result);
    return LB_OK;
}

#define MAKE_HOME "CREATE DATABASE IF NOT EXISTS " MARIA_HOME

/* Whether the lock's tokens come from a sequence, which MySQL does not have. */
static bool wants_sequence(const struct lb_lock *lock) {
    const struct sql_recipe *recipe = lock->recipe;
    for (const char *const *text = recipe->schema; text && *text; text++) {
        if (strncmp(*text, "CREATE SEQUENCE", strlen("CREATE SEQUENCE")) == 0) return true;
    }
    return false;
}

/* Goes to the database of the URL, or to "lockbench" where the URL names none. */
static int go_home(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct maria_server *server = session->server->state;
    if (!maria_is_mariadb(session) && wants_sequence(session->lock))
        return err_set(err, LB_EXIT_USAGE,
                       "%s: its tokens come from a sequence, and MySQL has none: use MariaDB",
                       session->lock->name);
    if (server->url.path[0]) return 0;
    enum lb_outcome outcome = port_query(session, "USE " MARIA_HOME, deadline_ns, NULL);
    if (outcome == LB_REFUSED) {
        session->err.code = 0;
        outcome = port_query(session, MAKE_HOME " COMMENT '" LB_MADE_BY "'", deadline_ns, NULL);
        if (outcome == LB_REFUSED) { /* before MariaDB 10.5, and MySQL: no comment */
            session->err.code = 0;
            outcome = port_query(session, MAKE_HOME, deadline_ns, NULL);
        }
        if (outcome == LB_OK) outcome = port_query(session, "USE " MARIA_HOME, deadline_ns, NULL);
    }
    return outcome == LB_OK ? 0 : err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

const struct sql_port maria_port = {.begin = go_home,
                                    .query = port_query,
                                    .prepare = port_prepare,
                                    .run = port_run,
                                    .answer_after = sql_answer_after,
                                    .ended = maria_ended,
                                    .made = maria_made};
