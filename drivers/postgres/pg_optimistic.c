/* pg-optimistic: no lock at all: read a row with its version, write it back WHERE the version is
 * still that one; one changed row is success, none means that somebody was faster: read again.
 * JPA's @Version, Rails' lock_version. Compatible with whoever changes lockbench_version's rows by
 * the same rule.
 *
 * One round trip to read, one to write. Nobody waits, but the work of a client that came too late
 * is thrown away, so under contention retries are the cost. Safe whatever the pauses, since it is
 * the database that checks at the write. */
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
