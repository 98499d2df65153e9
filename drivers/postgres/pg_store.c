/* pg_store: a guarded value beside a lock: a row of lockbench_guarded. See drivers/sql_store.h and
 * pg_sql.h, which has the statements. */
#include "drivers/postgres/pg_sql.h"

#include "drivers/sql_store.h"

static int setup(struct lb_session *session, struct lb_err *err) {
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_query(
        session,
        "CREATE TABLE IF NOT EXISTS lockbench_guarded (name text PRIMARY KEY, token bigint NOT NULL, "
        "value bigint NOT NULL)",
        pg_answer_by(session), &result);
    if (outcome != LB_OK) return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    PQclear(result);
    return 0;
}

const struct lb_store pg_store = {.setup = setup,
                                  .install = sql_store_install,
                                  .write = sql_store_write,
                                  .read = sql_store_read,
                                  .drop = sql_store_drop};
