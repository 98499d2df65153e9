/* mysql-table: a row with a unique name, an owner and an end. INSERT takes the lock (error 1062: another client has
 * it), DELETE of the client's own row frees the lock, and a sweeper deletes the rows of dead owners. This is the
 * lock table of introductory articles, with a random token as the owner and with all times from the database's own
 * clock. Compatible with every program that inserts into and deletes from lockbench_table by the same rules.
 *
 * One round trip each. Waiters poll. The row of a dead owner stays until it is swept. By default each waiter sweeps,
 * at most every 100 ms; sweep=nobody leaves that to a job of your own, as the articles do.
 *
 * An INSERT that finds the row takes a shared lock on it. When the row is deleted, two INSERTs that waited for it
 * both get that shared lock and both want to insert: a deadlock, and InnoDB ends one of them with error 1213. That
 * client has taken nothing: its outcome is "busy", and it tries again. Counted on 10.11, 16 clients on one key
 * without a hold: a victim for every ten grants; for every eighty with sweep=nobody, since sweepers lock the row
 * too. */
#include "drivers/mariadb/maria_sql.h"

static const struct sql_recipe recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){"CREATE TABLE IF NOT EXISTS lockbench_table (" MARIA_NAME
                                    ", " MARIA_OWNER ", "
                                    "expire_at DATETIME(6) NOT NULL, "
                                    "KEY (expire_at)) " MARIA_MADE,
                                    NULL},
    .table = "lockbench_table",
    .statement = {
        [SQL_TAKE] =
            {"INSERT INTO lockbench_table (name, owner, expire_at) VALUES (?, ?, " MARIA_LEASE_END
             ")",
             "kol"},
        [SQL_FREE] =
            {"DELETE FROM lockbench_table WHERE name = ? AND owner = ? AND expire_at > " MARIA_NOW,
             "ko"},
        [SQL_RENEW] = {"UPDATE lockbench_table SET expire_at = " MARIA_LEASE_END
                       " WHERE name = ? AND owner = ? AND expire_at > " MARIA_NOW,
                       "lko"},
        [SQL_SWEEP] = {"DELETE FROM lockbench_table WHERE expire_at <= " MARIA_NOW, ""},
        [SQL_LEFT] = {"SELECT COUNT(*) FROM lockbench_table WHERE " MARIA_NAME_LEFT
                      " AND expire_at > " MARIA_NOW,
                      "kk"},
    }};

const struct lb_lock lock_mysql_table = {
    .name = "mysql-table",
    .summary =
        "INSERT of a unique row with owner and expire_at, DELETE to free, and a sweeper for dead "
        "owners",
    .backend = &backend_mariadb,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .durability_note = "a row a grant: INSERT and DELETE each wait for the log to be flushed",
    .keeps = "the rows of owners that died or released too late, until the next sweep",
    .about =
        {.compatible = "every client that inserts and deletes lockbench_table's rows by the same "
                       "rules",
         .order = "none",
         .hazards =
             "a holder that is paused past the end of its lease loses it; the lease ends by the "
             "server's wall clock; inserts deadlock under contention; without a sweeper a dead "
             "owner's row stays",
         .acquire_requests = 1,
         .release_requests = 1,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE,
         .crash_slack_ns = 500 * LB_MS_NS},
    .expected = maria_lease_expected,
    .algorithm = &sql_table_algorithm,
    .recipe = &recipe,
};
