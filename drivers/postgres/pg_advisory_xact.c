/* pg-advisory-xact: PostgreSQL's advisory lock of a transaction: pg_advisory_xact_lock(bigint)
 * after BEGIN; nothing but the end of the transaction frees it. The same lock space as pg-advisory:
 * each excludes the other on the same number.
 *
 * Two round trips to take, one to free. It can't leak behind PgBouncer in transaction mode, as the
 * session-level one does. The hold is the whole transaction. Nothing is written: COMMIT flushes
 * nothing. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .statement = {
        PG_TRANSACTION,
        [SQL_LOCK] = {"SELECT pg_advisory_xact_lock($1::bigint)", "n"},
        [SQL_LOCK_UNTIL] = {"SELECT pg_advisory_xact_lock($1::bigint) "
                            "FROM set_config('lock_timeout', $2::bigint::text, true)",
                            "nm"},
        [SQL_LOCK_NOW] = {"SELECT WHERE pg_try_advisory_xact_lock($1::bigint)", "n"},
        [SQL_LEFT] = {PG_ADVISORY_LEFT, ""},
    }};

const struct lb_lock lock_pg_advisory_xact = {
    .name = "pg-advisory-xact",
    .summary = "pg_advisory_xact_lock on a bigint, freed by the end of its transaction",
    .backend = &backend_postgres,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FAIR | LB_CAP_SESSION | LB_CAP_MULTI,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "server queue",
    .durability_class = "memory",
    .durability_note =
        "in the server's memory: nothing is written, fsync does not matter; a failover forgets it",
    .about = {.compatible = "psql, pg-advisory and every client that takes the same number",
              .order = "first come, first served",
              .hazards = "a hold is a transaction: it holds back VACUUM, and "
                         "idle_in_transaction_session_timeout ends it; a failover forgets it",
              .acquire_requests = 2,
              .release_requests = 1,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_AT_ONCE},
    .algorithm = &sql_transaction_algorithm,
    .recipe = &recipe,
};
