/* mysql-lease: a row for each key, which stays; the next owner takes the row over when its end has passed. The
 * statement is INSERT … ON DUPLICATE KEY UPDATE; it changes each column only if the end has passed, and a fence
 * column counts the grants. This is ShedLock's lock with a token added. Compatible with every program that updates
 * the rows of lockbench_lease by the same rules.
 *
 * One round trip each. Waits by polling; no sweeper is needed. Freeing sets the end to now;
 * renewing needs the owner and an end that is still to come. All times are the server's.
 *
 * ON DUPLICATE KEY UPDATE has no WHERE, and before MariaDB 10.5 no RETURNING: the number of changed
 * rows (1 = inserted, 2 = taken over, 0 = another client's) tells whether we have it, and
 * LAST_INSERT_ID(fence + 1) brings the token back in the same answer. Columns are assigned from
 * left to right, so the end, which the conditions read, comes last. */
#include "drivers/mariadb/maria_sql.h"

#define IF_OVER "IF(expire_at <= " MARIA_NOW ", "

static const struct sql_recipe mysql_lease_recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){"CREATE TABLE IF NOT EXISTS lockbench_lease (" MARIA_NAME
                                    ", " MARIA_OWNER ", "
                                    "fence BIGINT NOT NULL, "
                                    "expire_at DATETIME(6) NOT NULL) " MARIA_MADE,
                                    NULL},
    .table = "lockbench_lease",
    .statement = {
        [SQL_TAKE] = {"INSERT INTO lockbench_lease (name, owner, fence, expire_at) "
                      "VALUES (?, ?, LAST_INSERT_ID(1), " MARIA_LEASE_END
                      ") ON DUPLICATE KEY UPDATE "
                      "fence = " IF_OVER "LAST_INSERT_ID(fence + 1), fence), "
                      "owner = " IF_OVER "VALUES(owner), owner), "
                      "expire_at = " IF_OVER "VALUES(expire_at), expire_at)",
                      "kol"},
        [SQL_FREE] = {"UPDATE lockbench_lease SET expire_at = " MARIA_NOW
                      " WHERE name = ? AND owner = ? AND expire_at > " MARIA_NOW,
                      "ko"},
        [SQL_RENEW] = {"UPDATE lockbench_lease SET expire_at = " MARIA_LEASE_END
                       " WHERE name = ? AND owner = ? AND expire_at > " MARIA_NOW,
                       "lko"},
        [SQL_LEFT] = {"SELECT COUNT(*) FROM lockbench_lease WHERE " MARIA_NAME_LEFT
                      " AND expire_at > " MARIA_NOW,
                      "kk"},
    }};

const struct lb_lock lock_mysql_lease = {
    .name = "mysql-lease",
    .backend = &backend_mariadb,
    SQL_LEASE_FACTS("each grant and release writes the row and waits for the log to be flushed",
                    "failed tries lock the row for a moment"),
    .recipe = &mysql_lease_recipe,
};

/* mysql-table: a row with a unique name, an owner and an end. INSERT takes the lock (error 1062: another client has
 * it), DELETE of the client's own row frees the lock, and a sweeper deletes the rows of dead owners. This is the
 * lock table of introductory articles, with a random token as the owner and with all times from the database's own
 * clock. Compatible with every program that inserts into and deletes from lockbench_table by the same rules.
 *
 * One round trip each. Waiters poll. The row of a dead owner stays until it is swept. Each waiter sweeps, at
 * most every 100 ms.
 *
 * An INSERT that finds the row takes a shared lock on it. When the row is deleted, two INSERTs that waited for it
 * both get that shared lock and both want to insert: a deadlock, and InnoDB ends one of them with error 1213. That
 * client has taken nothing: its outcome is "busy", and it tries again. Counted on 10.11, 16 clients on one key
 * without a hold: a victim for every ten grants, since sweepers lock the row too. */

static const struct sql_recipe mysql_table_recipe = {
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
    .backend = &backend_mariadb,
    SQL_TABLE_FACTS(0, "a row a grant: INSERT and DELETE each wait for the log to be flushed",
                    "server",
                    "inserts deadlock under contention; without a sweeper a dead owner's row stays",
                    1, LB_ON_ONE_NODE),
    .recipe = &mysql_table_recipe,
};

/* mysql-flag: a row with a flag for each key. UPDATE … SET locked = TRUE WHERE NOT locked takes the lock if it
 * changes a row; UPDATE … SET locked = FALSE frees the lock. This is the "status" or "is_running" column of many
 * applications, with an owner beside it, so that a release frees only the client's own lock. Compatible with every
 * program that changes the rows of lockbench_flag by the same rules.
 *
 * One round trip each. Waits by polling. Nothing ends by time: a pause loses nothing, and a holder that dies leaves
 * the flag set until somebody clears it by hand. */

static const struct sql_recipe mysql_flag_recipe = {
    .port = &maria_port,
    .schema = (const char *const[]){"CREATE TABLE IF NOT EXISTS lockbench_flag (" MARIA_NAME ", "
                                    "locked BOOLEAN NOT NULL, " MARIA_OWNER ") " MARIA_MADE,
                                    NULL},
    .table = "lockbench_flag",
    .statement = {
        [SQL_TAKE] = {"UPDATE lockbench_flag SET locked = TRUE, owner = ? "
                      "WHERE name = ? AND NOT locked",
                      "ok"},
        [SQL_FREE] = {"UPDATE lockbench_flag SET locked = FALSE "
                      "WHERE name = ? AND owner = ? AND locked",
                      "ko"},
        MARIA_ROWS_OF("lockbench_flag", ", locked, owner", ", FALSE, ''"),
    }};

const struct lb_lock lock_mysql_flag = {
    .name = "mysql-flag",
    .backend = &backend_mariadb,
    SQL_FLAG_FACTS,
    .recipe = &mysql_flag_recipe,
};
