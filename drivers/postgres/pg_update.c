/* pg-update: no lock at all: UPDATE ... SET version = version + 1 ... RETURNING version. The
 * database locks the row for as long as the statement takes and computes from the row as it then
 * is, so that no update is lost and nobody is refused. Programs change a stock in this way (SET
 * stock = stock - 1 WHERE stock > 0), a counter or a balance. The limit of the version stands for
 * the stock: the server looks at the condition again when it has waited for another update.
 *
 * One round trip. It helps only where one statement can compute what is written. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_VERSION_SCHEMA, NULL},
    .table = "lockbench_version",
    .statement = {
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
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_ATOMIC,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "server queue, for others' statements on the row",
    .durability_note = "each update waits for the log to be flushed",
    .about = {.compatible =
                  "every client that changes lockbench_version's rows by such a statement",
              .order = "none",
              .token = "the row's version",
              .hazards = SQL_UPDATE_HAZARDS,
              .acquire_requests = 1,
              .release_requests = 0,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_AT_ONCE},
    .expected = pg_update_expected,
    .algorithm = &sql_update_algorithm,
    .recipe = &recipe,
};
