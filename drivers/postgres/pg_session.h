/* pg_session: a session with one PostgreSQL server and one statement at a time over it; the
 * algorithms are in files of their own and include only this.
 *
 * Speaks through libpq's non-blocking calls and waits through the engine. It retries nothing, opens
 * no transaction, and never lets a password into a text. */
#ifndef DRIVERS_POSTGRES_PG_SESSION_H
#define DRIVERS_POSTGRES_PG_SESSION_H

#include "drivers/backends.h"
#include "drivers/sql_lock.h"

#include <endian.h>
#include <libpq-fe.h>
#include <string.h>

#define PG_ARGS_MAX 6

/* The parameters of one statement, $1 first. Start from {0}; lives until pg_run returns. Never copy
 * it: value points into number. */
struct pg_args {
    int count;
    const char *value[PG_ARGS_MAX];
    int length[PG_ARGS_MAX];
    int format[PG_ARGS_MAX];
    uint64_t number[PG_ARGS_MAX];
};

/* A bigint, in binary: the server need not parse it. */
static inline void pg_add_int8(struct pg_args *args, int64_t number) {
    int at = args->count++;
    args->number[at] = htobe64((uint64_t)number);
    args->value[at] = (const char *)&args->number[at];
    args->length[at] = 8;
    args->format[at] = 1;
}

/* A text, borrowed. */
static inline void pg_add_text(struct pg_args *args, const char *text) {
    args->value[args->count++] = text;
}

/* Prepares a statement under a name, for a lock's .prepare: write parameters as $1::bigint and the
 * like. Behind a pooler the server parses it each time instead. Both texts are static. 0, or -1 with err. */
int pg_prepare(struct lb_session *session, const char *name, const char *sql, int64_t deadline_ns,
               struct lb_err *err);

/* Runs a prepared statement and waits for its answer until deadline_ns. LB_OK with the result in
 * binary, which the caller PQclears. Else session->err says why and *ret_result is untouched:
 * LB_BROKEN: nothing was sent, or the server said that it ended the session (then pg_ended);
 * LB_UNKNOWN: sent, no answer; what pg_outcome says of the server's error otherwise. After
 * LB_BROKEN and LB_UNKNOWN the connection is dead until the core connects again. */
enum lb_outcome pg_run(struct lb_session *session, const char *statement,
                       const struct pg_args *args, int64_t deadline_ns, PGresult **ret_result);

/* The same for one SQL text without parameters; the result is in text form. */
enum lb_outcome pg_query(struct lb_session *session, const char *sql, int64_t deadline_ns,
                         PGresult **ret_result);

/* True if the server itself ended the session (shut down, terminated): what it held is free. */
bool pg_ended(const struct lb_session *session);

/* For a caller that got another kind of answer than it asked for: writes that to session->err,
 * ends the connection and returns LB_UNKNOWN. */
enum lb_outcome pg_odd_answer(struct lb_session *session);

/* The length of a field in bytes; -1 if the result has no such field, as that of a server that
 * is no PostgreSQL may. */
static inline int pg_field_bytes(const PGresult *result, int row, int column) {
    if (row >= PQntuples(result) || column >= PQnfields(result)) return -1;
    return PQgetlength(result, row, column);
}

/* A text field; "" for one that is not there. */
static inline const char *pg_text(const PGresult *result, int row, int column) {
    return pg_field_bytes(result, row, column) < 0 ? "" : PQgetvalue(result, row, column);
}

/* The value of a field of 8 bytes of a binary result. */
static inline int64_t pg_int8(const PGresult *result, int row, int column) {
    uint64_t number;
    memcpy(&number, PQgetvalue(result, row, column), sizeof number);
    return (int64_t)be64toh(number);
}

#endif
