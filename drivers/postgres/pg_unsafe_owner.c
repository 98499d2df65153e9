/* unsafe-sql-owner-is-host: pg-table as introductory articles print it: the owner is the host's
 * address, a row that is held by "us" is taken for a re-entry, and DELETE frees whatever the host
 * holds. Two threads or two programs on one host hold it together, and each frees the other's.
 *
 * A control: the checks must catch it. */
#include "drivers/postgres/pg_sql.h"

#define HOST "coalesce(host(inet_client_addr()), 'local')"

static const struct sql_recipe recipe = {
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

static const struct lb_algorithm algorithm = {
    .prepare = sql_prepare,
    .release = sql_lease_release,
    SQL_LEASE_MEMBERS(sql_table_options),
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
         .acquire_requests = 1,
         .release_requests = 1,
         .guarantee = LB_NO_GUARANTEE,
         .crash = LB_CRASH_LEASE,
         .crash_slack_ns = 500 * LB_MS_NS,
         .mistake =
             "introductory articles store the client's IP as owner and treat a row with it as a "
             "re-entry: two threads of one host both enter, and free each other's lock",
         .exposed_by = "contended",
         .exposed_as = LB_EXPOSED_VIOLATED,
         .exposed_on_one_host = true},
    .expected = pg_unsafe_owner_expected,
    .algorithm = &algorithm,
    .recipe = &recipe,
};
