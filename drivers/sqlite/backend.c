/* backend: what the backend is. Compiled also where its client library is missing, unlike the other
 * files of this folder, so that it is listed with what to install. */
#include "drivers/sqlite/backend.h"

const struct lb_backend backend_sqlite = {
    .name = "sqlite",
    .summary = "SQLite in this process, a database file for each key",
    .durability_class = "none",
    .expected = sqlite_immediate_expected,
    .missing = "built without SQLite",
    .install = "libsqlite3-dev",
    .connector = &sqlite_connector,
};
