/* backend: what the backend is. Compiled also where its client library is missing, unlike the other
 * files of this folder, so that it is listed with what to install. */
#include "drivers/postgres/backend.h"

static const char *const pg_schemes[] = {"postgres", "postgresql", NULL};

const struct lb_backend backend_postgres = {
    .name = "postgres",
    .summary = "PostgreSQL by libpq: one server, behind PgBouncer, or a primary with standbys",
    .schemes = pg_schemes,
    .topologies =
        (const char *const[]){"postgres", "postgres-pgbouncer", "postgres-replicas", NULL},
    .expected = pg_advisory_xact_expected,
    .missing = "built without libpq",
    .install = "libpq-dev postgresql",
    .connector = &postgres_connector,
};
