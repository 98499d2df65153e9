/* pg-optimistic: no lock. A client reads a row with its version, and writes the row WHERE the version is still
 * the same. If no row was changed, another client was faster, and the client reads again. Used by JPA's @Version
 * and Rails' lock_version. Compatible with every program that changes the rows of lockbench_version by the same
 * rule.
 *
 * One round trip to read, one to write. Nobody waits, but the work of a client that was too late is lost, so
 * contention costs retries. Pauses do no harm, because the database checks the version at the write. */
#include "drivers/postgres/pg_sql.h"

#define VERSION_TABLE                                                                              \
    .port = &pg_port, .schema = (const char *const[]){PG_VERSION_SCHEMA, NULL},                    \
    .table = "lockbench_version"

static const struct sql_recipe pg_optimistic_recipe = {
    VERSION_TABLE,
    .statement = {
        PG_VERSION_READ,
        PG_VERSION_ROWS,
        [SQL_WRITE] = {"UPDATE lockbench_version SET value = $3::bigint, version = version + 1 "
                       "WHERE name = $1::text AND version = $2::bigint",
                       "kvx"},
    }};

const struct lb_lock lock_pg_optimistic = {
    .name = "pg-optimistic",
    .backend = &backend_postgres,
    SQL_OPTIMISTIC_FACTS,
    .recipe = &pg_optimistic_recipe,
};

/* pg-update: no lock: UPDATE ... SET version = version + 1 ... RETURNING version. The database locks the row while
 * the statement runs, and computes with the row's present values, so no update is lost and no client is refused.
 * Programs change a stock (SET stock = stock - 1 WHERE stock > 0), a counter or a balance in this way. The limit of
 * the version stands for the stock: after a wait for another update the server checks the condition again.
 *
 * One round trip. This is only for values that one statement can compute. */

static const struct sql_recipe pg_update_recipe = {
    VERSION_TABLE, .statement = {
                       PG_VERSION_ROWS,
                       [SQL_COUNT] = {"UPDATE lockbench_version SET version = version + 1 "
                                      "WHERE name = $1::text AND version < " SQL_VERSION_LIMIT
                                      " RETURNING version",
                                      "k"},
                   }};

const struct lb_lock lock_pg_update = {
    .name = "pg-update",
    .summary = "no lock, one statement: UPDATE SET version = version + 1 RETURNING version",
    .backend = &backend_postgres,
    SQL_UPDATE_FACTS,
    .recipe = &pg_update_recipe,
};

/* Controls, which the checks must catch. */

#define UNSAFE_FACTS                                                                               \
    .backend = &backend_postgres, .primitive = LB_OPTIMISTIC,                                      \
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_CONTROL, .waits = "never",                           \
    .algorithm = &sql_optimistic_algorithm
#define UNSAFE_ABOUT                                                                               \
    .order = "none", LB_TERMS(1, 1, LB_NO_GUARANTEE, LB_CRASH_AT_ONCE),                            \
    .exposed_by = "guarded-update", .exposed_as = LB_EXPOSED_VIOLATED

/* unsafe-sql-version-compares-itself: pg-optimistic as introductory articles print it: "UPDATE …
 * SET version = version + 1 WHERE id = ? AND version = version". The column is compared with
 * itself, not with what was read, so the condition is always true and the second writer overwrites
 * the first. */

static const struct sql_recipe unsafe_sql_version_compares_itself_recipe = {
    VERSION_TABLE,
    .statement = {
        PG_VERSION_READ,
        PG_VERSION_ROWS,
        [SQL_WRITE] = {"UPDATE lockbench_version SET value = $2::bigint, version = $3::bigint + 1 "
                       "WHERE name = $1::text AND version = version",
                       "kxv"},
    }};

const struct lb_lock lock_unsafe_sql_version_compares_itself = {
    .name = "unsafe-sql-version-compares-itself",
    .summary = "an optimistic UPDATE whose WHERE compares the version column with itself",
    UNSAFE_FACTS,
    .about = {UNSAFE_ABOUT, .hazards = "loses updates",
              .mistake =
                  "introductory articles print WHERE id = ? AND version = version: always true, so "
                  "the second of two writers overwrites the first one's update"},
    .recipe = &unsafe_sql_version_compares_itself_recipe,
};

/* unsafe-sql-aba: pg-optimistic that compares the value which it read instead of a version: "UPDATE … SET status = ?
 * WHERE id = ? AND status = ?". The row goes from A to B and back to A while a client works on what it read of the
 * first A: its write is accepted, although two writes came between, and overwrites them. The row's value here is
 * such a status, 0 or 1, and each write sets the other one; the version is data like any other, a count of the
 * writes, written from what was read. */

static const struct sql_recipe unsafe_sql_aba_recipe = {
    VERSION_TABLE, .statement = {
                       PG_VERSION_READ,
                       PG_VERSION_ROWS,
                       /* $2 is one more than the value that was read */
                       [SQL_WRITE] = {"UPDATE lockbench_version SET value = $2::bigint % 2, "
                                      "version = $3::bigint + 1 "
                                      "WHERE name = $1::text AND value = $2::bigint - 1",
                                      "kxv"},
                   }};

const struct lb_lock lock_unsafe_sql_aba = {
    .name = "unsafe-sql-aba",
    .summary = "an optimistic UPDATE whose WHERE compares the value that was read, not a version",
    UNSAFE_FACTS,
    .about = {UNSAFE_ABOUT, .hazards = "loses updates where a value comes back",
              .mistake =
                  "compares the value instead of a version, as compare-and-set on a status or "
                  "a balance does: a value that was changed and changed back (A, B, A) looks "
                  "untouched, so what came between is overwritten"},
    .recipe = &unsafe_sql_aba_recipe,
};
