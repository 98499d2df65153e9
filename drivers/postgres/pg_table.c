/* pg-table: a row with a unique name, an owner and an end. INSERT takes the lock, DELETE of the client's own row
 * frees the lock, and a sweeper deletes the rows of dead owners. This is the lock table of introductory articles,
 * with a random token as the owner and with all times from the database's own clock. Compatible with every program
 * that inserts into and deletes from lockbench_table by the same rules.
 *
 * One round trip each. Waiters poll. The row of a dead owner stays until it is swept. By default each waiter sweeps,
 * at most every 100 ms; sweep=nobody leaves that to a job of your own, as the articles do; with sweep=one a sweeper
 * beside the first client sweeps, in a session of its own. The release of a holder whose end has passed returns
 * LB_LOST, even if its row was not swept yet. Deleted rows collect until VACUUM runs. ON CONFLICT DO NOTHING avoids
 * the error 23505, because a failed INSERT leaves a dead row and a line in the log. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
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

static int table_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct sql_options *options = session->options;
    if (sql_prepare(session, deadline_ns, err) != 0) return -1;
    bool sweeps = options->sweep == SQL_SWEEP_ONE && session->client == 0;
    return sweeps ? pg_sweeper_start(session, err) : 0;
}

static const struct lb_algorithm algorithm = {
    .causes = backoff_causes,
    .prepare = table_prepare,
    .release = sql_lease_release,
    .renew = sql_lease_renew,
    SQL_LEASE_MEMBERS(sql_swept_options),
};

const struct lb_lock lock_pg_table = {
    .name = "pg-table",
    .summary =
        "INSERT of a unique row with owner and expire_at, DELETE to free, and a sweeper for dead "
        "owners",
    .backend = &backend_postgres,
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
             "server's wall clock; dead rows bloat the table; without a sweeper a dead owner's "
             "row stays",
         .acquire_requests = 1,
         .release_requests = 1,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE,
         .crash_slack_ns = 500 * LB_MS_NS},
    .expected = pg_lease_expected,
    .algorithm = &algorithm,
    .recipe = &recipe,
};
