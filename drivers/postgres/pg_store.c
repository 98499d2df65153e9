/* pg_store: a guarded value beside a lock: a row of lockbench_guarded. See drivers/sql_store.h and
 * pg_sql.h, which has the statements. */
#include "drivers/postgres/pg_sql.h"

#include "drivers/sql_store.h"

static int create_guarded(struct lb_session *session, struct lb_err *err) {
    static const char look[] = "SELECT to_regclass('lockbench_guarded')";
    static const char make[] =
        PG_MAKE("TABLE", "lockbench_guarded",
                " (name text PRIMARY KEY, token bigint NOT NULL, value bigint NOT NULL)");
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_query(session, look, pg_answer_by(session), &result);
    bool missing = outcome == LB_OK && PQntuples(result) == 1 && PQgetisnull(result, 0, 0);
    PQclear(result);
    result = NULL;
    if (missing) outcome = pg_query(session, make, pg_answer_by(session), &result);
    PQclear(result);
    return outcome == LB_OK ? 0 : err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

const struct lb_store pg_store = {.setup = create_guarded,
                                  .install = sql_store_install,
                                  .write = sql_store_write,
                                  .read = sql_store_read,
                                  .drop = sql_store_drop};

const struct lb_store pg_store_in_transaction = {.with_release = true,
                                                 .setup = create_guarded,
                                                 .install = sql_store_install,
                                                 .write = sql_store_write,
                                                 .read = sql_store_read,
                                                 .drop = sql_store_drop};
