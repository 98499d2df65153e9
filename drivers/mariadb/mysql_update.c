/* mysql-update: no lock: UPDATE ... SET version = LAST_INSERT_ID(version + 1). The database locks the row while
 * the statement runs, and computes with the row's present values, so no update is lost and no client is refused.
 * LAST_INSERT_ID(expression) returns the computed value with the answer. Programs change a stock (SET stock =
 * stock - 1 WHERE stock > 0), a counter or a balance in this way. The limit of the version stands for the stock.
 *
 * One round trip. This is only for values that one statement can compute. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){MARIA_VERSION_SCHEMA, NULL},
    .table = "lockbench_version",
    .statement = {
        MARIA_VERSION_ROWS,
        [SQL_COUNT] =
            {"UPDATE lockbench_version SET version = LAST_INSERT_ID(version + 1) WHERE name = ? "
             "AND version < " SQL_VERSION_LIMIT,
             "k"},
    }};

const struct lb_lock lock_mysql_update = {
    .name = "mysql-update",
    .summary = "no lock, one statement: UPDATE SET version = LAST_INSERT_ID(version + 1)",
    .backend = &backend_mariadb,
    SQL_UPDATE_FACTS,
    .expected = maria_update_expected,
    .recipe = &recipe,
};
