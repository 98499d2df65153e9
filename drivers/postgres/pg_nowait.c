/* pg-nowait: SELECT … FOR UPDATE NOWAIT of a row, in a transaction; a client that finds the row
 * locked gets error 55P03, rolls back and asks again later. The same lock as pg-row, row for row,
 * without the server's queue: a waiter costs no blocked connection, and has no place in a queue.
 *
 * A failed try costs three round trips (BEGIN, SELECT, ROLLBACK) and a line in the server's log. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_ROW_SCHEMA, NULL},
    .table = "lockbench_row",
    .statement = {
        PG_TRANSACTION,
        PG_ROW_STATEMENTS,
        [SQL_LOCK_NOW] = {PG_ROW_LOCKED("lockbench_row WHERE name = $1::text FOR UPDATE NOWAIT"),
                          "k"},
    }};

const struct lb_lock lock_pg_nowait = {
    .name = "pg-nowait",
    .summary = "SELECT FOR UPDATE NOWAIT of a row, tried again and again",
    .backend = &backend_postgres,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .durability_note =
        "a row lock is written into the row: each COMMIT waits for the log to be flushed",
    .about = {.compatible = "any transaction that locks or changes the row",
              .order = "none",
              .token = "a sequence, drawn under the lock",
              .hazards = "each failed try is an error in the server's log; waiters may starve; "
                         "a hold is a transaction, which holds back VACUUM",
              .acquire_requests = 2,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_AT_ONCE},
    .expected = pg_row_expected,
    .algorithm = &sql_transaction_algorithm,
    .recipe = &recipe,
};
