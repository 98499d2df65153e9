/* maria_session: a session with one MariaDB (or MySQL) server, which runs one prepared statement at a time.
 * The algorithms are in files of their own and include only this header.
 *
 * It uses libmariadb's non-blocking _start/_cont calls and waits by the engine. It never reconnects by
 * itself, because the locks of the old connection would be lost unnoticed. */
#ifndef DRIVERS_MARIADB_MARIA_SESSION_H
#define DRIVERS_MARIADB_MARIA_SESSION_H

#include "drivers/backends.h"
#include "drivers/sql_lock.h"

#include <mysql.h>

#define MARIA_STATEMENTS_MAX 32
#define MARIA_COLUMNS_MAX 4

/* One row of numbers, filled by maria_run. */
struct maria_row {
    bool found; /* there was a row */
    long long number[MARIA_COLUMNS_MAX];
    my_bool is_null[MARIA_COLUMNS_MAX];
    unsigned long long affected;  /* number of changed rows, for statements that return no row */
    unsigned long long insert_id; /* the value of LAST_INSERT_ID(...) in such a statement */
};

/* Parameters of a prepared statement: bound once, so the values' memory must stay (lock_state). */
static inline MYSQL_BIND maria_text(const char *text, unsigned long *len) {
    return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = (void *)text, .length = len};
}

static inline MYSQL_BIND maria_real(double *number) {
    return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_DOUBLE, .buffer = number};
}

/* Prepares a statement for this session, which owns it, with its parameters bound (as many as the
 * SQL has "?") and the numbers of its answer bound to row, which must stay too. NULL with err. For
 * a lock's .prepare. */
MYSQL_STMT *maria_prepare(struct lb_session *session, const char *sql, MYSQL_BIND *args,
                          struct maria_row *row, int64_t deadline_ns, struct lb_err *err);

/* Runs a statement and waits for its answer until deadline_ns. LB_OK with the row filled. Otherwise
 * session->err has the reason, and the outcome is LB_BROKEN: nothing was sent, or the server said that it has
 * ended the session (then maria_ended is true); LB_UNKNOWN: sent, but no answer; or the outcome that
 * maria_outcome gives for the server's error. After LB_BROKEN and LB_UNKNOWN the connection is dead until the
 * core connects again. */
enum lb_outcome maria_run(struct lb_session *session, MYSQL_STMT *statement, struct maria_row *row,
                          int64_t deadline_ns);

/* Runs one SQL text without parameters; the caller mysql_free_results *ret_result, NULL if it gives
 * no rows. */
enum lb_outcome maria_query(struct lb_session *session, const char *sql, int64_t deadline_ns,
                            MYSQL_RES **ret_result);

/* True if the server itself has ended the session (shutdown, KILL): the session's locks are free. */
bool maria_ended(const struct lb_session *session);

/* True for MariaDB, false for MySQL: they differ in a lock's name and time limits. */
bool maria_is_mariadb(const struct lb_session *session);

#endif
