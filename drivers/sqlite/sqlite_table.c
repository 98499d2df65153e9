/* sqlite-table: a row with a unique name, an owner and an end: INSERT takes the lock, DELETE of the
 * client's own row frees it, and a sweeper deletes the rows of dead clients. All times by SQLite's
 * clock, in milliseconds of Unix time. Compatible with programs that insert into and delete from
 * lockbench_table by the same rules. Unlike sqlite-immediate, the lock outlives the process that
 * took it, until its end. For that each INSERT and DELETE is written and flushed. Waits by polling;
 * SQLite itself lets one writer in at a time. */
#include "drivers/sqlite/sqlite_session.h"

/* julianday is a double, exact to 0.1 ms. The end is rounded up by more than that and the part that
 * is cut off. */
#define NOW_MS "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
#define END_MS NOW_MS " + (?3 + 2999) / 1000"

/* The same in each file, whichever lock comes first. */
static const char *const schema[] = {
    "CREATE TABLE lockbench_table (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expire_at INTEGER NOT NULL)",
    "CREATE INDEX lockbench_table_expire_at ON lockbench_table (expire_at)",
    "CREATE TABLE lockbench_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL, "
    "value INTEGER NOT NULL)",
    NULL};

static const struct sql_recipe sqlite_table_recipe = {
    .port = &sqlite_port,
    .schema = schema,
    .table = "lockbench_table",
    .statement = {
        [SQL_TAKE] = {"INSERT INTO lockbench_table (name, owner, expire_at) VALUES (?1, ?2, " END_MS
                      ") "
                      "ON CONFLICT DO NOTHING",
                      "kol"},
        [SQL_FREE] =
            {"DELETE FROM lockbench_table WHERE name = ?1 AND owner = ?2 AND expire_at > " NOW_MS,
             "ko"},
        [SQL_RENEW] = {"UPDATE lockbench_table SET expire_at = " END_MS
                       " WHERE name = ?1 AND owner = ?2 AND expire_at > " NOW_MS,
                       "kol"},
        [SQL_SWEEP] = {"DELETE FROM lockbench_table WHERE expire_at <= " NOW_MS, ""},
        [SQL_LEFT] = {"SELECT count(*) FROM lockbench_table "
                      "WHERE substr(name, 1, length(?1)) = ?1 AND expire_at > " NOW_MS,
                      "k"},
    }};

const struct lb_lock lock_sqlite_table = {
    .name = "sqlite-table",
    .backend = &backend_sqlite,
    SQL_TABLE_FACTS(LB_CAP_BLOCKS_THREAD,
                    "INSERT and DELETE are each flushed as 'synchronous' says", "machine",
                    "not on a network file system", 0, LB_ON_ONE_HOST),
    .recipe = &sqlite_table_recipe,
};

/* sqlite-optimistic: no lock. A client reads a row with its version, and writes the row WHERE the version is
 * still the same. If no row was changed, another client was faster, and the client reads again. Compatible with
 * every program that changes the rows of lockbench_version by the same rule.
 *
 * Readers do not wait for the writer (in WAL mode); writers come one at a time and flush. */

static const struct sql_recipe sqlite_optimistic_recipe = {
    .port = &sqlite_port,
    .schema = schema,
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
              LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_AT_ONCE)},
    .algorithm = &sql_optimistic_algorithm,
    .recipe = &sqlite_optimistic_recipe,
};
