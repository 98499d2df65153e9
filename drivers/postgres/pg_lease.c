/* pg-lease: a row for each key, which stays; the next owner takes the row over when its end has passed: INSERT … ON
 * CONFLICT DO UPDATE … WHERE expire_at <= now(). A fence column counts the grants. This is ShedLock's lock (with
 * usingDbTime) with a token added. Compatible with every program that updates the rows of lockbench_lease by the same
 * rules.
 *
 * One round trip each. Waits by polling; no sweeper is needed. Freeing sets the end to now;
 * renewing needs the owner and an end that is still to come. All times are the server's. Even a failed
 * try locks the row for a moment and writes to the log, so many waiters load the server and delay the holder's
 * release. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe pg_lease_recipe = {
    .port = &pg_port,
    .schema =
        (const char *const[]){PG_MAKE("TABLE", "lockbench_lease",
                                      " (name text PRIMARY KEY, owner text NOT NULL, "
                                      "fence bigint NOT NULL, expire_at timestamptz NOT NULL)"),
                              NULL},
    .table = "lockbench_lease",
    .statement = {
        [SQL_TAKE] =
            {"INSERT INTO lockbench_lease AS held (name, owner, fence, expire_at) "
             "VALUES ($1::text, $2::text, 1, " PG_LEASE_END ") ON CONFLICT (name) DO UPDATE "
             "SET owner = excluded.owner, fence = held.fence + 1, expire_at = excluded.expire_at "
             "WHERE held.expire_at <= now() RETURNING fence",
             "kol"},
        [SQL_FREE] = {"UPDATE lockbench_lease SET expire_at = now() "
                      "WHERE name = $1::text AND owner = $2::text AND expire_at > now()",
                      "ko"},
        [SQL_RENEW] = {"UPDATE lockbench_lease SET expire_at = " PG_LEASE_END
                       " WHERE name = $1::text AND owner = $2::text AND expire_at > now()",
                       "kol"},
        [SQL_LEFT] = {"SELECT count(*) FROM lockbench_lease WHERE starts_with(name, $1::text) "
                      "AND expire_at > now()",
                      "k"},
    }};

const struct lb_lock lock_pg_lease = {
    .name = "pg-lease",
    .backend = &backend_postgres,
    SQL_LEASE_FACTS("each grant, release and failed try writes the row; grants wait for the flush",
                    "failed tries write too"),
    .recipe = &pg_lease_recipe,
};

/* pg-table: a row with a unique name, an owner and an end. INSERT takes the lock, DELETE of the client's own row
 * frees the lock, and a sweeper deletes the rows of dead owners. This is the lock table of introductory articles,
 * with a random token as the owner and with all times from the database's own clock. Compatible with every program
 * that inserts into and deletes from lockbench_table by the same rules.
 *
 * One round trip each. Waiters poll. The row of a dead owner stays until it is swept. Each waiter sweeps, at
 * most every 100 ms. The release of a holder whose end has passed returns LB_LOST, even if its row was not swept yet.
 * Deleted rows collect until VACUUM runs. ON CONFLICT DO NOTHING avoids the error 23505, because a failed INSERT
 * leaves a dead row and a line in the log. */

static const struct sql_recipe pg_table_recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_TABLE_SCHEMA, NULL},
    .table = "lockbench_table",
    .statement = {
        [SQL_TAKE] = {"INSERT INTO lockbench_table (name, owner, expire_at) "
                      "VALUES ($1::text, $2::text, " PG_LEASE_END ") ON CONFLICT DO NOTHING",
                      "kol"},
        [SQL_FREE] = {"DELETE FROM lockbench_table "
                      "WHERE name = $1::text AND owner = $2::text AND expire_at > now()",
                      "ko"},
        [SQL_RENEW] = {"UPDATE lockbench_table SET expire_at = " PG_LEASE_END
                       " WHERE name = $1::text AND owner = $2::text AND expire_at > now()",
                       "kol"},
        [SQL_SWEEP] = {PG_TABLE_SWEEP, ""},
        [SQL_LEFT] = {PG_TABLE_LEFT, "k"},
    }};

const struct lb_lock lock_pg_table = {
    .name = "pg-table",
    .backend = &backend_postgres,
    SQL_TABLE_FACTS(
        0, "a row a grant: INSERT and DELETE each wait for the log to be flushed", "server",
        "dead rows bloat the table; without a sweeper a dead owner's row stays", 1, LB_ON_ONE_NODE),
    .recipe = &pg_table_recipe,
};

/* pg-flag: a row with a flag for each key. UPDATE … SET locked = true WHERE NOT locked takes the lock if it changes a
 * row; UPDATE … SET locked = false frees the lock. This is the "status" or "is_running" column of many applications,
 * with an owner beside it, so that a release frees only the client's own lock. Compatible with every program that
 * changes the rows of lockbench_flag by the same rules.
 *
 * One round trip each. Waits by polling. Nothing ends by time: a pause loses nothing, and a holder that dies leaves
 * the flag set until somebody clears it by hand. */

static const struct sql_recipe pg_flag_recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_MAKE("TABLE", "lockbench_flag",
                                            " (name text PRIMARY KEY, locked boolean NOT NULL, "
                                            "owner text NOT NULL)"),
                                    NULL},
    .table = "lockbench_flag",
    .statement = {
        [SQL_TAKE] = {"UPDATE lockbench_flag SET locked = true, owner = $2::text "
                      "WHERE name = $1::text AND NOT locked",
                      "ko"},
        [SQL_FREE] = {"UPDATE lockbench_flag SET locked = false "
                      "WHERE name = $1::text AND owner = $2::text AND locked",
                      "ko"},
        PG_ROWS_OF("lockbench_flag", ", locked, owner", ", false, ''"),
    }};

const struct lb_lock lock_pg_flag = {
    .name = "pg-flag",
    .backend = &backend_postgres,
    SQL_FLAG_FACTS,
    .recipe = &pg_flag_recipe,
};

/* unsafe-sql-owner-is-host: pg-table as introductory articles print it: the owner is the host's
 * address, a row that is held by "us" is taken for a re-entry, and DELETE frees whatever the host
 * holds. Two threads or two programs on one host hold it together, and each frees the other's.
 *
 * A control: the checks must catch it. */

#define HOST "coalesce(host(inet_client_addr()), 'local')"

static const struct sql_recipe unsafe_sql_owner_is_host_recipe = {
    .port = &pg_port,
    .schema = (const char *const[]){PG_TABLE_SCHEMA, NULL},
    .table = "lockbench_table",
    .statement = {
        [SQL_TAKE] = {"INSERT INTO lockbench_table AS held (name, owner, expire_at) "
                      "VALUES ($1::text, " HOST ", now() + $2::bigint * interval '1 microsecond') "
                      "ON CONFLICT (name) DO UPDATE SET expire_at = excluded.expire_at "
                      "WHERE held.owner = excluded.owner",
                      "kl"},
        [SQL_FREE] = {"DELETE FROM lockbench_table WHERE name = $1::text AND owner = " HOST, "k"},
        [SQL_SWEEP] = {PG_TABLE_SWEEP, ""},
        [SQL_LEFT] = {PG_TABLE_LEFT, "k"},
    }};

static const struct lb_algorithm unsafe_sql_owner_is_host_algorithm = {
    .release = sql_lease_release,
    SQL_LEASE_MEMBERS,
};

const struct lb_lock lock_unsafe_sql_owner_is_host = {
    .name = "unsafe-sql-owner-is-host",
    .summary = "a lock table whose owner is the host's address",
    .backend = &backend_postgres,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_CONTROL,
    .waits = "poll",
    .keeps = "the rows of owners that died, until the next sweep",
    .about =
        {.order = "none",
         .hazards = "does not exclude on one host",
         LB_TERMS(1, 1, LB_NO_GUARANTEE, LB_CRASH_LEASE),
         .crash_slack_ns = 500 * LB_MS_NS,
         .mistake =
             "introductory articles store the client's IP as owner and treat a row with it as a "
             "re-entry: two threads of one host both enter, and free each other's lock",
         .exposed_by = "contended",
         .exposed_as = LB_EXPOSED_VIOLATED,
         .exposed_on_one_host = true},
    .algorithm = &unsafe_sql_owner_is_host_algorithm,
    .recipe = &unsafe_sql_owner_is_host_recipe,
};
