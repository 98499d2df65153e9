/* pg-optimistic: no lock. A client reads a row with its version, and writes the row WHERE the version is still
 * the same. If no row was changed, another client was faster, and the client reads again. Used by JPA's @Version
 * and Rails' lock_version. Compatible with every program that changes the rows of lockbench_version by the same
 * rule.
 *
 * One round trip to read, one to write. Nobody waits, but the work of a client that was too late is lost, so
 * contention costs retries. Pauses do no harm, because the database checks the version at the write. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_VERSION_SCHEMA, NULL},
    .table = "lockbench_version",
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
    .expected = pg_optimistic_expected,
    .recipe = &recipe,
};
