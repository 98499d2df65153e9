/* pg-flag: one row a key with a flag: UPDATE … SET locked = true WHERE NOT locked takes the lock,
 * one changed row is success; UPDATE … SET locked = false frees it. The "status" or "is_running"
 * column of many applications, with an owner beside it, so that a client's release frees only its
 * own lock. Compatible with whoever changes lockbench_flag's rows by the same rules.
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
