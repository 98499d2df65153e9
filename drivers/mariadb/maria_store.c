/* maria_store: a guarded value beside a lock: a row of lockbench_guarded. See drivers/sql_store.h
 * and maria_sql.h, which has the statements. */
#include "drivers/mariadb/maria_sql.h"

#include "drivers/sql_store.h"

static int create_guarded(struct lb_session *session, struct lb_err *err) {
    MYSQL_RES *result = NULL;
    enum lb_outcome outcome = maria_query(
        session,
        "CREATE TABLE IF NOT EXISTS lockbench_guarded (" MARIA_NAME ", token BIGINT NOT NULL, "
        "value BIGINT NOT NULL, steps BIGINT NOT NULL) " MARIA_MADE,
        maria_answer_by(session), &result);
    if (outcome != LB_OK) return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    mysql_free_result(result);
    return 0;
}

const struct lb_store maria_store = {.setup = create_guarded,
                                     .install = sql_store_install,
                                     .write = sql_store_write,
                                     .read = sql_store_read,
                                     .drop = sql_store_drop};
