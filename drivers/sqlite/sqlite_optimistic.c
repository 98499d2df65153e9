/* sqlite-optimistic: no lock. A client reads a row with its version, and writes the row WHERE the version is
 * still the same. If no row was changed, another client was faster, and the client reads again. Compatible with
 * every program that changes the rows of lockbench_version by the same rule.
 *
 * Readers do not wait for the writer (in WAL mode); writers come one at a time and flush. */
#include "drivers/sqlite/sqlite_sql.h"

static const struct sql_recipe recipe = {
    .port = &sqlite_port,
    .table = "lockbench_version",
    .statement = {
        [SQL_READ] = {"SELECT version, value FROM lockbench_version WHERE name = ?1", "k"},
        [SQL_WRITE] = {"UPDATE lockbench_version SET value = ?3, version = version + 1 "
                       "WHERE name = ?1 AND version = ?2",
                       "kvx"},
        [SQL_ADD] = {"INSERT INTO lockbench_version (name, version, value) VALUES (?1, 1, 0) "
                     "ON CONFLICT DO NOTHING",
                     "k"},
        [SQL_REMOVE] = {"DELETE FROM lockbench_version WHERE name = ?1", "k"},
        [SQL_LEFT] =
            {"SELECT count(*) FROM lockbench_version WHERE substr(name, 1, length(?1)) = ?1", "k"},
    }};

const struct lb_lock lock_sqlite_optimistic = {
    .name = "sqlite-optimistic",
    .summary = "read a version, UPDATE WHERE version is still the same",
    .backend = &backend_sqlite,
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "never",
    .durability_note = "each write is flushed as 'synchronous' says",
    .about = {.compatible = "every client that updates lockbench_version's rows by the same rule",
              .order = "none: the first to write wins",
              .token = "the row's version",
              .hazards = "guards only what is in the row; not on a network file system",
              .guarantee = LB_ON_ONE_HOST,
              .crash = LB_CRASH_AT_ONCE},
    .expected = sqlite_optimistic_expected,
    .algorithm = &sql_optimistic_algorithm,
    .recipe = &recipe,
};
