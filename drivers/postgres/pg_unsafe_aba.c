/* unsafe-sql-aba: pg-optimistic that compares the value which it read instead of a version: "UPDATE … SET status = ?
 * WHERE id = ? AND status = ?". The row goes from A to B and back to A while a client works on what it read of the
 * first A: its write is accepted, although two writes came between, and overwrites them. The row's value here is
 * such a status, 0 or 1, and each write sets the other one; the version is data like any other, a count of the
 * writes, written from what was read.
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
        /* $2 is one more than the value that was read */
        [SQL_WRITE] = {"UPDATE lockbench_version SET value = $2::bigint % 2, "
                       "version = $3::bigint + 1 "
                       "WHERE name = $1::text AND value = $2::bigint - 1",
                       "kxv"},
    }};

const struct lb_lock lock_unsafe_sql_aba = {
    .name = "unsafe-sql-aba",
    .summary = "an optimistic UPDATE whose WHERE compares the value that was read, not a version",
    .backend = &backend_postgres,
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_CONTROL,
    .waits = "never",
    .about = {.order = "none",
              .hazards = "loses updates where a value comes back",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_NO_GUARANTEE,
              .crash = LB_CRASH_AT_ONCE,
              .mistake =
                  "compares the value instead of a version, as compare-and-set on a status or "
                  "a balance does: a value that was changed and changed back (A, B, A) looks "
                  "untouched, so what came between is overwritten",
              .exposed_by = "guarded-update",
              .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm = &sql_optimistic_algorithm,
    .recipe = &recipe,
};
