/* maria_store: a guarded value beside a lock: a row of lockbench_guarded; and the orders of a sale: rows of
 * lockbench_order. See drivers/sql_store.h and maria_sql.h, which has the statements. */
#include "drivers/mariadb/maria_sql.h"

#include "drivers/sql_store.h"

static int create_table(struct lb_session *session, const char *make, struct lb_err *err) {
    MYSQL_RES *result = NULL;
    enum lb_outcome outcome = maria_query(session, make, maria_answer_by(session), &result);
    if (outcome != LB_OK) return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    mysql_free_result(result);
    return 0;
}

static int create_guarded(struct lb_session *session, struct lb_err *err) {
    return create_table(
        session,
        "CREATE TABLE IF NOT EXISTS lockbench_guarded (" MARIA_NAME
        ", token BIGINT NOT NULL, value BIGINT NOT NULL, steps BIGINT NOT NULL) " MARIA_MADE,
        err);
}

/* A grant sells one piece, so its token names the order. */
static int create_sale(struct lb_session *session, struct lb_err *err) {
    if (create_guarded(session, err) != 0) return -1;
    return create_table(
        session,
        "CREATE TABLE IF NOT EXISTS lockbench_order (name VARBINARY(1024) NOT NULL, "
        "token BIGINT NOT NULL, PRIMARY KEY (name, token)) " MARIA_MADE,
        err);
}

const struct lb_store maria_store = {SQL_STORE_MEMBERS, .setup = create_guarded};
const struct lb_store maria_store_in_transaction = {SQL_SALE_MEMBERS, .setup = create_sale};
