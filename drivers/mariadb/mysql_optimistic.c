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
    .schema = (const char *const[]){"CREATE TABLE IF NOT EXISTS lockbench_version (" MARIA_NAME ", "
                                    "version BIGINT NOT NULL, value BIGINT NOT NULL) " MARIA_MADE,
                                    NULL},
    .table = "lockbench_version",
    .statement = {
        [SQL_READ] = {"SELECT version, value FROM lockbench_version WHERE name = ?", "k"},
        [SQL_WRITE] = {"UPDATE lockbench_version SET value = ?, version = version + 1 "
                       "WHERE name = ? AND version = ?",
                       "xkv"},
        [SQL_ADD] = {"INSERT INTO lockbench_version (name, version, value) VALUES (?, 1, 0)", "k"},
        [SQL_REMOVE] = {"DELETE FROM lockbench_version WHERE name = ?", "k"},
        [SQL_ADD_MANY] =
            {"INSERT INTO lockbench_version (name, version, value) "
             "SELECT names.name, 1, 0 FROM " MARIA_NAMES
             " ON DUPLICATE KEY UPDATE lockbench_version.name = lockbench_version.name",
             "kvx"},
        [SQL_REMOVE_MANY] =
            {"DELETE lockbench_version FROM " MARIA_NAMES
             " STRAIGHT_JOIN lockbench_version ON lockbench_version.name = names.name",
             "kvx"},
        [SQL_LEFT] = {"SELECT COUNT(*) FROM lockbench_version WHERE " MARIA_NAME_LEFT, "kk"},
    }};

const struct lb_lock lock_mysql_optimistic = {
    .name = "mysql-optimistic",
    .summary = "read a version, UPDATE WHERE version is still the same (JPA's @Version)",
    .backend = &backend_mariadb,
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "never",
    .durability_note = "each write waits for the log to be flushed",
    .about = {.compatible = "every client that updates lockbench_version's rows by the same rule",
              .order = "none: the first to write wins",
              .token = "the row's version",
              .hazards = "guards only what is in the row; retries grow with contention",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_AT_ONCE},
    .expected = maria_optimistic_expected,
    .algorithm = &sql_optimistic_algorithm,
    .recipe = &recipe,
};
