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

static const struct sql_recipe recipe = {
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
        PG_STORE_STATEMENTS,
    }};

const struct lb_lock lock_pg_lease = {
    .name = "pg-lease",
    .summary = "upsert of a row when its expire_at is past (ShedLock's way), with a fence column",
    .backend = &backend_postgres,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FENCE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .durability_note =
        "each grant, release and failed try writes the row; grants wait for the flush",
    .keeps = "one row for each key in lockbench_lease, which has the fencing token",
    .about = {.compatible = "every client that updates lockbench_lease's rows by the same rules",
              .order = "none",
              .token = "the row's fence column",
              .hazards =
                  "a holder that is paused past the end of its lease loses it: check the token; "
                  "the lease ends by the server's wall clock; failed tries write too",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_LEASE,
              .crash_slack_ns = 250 * LB_MS_NS},
    .expected = pg_lease_expected,
    .store = &pg_store,
    .algorithm = &sql_lease_algorithm,
    .recipe = &recipe,
};
