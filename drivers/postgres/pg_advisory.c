/* pg-advisory: PostgreSQL's session-level advisory lock on a bigint: pg_advisory_lock to wait in
 * the server's queue, pg_try_advisory_lock to ask once, pg_advisory_unlock to free. Compatible with
 * every client that calls these functions with the same number (psql, Rails migrations, Flyway,
 * ...).
 *
 * One round trip each. The lock belongs to the connection: a dead client's is freed when the server
 * notices the closed socket, at once on one host, after TCP keepalive if the host vanished. It is
 * not replicated: a failover forgets it. It gives no fencing token. Do not use it behind PgBouncer
 * in transaction mode: there the lock stays with a server's session that other clients use, too.
 *
 * For a timed wait the server gives up: the statement that locks also sets lock_timeout, for itself
 * alone. The timeout is in whole milliseconds; the remaining time is rounded down. Where a limit of
 * the server's own ends a wait earlier (a role's lock_timeout or statement_timeout), the wait begins
 * again, at the queue's end. An attempt that is cut off ends with its connection; the backend then
 * stays in the queue until its turn comes and leaves it at once. */
#include "drivers/postgres/pg_sql.h"

static const struct sql_recipe session_recipe = {
    .port = &pg_port,
    .statement = {
        [SQL_LOCK] = {"SELECT pg_advisory_lock($1::bigint)", "n"},
        /* From a FROM clause, so that it takes effect before the lock is asked for; "true": until the
         * statement's own transaction ends. */
        [SQL_LOCK_UNTIL] = {"SELECT pg_advisory_lock($1::bigint) "
                            "FROM set_config('lock_timeout', $2::bigint::text, true)",
                            "nm"},
        [SQL_LOCK_NOW] = {"SELECT pg_try_advisory_lock($1::bigint)", "n"},
        [SQL_FREE] = {"SELECT pg_advisory_unlock($1::bigint)", "n"},
        [SQL_LEFT] = {PG_ADVISORY_LEFT("$1::bigint", "$2::bigint"), "vx"},
    }};

/* Runs a statement that answers true or false, or nothing that says so (if_false = LB_OK). */
static enum lb_outcome ask(struct lb_session *session, const struct lb_request *request,
                           enum sql_role role, int64_t answer_by_ns, enum lb_outcome if_false) {
    struct sql_answer answer = {0};
    sql_use(session, request);
    enum lb_outcome outcome = sql_run(session, role, answer_by_ns, &answer);
    if (outcome != LB_OK) return outcome;
    if (answer.rows == 0 || answer.columns == 0) return pg_odd_answer(session);
    return answer.number[0] ? LB_OK : if_false;
}

/* Frees the lock. A release that was cancelled or refused has freed nothing, and the session still
 * holds the lock. The outcome is LB_UNKNOWN then, so that the session is closed, which frees the
 * lock. */
static enum lb_outcome unlock(struct lb_session *session, const struct lb_request *request,
                              enum lb_outcome if_not_held) {
    enum lb_outcome outcome = ask(session, request, SQL_FREE, sql_answer_by(session), if_not_held);
    if (outcome == LB_BROKEN && pg_ended(session)) return LB_LOST; /* ended while we held it */
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT || outcome == LB_REFUSED) return LB_UNKNOWN;
    return outcome;
}

static enum lb_outcome advisory_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    bool once = request->deadline_ns <= lb_now();
    enum lb_outcome outcome;
    do {
        int64_t answer_by_ns;
        enum sql_role role = sql_choose_wait(session, request->deadline_ns, &answer_by_ns);
        enum lb_outcome if_false = once ? LB_BUSY : LB_TIMEOUT;
        outcome =
            ask(session, request, role, answer_by_ns, role == SQL_LOCK_NOW ? if_false : LB_OK);
        /* The server may have granted it at the moment of the time-out: a statement that fails
         * undoes the effects of its transaction, but not those of its session. */
        if (outcome == LB_TIMEOUT && unlock(session, request, LB_OK) == LB_UNKNOWN)
            return LB_UNKNOWN;
    } while (outcome == LB_TIMEOUT && sql_wait_again(session, request->deadline_ns));
    return outcome == LB_OK ? lb_granted(grant, 0, LB_NEVER) : outcome;
}

static enum lb_outcome advisory_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    (void)grant;
    return unlock(session, request, LB_LOST);
}

static const struct lb_algorithm algorithm = {
    .acquire = advisory_acquire,
    .release = advisory_release,
    SQL_MEMBERS,
};

#define ADVISORY_FACTS                                                                             \
    .backend = &backend_postgres, .primitive = LB_MUTEX,                                           \
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FAIR | LB_CAP_SESSION,                               \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,                    \
    .waits = "server queue", .durability_class = "memory",                                         \
    .durability_note =                                                                             \
        "in the server's memory: nothing is written, fsync does not matter; a failover forgets it"

const struct lb_lock lock_pg_advisory = {
    .name = "pg-advisory",
    .summary = "pg_advisory_lock on a bigint, as psql and migration tools use it",
    ADVISORY_FACTS,
    .about =
        {.compatible =
             "psql, the migrations of Rails and Flyway: every client that takes the same number",
         .order = "first come, first served",
         .hazards =
             "behind PgBouncer in transaction mode it leaks to other clients; a failover forgets "
             "it; the lock of a host that vanished is freed only by TCP keepalive",
         LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_AT_ONCE)},
    .algorithm = &algorithm,
    .recipe = &session_recipe,
};

/* pg-advisory-xact: PostgreSQL's advisory lock of a transaction: pg_advisory_xact_lock(bigint)
 * after BEGIN; nothing but the end of the transaction frees it. The same lock space as pg-advisory:
 * each excludes the other on the same number.
 *
 * Two round trips to take, one to free. It can't leak behind PgBouncer in transaction mode, as the
 * session-level one does. The hold is the whole transaction. Nothing is written: COMMIT flushes
 * nothing. */

static const struct sql_recipe xact_recipe = {
    .port = &pg_port,
    .statement = {
        PG_TRANSACTION,
        [SQL_LOCK] = {"SELECT pg_advisory_xact_lock($1::bigint)", "n"},
        [SQL_LOCK_UNTIL] = {"SELECT pg_advisory_xact_lock($1::bigint) "
                            "FROM set_config('lock_timeout', $2::bigint::text, true)",
                            "nm"},
        [SQL_LOCK_NOW] = {"SELECT WHERE pg_try_advisory_xact_lock($1::bigint)", "n"},
        [SQL_LEFT] = {PG_ADVISORY_LEFT("$1::bigint", "$2::bigint"), "vx"},
    }};

const struct lb_lock lock_pg_advisory_xact = {
    .name = "pg-advisory-xact",
    .summary = "pg_advisory_xact_lock on a bigint, freed by the end of its transaction",
    ADVISORY_FACTS,
    .about = {.compatible = "psql, pg-advisory and every client that takes the same number",
              .order = "first come, first served",
              .hazards = "a hold is a transaction: it holds back VACUUM, and "
                         "idle_in_transaction_session_timeout ends it; a failover forgets it",
              LB_TERMS(2, 1, LB_ON_ONE_NODE, LB_CRASH_AT_ONCE)},
    .algorithm = &sql_transaction_algorithm,
    .recipe = &xact_recipe,
};
