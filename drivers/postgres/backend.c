/* backend: the description of the backend. Unlike the other files of this folder it is compiled
 * even if the client library is missing, so that the backend is listed, with the package to
 * install. */
#include "drivers/backends.h"

static const char *const pg_schemes[] = {"postgres", "postgresql", NULL};

const struct lb_backend backend_postgres = {
    .name = "postgres",
    .summary = "PostgreSQL by libpq: one server, behind PgBouncer, or a primary with standbys",
    .schemes = pg_schemes,
    .topologies =
        (const char *const[]){"postgres", "postgres-pgbouncer", "postgres-replicas", NULL},
    .missing = "built without libpq",
    .install = "libpq-dev postgresql",
    .connector = &postgres_connector,
};
