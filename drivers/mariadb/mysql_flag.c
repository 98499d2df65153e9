/* mysql-flag: a row with a flag for each key. UPDATE … SET locked = TRUE WHERE NOT locked takes the lock if it
 * changes a row; UPDATE … SET locked = FALSE frees the lock. This is the "status" or "is_running" column of many
 * applications, with an owner beside it, so that a release frees only the client's own lock. Compatible with every
 * program that changes the rows of lockbench_flag by the same rules.
 *
 * One round trip each. Waits by polling. Nothing ends by time: a pause loses nothing, and a holder that dies leaves
 * the flag set until somebody clears it by hand. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){"CREATE TABLE IF NOT EXISTS lockbench_flag (" MARIA_NAME ", "
                                    "locked BOOLEAN NOT NULL, " MARIA_OWNER ") " MARIA_MADE,
                                    NULL},
    .table = "lockbench_flag",
    .statement = {
        [SQL_TAKE] = {"UPDATE lockbench_flag SET locked = TRUE, owner = ? "
                      "WHERE name = ? AND NOT locked",
                      "ok"},
        [SQL_FREE] = {"UPDATE lockbench_flag SET locked = FALSE "
                      "WHERE name = ? AND owner = ? AND locked",
                      "ko"},
        MARIA_ROWS_OF("lockbench_flag", ", locked, owner", ", FALSE, ''"),
    }};

const struct lb_lock lock_mysql_flag = {
    .name = "mysql-flag",
    .backend = &backend_mariadb,
    SQL_FLAG_FACTS,
    .expected = maria_flag_expected,
    .recipe = &recipe,
};
