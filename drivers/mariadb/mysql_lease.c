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

static const struct sql_recipe recipe = {
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
        MARIA_STORE_STATEMENTS,
    }};

const struct lb_lock lock_mysql_lease = {
    .name = "mysql-lease",
    .summary = "upsert of a row when its expire_at is past (ShedLock's way), with a fence column",
    .backend = &backend_mariadb,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FENCE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .durability_note = "each grant and release writes the row and waits for the log to be flushed",
    .keeps = "one row for each key in lockbench_lease, which has the fencing token",
    .about = {.compatible = "every client that updates lockbench_lease's rows by the same rules",
              .order = "none",
              .token = "the row's fence column",
              .hazards =
                  "a holder that is paused past the end of its lease loses it: check the token; "
                  "the lease ends by the server's wall clock; failed tries lock the row for a "
                  "moment",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_LEASE,
              .crash_slack_ns = 250 * LB_MS_NS},
    .expected = maria_lease_expected,
    .store = &maria_store,
    .algorithm = &sql_lease_algorithm,
    .recipe = &recipe,
};
