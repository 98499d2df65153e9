/* pg-row: a row locked by SELECT … FOR UPDATE until its transaction ends: the way programs guard a
 * row of their own. Compatible with everything that locks the same row of lockbench_row.
 *
 * Two round trips to take (BEGIN, SELECT), one to free (COMMIT). The server keeps the waiters:
 * nearly first come, first served, but it promises no order. The lock ends with its connection. A
 * lock is written into the row, so each grant writes the log and each COMMIT waits for the disk. A
 * long hold is a long transaction: it keeps VACUUM from cleaning, in the whole database;
 * idle_in_transaction_session_timeout ends it, if set.
 *
 * The safest place for the guarded data is the same transaction. For data elsewhere each grant
 * draws a token from a sequence, in the same round trip: it grows whatever is rolled back. (A fence
 * column, counted in the lock's own transaction, would be rolled back with a dead holder, and its
 * number given again.) A server that crashes under a holder may give that holder's number once
 * more: nextval writes one log record for 33 numbers, and only the COMMIT of the holder of the
 * first of them flushes it to disk. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe pg_row_recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_ROW_SCHEMA, NULL},
    .table = "lockbench_row",
    .statement = {
        PG_TRANSACTION,
        PG_ROW_STATEMENTS,
        [SQL_LOCK] = {PG_ROW_LOCKED("lockbench_row WHERE name = $1::text FOR UPDATE"), "k"},
        /* From a FROM clause, so that it takes effect before the row is locked; "true": until the
         * transaction ends. */
        [SQL_LOCK_UNTIL] = {PG_ROW_LOCKED(
                                "set_config('lock_timeout', $2::bigint::text, true), lockbench_row "
                                "WHERE name = $1::text FOR UPDATE OF lockbench_row"),
                            "km"},
        [SQL_LOCK_NOW] = {PG_ROW_LOCKED("lockbench_row WHERE name = $1::text FOR UPDATE NOWAIT"),
                          "k"},
    }};

const struct lb_lock lock_pg_row = {
    .name = "pg-row",
    .summary = "SELECT FOR UPDATE of a row, in a transaction that lasts as long as the hold",
    .backend = &backend_postgres,
    SQL_ROW_FACTS,
    .waits = "server queue",
    .durability_note =
        "a row lock is written into the row: each COMMIT waits for the log to be flushed",
    .about =
        {SQL_ROW_ABOUT,
         .order = "the server's queue: nearly first come, first served, not promised",
         .hazards =
             "a hold is a transaction: it holds back VACUUM, and "
             "idle_in_transaction_session_timeout ends it; not with PgBouncer's statement mode"},
    .recipe = &pg_row_recipe,
};

/* pg-nowait: SELECT … FOR UPDATE NOWAIT of a row, in a transaction; a client that finds the row
 * locked gets error 55P03, rolls back and asks again later. The same lock as pg-row, row for row,
 * without the server's queue: a waiter costs no blocked connection, and has no place in a queue.
 *
 * A failed try costs three round trips (BEGIN, SELECT, ROLLBACK) and a line in the server's log. */

static const struct sql_recipe pg_nowait_recipe = {
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
    SQL_ROW_FACTS,
    .waits = "poll",
    .durability_note =
        "a row lock is written into the row: each COMMIT waits for the log to be flushed",
    .about = {SQL_ROW_ABOUT, .order = "none",
              .hazards = "each failed try is an error in the server's log; waiters may starve; "
                         "a hold is a transaction, which holds back VACUUM"},
    .recipe = &pg_nowait_recipe,
};
