/* mysql-flag: one row a key with a flag: UPDATE … SET locked = TRUE WHERE NOT locked takes the
 * lock, one changed row is success; UPDATE … SET locked = FALSE frees it. The "status" or
 * "is_running" column of many applications, with an owner beside it, so that a client's release
 * frees only its own lock. Compatible with whoever changes lockbench_flag's rows by the same rules.
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
    .summary = "UPDATE of a flag column WHERE it is not set (a status column, without expiry)",
    .backend = &backend_mariadb,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "poll",
    .durability_note = "each grant and release writes the row and waits for the flush",
    .about = {.compatible = "every client that updates lockbench_flag's rows by the same rules",
              .order = "none",
              .hazards = SQL_FLAG_HAZARDS,
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_NEVER},
    .expected = maria_flag_expected,
    .algorithm = &sql_flag_algorithm,
    .recipe = &recipe,
};
