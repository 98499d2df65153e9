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
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/postgres/pg_sql.h"

static const struct {
    const char *name, *sql;
} statements[] = {
    {"lb_lock", "SELECT pg_advisory_lock($1::bigint)"},
    {"lb_try", "SELECT pg_try_advisory_lock($1::bigint)"},
    /* From a FROM clause, so that it takes effect before the lock is asked for; "true": until the
     * statement's own transaction ends. */
    {"lb_timed",
     "SELECT pg_advisory_lock($1::bigint) FROM set_config('lock_timeout', $2::text, true)"},
    {"lb_unlock", "SELECT pg_advisory_unlock($1::bigint)"},
};

static int advisory_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (pg_prepare(session, statements[i].name, statements[i].sql, deadline_ns, err) != 0)
            return -1;
    }
    return 0;
}

/* Milliseconds as text; written without printf, for the hot path. */
static const char *ms_text(char text[24], int64_t ms) {
    char *at = text + 23;
    *at = '\0';
    do *--at = (char)('0' + ms % 10);
    while ((ms /= 10) > 0);
    return at;
}

/* Runs a statement that answers true or false. */
static enum lb_outcome run_boolean(struct lb_session *session, const char *statement,
                                   const struct lb_request *request, enum lb_outcome if_false) {
    struct pg_args args = {0};
    pg_add_int8(&args, (int64_t)request->key_number);
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_run(session, statement, &args, sql_answer_by(session), &result);
    if (outcome != LB_OK) return outcome;
    bool whole = pg_field_bytes(result, 0, 0) == 1, yes = whole && pg_bool(result, 0, 0);
    PQclear(result);
    if (!whole) return pg_odd_answer(session);
    return yes ? LB_OK : if_false;
}

/* Frees the lock. A release that was cancelled or refused has freed nothing, and the session still
 * holds the lock. The outcome is LB_UNKNOWN then, so that the session is closed, which frees the
 * lock. */
static enum lb_outcome unlock(struct lb_session *session, const struct lb_request *request,
                              enum lb_outcome if_not_held) {
    enum lb_outcome outcome = run_boolean(session, "lb_unlock", request, if_not_held);
    if (outcome == LB_BROKEN && pg_ended(session)) return LB_LOST; /* ended while we held it */
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT || outcome == LB_REFUSED) return LB_UNKNOWN;
    return outcome;
}

/* Waits in the server's queue until the deadline, or until a limit of the server's own. */
static enum lb_outcome wait_in_queue(struct lb_session *session, const struct lb_request *request) {
    struct pg_args args = {0};
    char text[24];
    const char *statement = "lb_lock";
    int64_t answer_by_ns = LB_NEVER;
    pg_add_int8(&args, (int64_t)request->key_number);
    if (request->deadline_ns != LB_NEVER) {
        int64_t left_ms = (request->deadline_ns - lb_now()) / LB_MS_NS;
        if (left_ms < 1) left_ms = 1; /* 0 would mean for ever */
        if (left_ms > INT32_MAX) left_ms = INT32_MAX;
        pg_add_text(&args, ms_text(text, left_ms));
        statement = "lb_timed";
        answer_by_ns = sql_answer_after(session, request->deadline_ns);
    }
    PGresult *result = NULL;
    enum lb_outcome outcome = pg_run(session, statement, &args, answer_by_ns, &result);
    if (outcome != LB_OK) return outcome;
    bool granted = pg_field_bytes(result, 0, 0) >= 0;
    PQclear(result);
    return granted ? LB_OK : pg_odd_answer(session);
}

static enum lb_outcome advisory_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    bool once = request->deadline_ns <= lb_now();
    enum lb_outcome outcome;
    do {
        outcome = once ? run_boolean(session, "lb_try", request, LB_BUSY)
                       : wait_in_queue(session, request);
        /* The server may have granted it at the moment of the time-out: a statement that fails
         * undoes the effects of its transaction, but not those of its session. */
        if (outcome == LB_TIMEOUT && unlock(session, request, LB_OK) == LB_UNKNOWN)
            return LB_UNKNOWN;
    } while (outcome == LB_TIMEOUT && sql_wait_again(session, request->deadline_ns));
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant, 0, LB_NEVER);
}

static enum lb_outcome advisory_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    (void)grant;
    return unlock(session, request, LB_LOST);
}

static int count_advisory_locks(struct lb_session *session, const char *prefix, uint64_t *ret_count,
                                struct lb_err *err) {
    (void)prefix; /* a number does not tell its name */
    const struct lb_own_keys *only = session->only;
    long long from = only ? (long long)only->number : LLONG_MIN,
              to = only ? from + only->count - 1 : LLONG_MAX;
    char sql[1024];
    PGresult *result = NULL;
    snprintf(sql, sizeof sql, PG_ADVISORY_LEFT("(%lld)", "%lld"), from, to, from);
    if (pg_query(session, sql, sql_answer_by(session), &result) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    *ret_count = strtoull(pg_text(result, 0, 0), NULL, 10);
    PQclear(result);
    return 0;
}

static int advisory_residue(struct lb_session *session, const char *prefix,
                            struct lb_residue *ret_residue, struct lb_err *err) {
    return sql_count_down(session, prefix, count_advisory_locks, SQL_ADVISORY_LEFT, ret_residue,
                          err);
}

static const struct lb_algorithm algorithm = {
    .prepare = advisory_prepare,
    .acquire = advisory_acquire,
    .release = advisory_release,
    .residue = advisory_residue,
    .names = sql_names,
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
         SQL_ON_SERVER(1, 1),
         .crash = LB_CRASH_AT_ONCE},
    .algorithm = &algorithm,
};

/* pg-advisory-xact: PostgreSQL's advisory lock of a transaction: pg_advisory_xact_lock(bigint)
 * after BEGIN; nothing but the end of the transaction frees it. The same lock space as pg-advisory:
 * each excludes the other on the same number.
 *
 * Two round trips to take, one to free. It can't leak behind PgBouncer in transaction mode, as the
 * session-level one does. The hold is the whole transaction. Nothing is written: COMMIT flushes
 * nothing. */

static const struct sql_recipe recipe = {
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
              SQL_ON_SERVER(2, 1),
              .crash = LB_CRASH_AT_ONCE},
    .algorithm = &sql_transaction_algorithm,
    .recipe = &recipe,
};
