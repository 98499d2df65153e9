/* mysql-flag: one row a key with a flag: UPDATE … SET locked = TRUE WHERE NOT locked takes the lock, one changed row
 * is success; UPDATE … SET locked = FALSE frees it. The "status" or "is_running" column of many applications, with
 * an owner beside it, so that a release frees only one's own. Compatible with whoever changes lockbench_flag's rows
 * by the same rules.
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
        [SQL_ADD] = {"INSERT INTO lockbench_flag (name, locked, owner) VALUES (?, FALSE, '')", "k"},
        [SQL_REMOVE] = {"DELETE FROM lockbench_flag WHERE name = ?", "k"},
        [SQL_ADD_MANY] = {"INSERT INTO lockbench_flag (name, locked, owner) "
                          "SELECT names.name, FALSE, '' FROM " MARIA_NAMES
                          " ON DUPLICATE KEY UPDATE lockbench_flag.name = lockbench_flag.name",
                          "kvx"},
        [SQL_REMOVE_MANY] = {"DELETE lockbench_flag FROM " MARIA_NAMES
                             " STRAIGHT_JOIN lockbench_flag ON lockbench_flag.name = names.name",
                             "kvx"},
        [SQL_LEFT] = {"SELECT COUNT(*) FROM lockbench_flag WHERE " MARIA_NAME_LEFT, "kk"},
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
