/* mysql-optimistic: no lock. A client reads a row with its version, and writes the row WHERE the version is
 * still the same. If no row was changed, another client was faster, and the client reads again. Used by JPA's
 * @Version and Rails' lock_version. Compatible with every program that changes the rows of lockbench_version by
 * the same rule.
 *
 * One round trip to read, one to write. Nobody waits, but the work of a client that was too late is lost. Pauses
 * do no harm, because the database checks the version at the write. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe recipe = {
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
    .expected = maria_optimistic_expected,
    .recipe = &recipe,
};
