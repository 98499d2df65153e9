/* pg_store: a guarded value beside a lock: a row of lockbench_guarded; and the orders of a sale: rows of
 * lockbench_order. See drivers/sql_store.h and pg_sql.h, which has the statements. */
#include "drivers/postgres/pg_sql.h"

#include "drivers/sql_store.h"

/* Makes a table where `look` finds none. */
static int create_table(struct lb_session *session, const char *look, const char *make,
                        struct lb_err *err) {
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_query(session, look, pg_answer_by(session), &result);
    bool missing = outcome == LB_OK && PQntuples(result) == 1 && PQgetisnull(result, 0, 0);
    PQclear(result);
    result = NULL;
    if (missing) outcome = pg_query(session, make, pg_answer_by(session), &result);
    PQclear(result);
    return outcome == LB_OK ? 0 : err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

static int create_guarded(struct lb_session *session, struct lb_err *err) {
    return create_table(
        session, "SELECT to_regclass('lockbench_guarded')",
        PG_MAKE("TABLE", "lockbench_guarded",
                " (name text PRIMARY KEY, token bigint NOT NULL, value bigint NOT NULL)"),
        err);
}

/* A grant sells one piece, so its token names the order. */
static int create_sale(struct lb_session *session, struct lb_err *err) {
    if (create_guarded(session, err) != 0) return -1;
    return create_table(
        session, "SELECT to_regclass('lockbench_order')",
        PG_MAKE("TABLE", "lockbench_order",
                " (name text NOT NULL, token bigint NOT NULL, PRIMARY KEY (name, token))"),
        err);
}

const struct lb_store pg_store = {SQL_STORE_MEMBERS, .setup = create_guarded};
const struct lb_store pg_store_in_transaction = {SQL_SALE_MEMBERS, .setup = create_sale};
