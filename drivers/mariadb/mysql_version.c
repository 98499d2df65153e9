/* mysql-optimistic: no lock. A client reads a row with its version, and writes the row WHERE the version is
 * still the same. If no row was changed, another client was faster, and the client reads again. Used by JPA's
 * @Version and Rails' lock_version. Compatible with every program that changes the rows of lockbench_version by
 * the same rule.
 *
 * One round trip to read, one to write. Nobody waits, but the work of a client that was too late is lost. Pauses
 * do no harm, because the database checks the version at the write. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe mysql_optimistic_recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){MARIA_VERSION_SCHEMA, NULL},
    .table = "lockbench_version",
    .statement = {
        [SQL_READ] = {"SELECT version, value FROM lockbench_version WHERE name = ?", "k"},
        [SQL_WRITE] = {"UPDATE lockbench_version SET value = ?, version = version + 1 "
                       "WHERE name = ? AND version = ?",
                       "xkv"},
        MARIA_VERSION_ROWS,
    }};

const struct lb_lock lock_mysql_optimistic = {
    .name = "mysql-optimistic",
    .backend = &backend_mariadb,
    SQL_OPTIMISTIC_FACTS,
    .recipe = &mysql_optimistic_recipe,
};

/* mysql-update: no lock: UPDATE ... SET version = LAST_INSERT_ID(version + 1). The database locks the row while
 * the statement runs, and computes with the row's present values, so no update is lost and no client is refused.
 * LAST_INSERT_ID(expression) returns the computed value with the answer. Programs change a stock (SET stock =
 * stock - 1 WHERE stock > 0), a counter or a balance in this way. The limit of the version stands for the stock.
 *
 * One round trip. This is only for values that one statement can compute. */

static const struct sql_recipe mysql_update_recipe = {
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
    .recipe = &mysql_update_recipe,
};
