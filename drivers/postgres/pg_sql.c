/* pg_sql: see pg_sql.h. */
#include "drivers/postgres/pg_sql.h"

#include <stdlib.h>

#include "drivers/sql_lock.h"

/* bigint, boolean and void, in pg_type */
#define INT8_OID 20
#define BOOL_OID 16
#define VOID_OID 2278

static int port_prepare(struct lb_session *session, enum sql_role role, int64_t deadline_ns,
                        struct lb_err *err) {
    const struct sql_session *mine = session->lock_state;
    return pg_prepare(session, sql_role_name(role), mine->recipe->statement[role].text, deadline_ns,
                      err);
}

/* A column of another type is not counted: nothing is known by it. */
static void read_answer(PGresult *result, struct sql_answer *answer) {
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        answer->rows = strtoull(PQcmdTuples(result), NULL, 10);
        return;
    }
    answer->rows = (uint64_t)PQntuples(result);
    if (answer->rows == 0) return;
    for (int i = 0; i < PQnfields(result) && i < SQL_NUMBERS; i++) {
        int bytes = pg_field_bytes(result, 0, i);
        if (PQftype(result, i) == INT8_OID && bytes == 8)
            answer->number[i] = pg_int8(result, 0, i);
        else if (PQftype(result, i) == BOOL_OID && bytes == 1)
            answer->number[i] = *PQgetvalue(result, 0, i) != 0;
        else if (PQftype(result, i) != VOID_OID)
            continue;
        answer->columns++;
    }
}

static enum lb_outcome port_run(struct lb_session *session, enum sql_role role,
                                int64_t answer_by_ns, struct sql_answer *ret_answer) {
    struct sql_session *mine = session->lock_state;
    struct pg_args args = {0};
    for (const char *letter = mine->recipe->statement[role].args; *letter; letter++) {
        if (*letter == 'k') {
            pg_add_text(&args, mine->values.key);
        } else if (*letter == 'o') {
            pg_add_text(&args, mine->values.owner);
        } else {
            pg_add_int8(&args, *sql_number(&mine->values, *letter));
        }
    }
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_run(session, sql_role_name(role), &args, answer_by_ns, &result);
    if (outcome != LB_OK) return outcome;
    *ret_answer = (struct sql_answer){0};
    read_answer(result, ret_answer);
    PQclear(result);
    return LB_OK;
}

static enum lb_outcome port_query(struct lb_session *session, const char *text, int64_t deadline_ns,
                                  uint64_t *ret_number) {
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_query(session, text, deadline_ns, &result);
    if (outcome != LB_OK) return outcome;
    if (ret_number)
        *ret_number = PQntuples(result) > 0 ? strtoull(pg_text(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    return LB_OK;
}

const struct sql_port pg_port = {.query = port_query,
                                 .prepare = port_prepare,
                                 .run = port_run,
                                 .answer_after = sql_answer_after,
                                 .ended = pg_ended,
                                 .made = pg_made};
