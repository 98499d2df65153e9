/* backend: the description of the backend. Unlike the other files of this folder it is compiled
 * even if the client library is missing, so that the backend is listed, with the package to
 * install. */
#include "drivers/backends.h"

const struct lb_backend backend_sqlite = {
    .name = "sqlite",
    .summary = "SQLite in this process, a database file for each key",
    .durability_class = "none",
    .missing = "built without SQLite",
    .install = "libsqlite3-dev",
    .connector = &sqlite_connector,
};
