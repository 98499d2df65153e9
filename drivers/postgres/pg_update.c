/* pg-update: no lock at all: UPDATE ... SET version = version + 1 ... RETURNING version. The
 * database locks the row for as long as the statement takes and computes from the row as it then
 * is, so that no update is lost and nobody is refused. Programs change a stock in this way (SET
 * stock = stock - 1 WHERE stock > 0), a counter or a balance. The limit of the version stands for
 * the stock: the server looks at the condition again when it has waited for another update.
 *
 * One round trip. It helps only where one statement can compute what is written. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_VERSION_SCHEMA, NULL},
    .table = "lockbench_version",
    .statement = {
        PG_VERSION_ROWS,
        [SQL_COUNT] = {"UPDATE lockbench_version SET version = version + 1 "
                       "WHERE name = $1::text AND version < " SQL_VERSION_LIMIT
                       " RETURNING version",
                       "k"},
    }};

const struct lb_lock lock_pg_update = {
    .name = "pg-update",
    .summary = "no lock, one statement: UPDATE SET version = version + 1 RETURNING version",
    .backend = &backend_postgres,
    SQL_UPDATE_FACTS,
    .expected = pg_update_expected,
    .recipe = &recipe,
};
