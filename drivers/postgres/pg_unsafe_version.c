/* unsafe-sql-version-compares-itself: pg-optimistic as introductory articles print it: "UPDATE …
 * SET version = version + 1 WHERE id = ? AND version = version". The column is compared with
 * itself, not with what was read, so the condition is always true and the second writer overwrites
 * the first.
 *
 * A control: the checks must catch it. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_VERSION_SCHEMA, NULL},
    .table = "lockbench_version",
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
    .backend = &backend_postgres,
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_CONTROL,
    .waits = "never",
    .about = {.order = "none",
              .hazards = "loses updates",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_NO_GUARANTEE,
              .crash = LB_CRASH_AT_ONCE,
              .mistake =
                  "introductory articles print WHERE id = ? AND version = version: always true, so "
                  "the second of two writers overwrites the first one's update",
              .exposed_by = "guarded-update",
              .exposed_as = LB_EXPOSED_VIOLATED},
    .expected = pg_unsafe_version_expected,
    .algorithm = &sql_optimistic_algorithm,
    .recipe = &recipe,
};
