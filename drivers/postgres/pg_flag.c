/* pg-flag: a row with a flag for each key. UPDATE … SET locked = true WHERE NOT locked takes the lock if it changes a
 * row; UPDATE … SET locked = false frees the lock. This is the "status" or "is_running" column of many applications,
 * with an owner beside it, so that a release frees only the client's own lock. Compatible with every program that
 * changes the rows of lockbench_flag by the same rules.
 *
 * One round trip each. Waits by polling. Nothing ends by time: a pause loses nothing, and a holder that dies leaves
 * the flag set until somebody clears it by hand. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_MAKE("TABLE", "lockbench_flag",
                                            " (name text PRIMARY KEY, locked boolean NOT NULL, "
                                            "owner text NOT NULL)"),
                                    NULL},
    .table = "lockbench_flag",
    .statement = {
        [SQL_TAKE] = {"UPDATE lockbench_flag SET locked = true, owner = $2::text "
                      "WHERE name = $1::text AND NOT locked",
                      "ko"},
        [SQL_FREE] = {"UPDATE lockbench_flag SET locked = false "
                      "WHERE name = $1::text AND owner = $2::text AND locked",
                      "ko"},
        PG_ROWS_OF("lockbench_flag", ", locked, owner", ", false, ''"),
    }};

const struct lb_lock lock_pg_flag = {
    .name = "pg-flag",
    .backend = &backend_postgres,
    SQL_FLAG_FACTS,
    .expected = pg_flag_expected,
    .recipe = &recipe,
};
