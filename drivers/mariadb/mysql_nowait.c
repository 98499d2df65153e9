/* mysql-nowait: SELECT … FOR UPDATE NOWAIT of a row, in a transaction; a client that finds the row
 * locked gets error 1205 at once (MySQL 8: 3572), rolls back and asks again later. The same lock as
 * mysql-row, row for row, without InnoDB's queue. On MariaDB: MySQL has no sequence for the tokens.
 *
 * A failed try costs three round trips: BEGIN, SELECT, ROLLBACK. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe recipe = {.port = &maria_port,
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
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .durability_class = "memory",
    .durability_note =
        "a row lock is in memory, and its COMMIT flushes nothing; the sequence is written "
        "once in 1,000 grants",
    .about =
        {.compatible = "any transaction that locks or changes the row",
         .order = "none",
         .token = "a sequence, drawn under the lock",
         .hazards =
             "waiters may starve; a hold is a transaction, which holds back the purge; a server "
             "that crashes may give out the tokens of its last second once more",
         .acquire_requests = 2,
         .release_requests = 1,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_AT_ONCE},
    .expected = maria_row_expected,
    .algorithm = &sql_transaction_algorithm,
    .recipe = &recipe,
};
