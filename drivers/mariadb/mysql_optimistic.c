/* mysql-optimistic: no lock at all: read a row with its version, write it back WHERE the version is
 * still that one; one changed row is success, none means that somebody was faster: read again.
 * JPA's @Version, Rails' lock_version. Compatible with whoever changes lockbench_version's rows by
 * the same rule.
 *
 * One round trip to read, one to write. Nobody waits, but losers' work is thrown away. Safe
 * whatever the pauses, since it is the database that checks at the write. */
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
