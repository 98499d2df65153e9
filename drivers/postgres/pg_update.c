/* pg-update: no lock: UPDATE ... SET version = version + 1 ... RETURNING version. The database locks the row while
 * the statement runs, and computes with the row's present values, so no update is lost and no client is refused.
 * Programs change a stock (SET stock = stock - 1 WHERE stock > 0), a counter or a balance in this way. The limit of
 * the version stands for the stock: after a wait for another update the server checks the condition again.
 *
 * One round trip. This is only for values that one statement can compute. */
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
