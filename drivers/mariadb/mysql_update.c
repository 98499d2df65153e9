/* mysql-update: no lock at all: UPDATE ... SET version = LAST_INSERT_ID(version + 1). The database
 * locks the row for as long as the statement takes and computes from the row as it then is, so that
 * no update is lost and nobody is refused; LAST_INSERT_ID(expression) has the answer say what it
 * computed. Programs change a stock (SET stock = stock - 1 WHERE stock > 0), a counter or a balance
 * in this way. The limit of the version stands for the stock.
 *
 * One round trip. It helps only where one statement can compute what is written. */
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
