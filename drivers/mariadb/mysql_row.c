/* mysql-row: a row locked by SELECT … FOR UPDATE until its transaction ends: the way programs guard
 * a row of their own. Compatible with everything that locks the same row of lockbench_row. On
 * MariaDB: MySQL counts the time of a wait in whole seconds and has no sequences, so there it is
 * refused.
 *
 * Two round trips to take (BEGIN, SELECT), one to free (COMMIT). InnoDB keeps the waiters and
 * promises no order. The lock ends with its connection. The session raises
 * innodb_lock_wait_timeout, whose default ends every wait after 50 s; max_statement_time, which counts
 * microseconds, ends a timed wait.
 *
 * Each grant draws a token from a sequence, in the same round trip: it grows whatever is rolled
 * back. But MariaDB reserves 1,000 numbers at once, in a log that it flushes once a second. If the
 * server crashes within a second of the draw of the first of them, it gives the same numbers once
 * more. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe wait_timeout_recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){MARIA_ROW_SCHEMA, NULL},
    .session = (const char *const[]){"SET SESSION innodb_lock_wait_timeout = 100000000", NULL},
    .table = "lockbench_row",
    .statement = {
        MARIA_TRANSACTION,
        MARIA_ROW_STATEMENTS,
        [SQL_LOCK] = {MARIA_ROW_LOCKED, "k"},
        [SQL_LOCK_UNTIL] = {"SET STATEMENT max_statement_time = ? / 1e6 FOR " MARIA_ROW_LOCKED,
                            "wk"},
        [SQL_LOCK_NOW] = {MARIA_ROW_LOCKED " NOWAIT", "k"},
    }};

#define ROW_NOTE                                                                                   \
    .durability_class = "memory",                                                                  \
    .durability_note = "a row lock is in memory, and its COMMIT flushes nothing; the sequence is " \
                       "written once in 1,000 grants"

const struct lb_lock lock_mysql_row = {
    .name = "mysql-row",
    .summary =
        "SELECT FOR UPDATE of an InnoDB row, in a transaction that lasts as long as the hold",
    .backend = &backend_mariadb,
    SQL_ROW_FACTS,
    .waits = "server queue",
    ROW_NOTE,
    .about = {SQL_ROW_ABOUT,
              .order = "the server's queue: nearly first come, first served, not promised",
              .hazards =
                  "a hold is a transaction: it holds back the purge of old row versions; "
                  "a missing row locks the gap that it would be in; a server that crashes may give "
                  "out the tokens of its last second once more"},
    .recipe = &wait_timeout_recipe,
};

/* mysql-nowait: SELECT … FOR UPDATE NOWAIT of a row, in a transaction; a client that finds the row
 * locked gets error 1205 at once (MySQL 8: 3572), rolls back and asks again later. The same lock as
 * mysql-row, row for row, without InnoDB's queue. On MariaDB: MySQL has no sequence for the tokens.
 *
 * A failed try costs three round trips: BEGIN, SELECT, ROLLBACK. */

static const struct sql_recipe mysql_nowait_recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){MARIA_ROW_SCHEMA, NULL},
    .table = "lockbench_row",
    .statement = {
        MARIA_TRANSACTION,
        MARIA_ROW_STATEMENTS,
        [SQL_LOCK_NOW] = {MARIA_ROW_LOCKED " NOWAIT", "k"},
    }};

const struct lb_lock lock_mysql_nowait = {
    .name = "mysql-nowait",
    .summary = "SELECT FOR UPDATE NOWAIT of an InnoDB row, tried again and again",
    .backend = &backend_mariadb,
    SQL_ROW_FACTS,
    .waits = "poll",
    ROW_NOTE,
    .about =
        {SQL_ROW_ABOUT, .order = "none",
         .hazards =
             "waiters may starve; a hold is a transaction, which holds back the purge; a server "
             "that crashes may give out the tokens of its last second once more"},
    .recipe = &mysql_nowait_recipe,
};
