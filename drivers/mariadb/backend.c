/* backend: the description of the backend. Unlike the other files of this folder it is compiled
 * even if the client library is missing, so that the backend is listed, with the package to
 * install. */
#include "drivers/backends.h"

static const char *const maria_schemes[] = {"mysql", "mariadb", "mysqls", "mariadbs", NULL};

const struct lb_backend backend_mariadb = {
    .name = "mariadb",
    .summary = "MariaDB or MySQL by libmariadb: one server, or a Galera cluster",
    .schemes = maria_schemes,
    .topologies = (const char *const[]){"mariadb", "mariadb-galera", NULL},
    .missing = "built without libmariadb",
    .install = "libmariadb-dev mariadb-server",
    .connector = &mariadb_connector,
};
