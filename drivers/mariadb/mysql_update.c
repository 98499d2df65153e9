/* mysql-update: no lock at all: UPDATE ... SET version = LAST_INSERT_ID(version + 1). The database
 * locks the row for as long as the statement takes and computes from the row as it then is, so that
 * no update is lost and nobody is refused; LAST_INSERT_ID(expression) has the answer say what it
 * computed. Programs change a stock (SET stock = stock - 1 WHERE stock > 0), a counter or a balance
 * in this way. The limit of the version stands for the stock.
 *
 * One round trip. It helps only where one statement can compute what is written. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){MARIA_VERSION_SCHEMA, NULL},
    .table = "lockbench_version",
    .statement = {
        MARIA_VERSION_ROWS,
        [SQL_COUNT] =
            {"UPDATE lockbench_version SET version = LAST_INSERT_ID(version + 1) WHERE name = ? "
             "AND version < " SQL_VERSION_LIMIT,
             "k"},
    }};

const struct lb_lock lock_mysql_update = {
    .name = "mysql-update",
    .summary = "no lock, one statement: UPDATE SET version = LAST_INSERT_ID(version + 1)",
    .backend = &backend_mariadb,
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
    .expected = maria_update_expected,
    .algorithm = &sql_update_algorithm,
    .recipe = &recipe,
};
