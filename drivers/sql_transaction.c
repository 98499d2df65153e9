/* sql_transaction: a lock that is held until its transaction ends: a row by SELECT … FOR UPDATE, or
 * an advisory lock of a transaction. Waiters queue on the server; with a recipe without SQL_LOCK they
 * poll. When a connection ends, the server rolls back, which frees the lock. A session has
 * one transaction, so it has one grant at a time.
 *
 * After a wait that took too long, and after every other error of the server, the transaction is
 * rolled back before the outcome is returned. */
#include <string.h>

#include "drivers/sql_lock.h"

#define WAIT_MAX_MS INT32_MAX /* the longest lock_timeout that PostgreSQL accepts: 24 days */
#define ADDS_MAX 3

static bool holds_key(const struct sql_session *mine, const struct lb_request *request) {
    return mine->in_transaction && mine->values.key_len == request->key_len &&
           memcmp(mine->values.key, request->key, request->key_len) == 0;
}

static bool is_dead(enum lb_outcome outcome) {
    return outcome == LB_UNKNOWN || outcome == LB_BROKEN;
}

/* Ends the transaction that an attempt began. LB_OK, or the connection is dead. */
static enum lb_outcome give_up(struct lb_session *session) {
    struct sql_session *mine = session->lock_state;
    struct sql_answer answer;
    mine->in_transaction = false;
    enum lb_outcome outcome = sql_run(session, SQL_ROLLBACK, sql_soon(session), &answer);
    if (outcome == LB_OK || is_dead(outcome)) return outcome;
    return lb_fail(session, LB_BROKEN, "%s: can't roll back", session->lock->name);
}

enum sql_role sql_choose_wait(struct lb_session *session, int64_t deadline_ns,
                              int64_t *ret_answer_by_ns) {
    struct sql_session *mine = session->lock_state;
    const struct sql_port *port = ((const struct sql_recipe *)session->lock->recipe)->port;
    int64_t now_ns = lb_now();
    *ret_answer_by_ns = port->answer_after(session, now_ns);
    if (deadline_ns <= now_ns || !sql_has(session, SQL_LOCK)) return SQL_LOCK_NOW;
    if (deadline_ns == LB_NEVER) {
        *ret_answer_by_ns = LB_NEVER;
        return SQL_LOCK;
    }
    /* Rounded down, so that the answer is not late; but at least 1, because 0 would mean no limit. */
    int64_t left_us = (deadline_ns - now_ns) / LB_US_NS;
    if (left_us > WAIT_MAX_MS * INT64_C(1000)) left_us = WAIT_MAX_MS * INT64_C(1000);
    mine->values.wait_us = left_us > 0 ? left_us : 1;
    mine->values.wait_ms = left_us >= 1000 ? left_us / 1000 : 1;
    *ret_answer_by_ns = port->answer_after(session, deadline_ns);
    return SQL_LOCK_UNTIL;
}

/* The result of one try. */
struct row_try {
    enum sql_role role; /* the statement that last tried to lock the key */
    uint64_t token;
    bool missing; /* the key has no row */
};

/* Locks the key in the transaction that the session is in. */
static enum lb_outcome lock_row(struct lb_session *session, const struct lb_request *request,
                                int64_t deadline_ns, struct row_try *ret) {
    struct sql_answer answer = {0};
    int64_t answer_by_ns;
    sql_use(session, request);
    ret->role = sql_choose_wait(session, deadline_ns, &answer_by_ns);
    enum lb_outcome outcome = sql_run(session, ret->role, answer_by_ns, &answer);
    if (outcome == LB_OK && answer.rows == 0) {
        ret->missing = sql_has(session, SQL_ADD);
        return LB_BUSY;
    }
    if (outcome == LB_OK) ret->token = (uint64_t)answer.number[0];
    return outcome;
}

/* One try. LB_OK: the key is held. */
static enum lb_outcome lock_rows_once(struct lb_session *session, const struct lb_request *request,
                                      int64_t deadline_ns, struct row_try *ret) {
    struct sql_session *mine = session->lock_state;
    struct sql_answer answer = {0};
    *ret = (struct row_try){.role = SQL_BEGIN};
    enum lb_outcome outcome = sql_run(session, SQL_BEGIN, sql_soon(session), &answer);
    if (outcome != LB_OK) return outcome;
    mine->in_transaction = true;
    outcome = lock_row(session, request, deadline_ns, ret);
    if (outcome == LB_OK) return LB_OK;
    if (is_dead(outcome)) {
        mine->in_transaction = false;
        return outcome;
    }
    enum lb_outcome undone = give_up(session);
    return undone == LB_OK ? outcome : undone;
}

static enum lb_outcome transaction_acquire(struct lb_session *session,
                                           const struct lb_request *request,
                                           struct lb_grant *grant) {
    const struct sql_options *options = session->options;
    struct sql_session *mine = session->lock_state;
    if (!mine->recipe) return lb_fail(session, LB_BROKEN, "%s: not connected", session->lock->name);
    if (holds_key(mine, request)) return LB_BUSY;
    if (mine->in_transaction)
        return lb_fail(session, LB_REFUSED, "%s: a session holds one lock at a time",
                       session->lock->name);
    struct backoff backoff;
    backoff_start(&backoff, &options->poll);
    bool once = request->deadline_ns <= lb_now();
    for (int adds = 0;;) {
        struct row_try tried;
        enum lb_outcome outcome =
            lock_rows_once(session, request, once ? 0 : request->deadline_ns, &tried);
        if (outcome == LB_OK) {
            return lb_granted(grant, tried.token, LB_NEVER);
        }
        if (tried.missing) {
            struct sql_answer answer;
            if (adds++ == ADDS_MAX)
                return lb_fail(session, LB_REFUSED,
                               "%s: its row is missing again after each insert: keep other "
                               "programs from deleting it",
                               session->lock->name);
            outcome = sql_run(session, SQL_ADD, sql_soon(session), &answer);
            if (outcome == LB_OK) continue;
        }
        if (outcome != LB_BUSY && outcome != LB_TIMEOUT) return outcome;
        if (once) return LB_BUSY;
        if (outcome == LB_TIMEOUT && tried.role == SQL_LOCK_UNTIL &&
            !sql_ended_early(request->deadline_ns))
            return LB_TIMEOUT;
        /* A poll, the victim of a deadlock, or a limit of the server's own for a wait that should
         * last longer. */
        if (!backoff_sleep(&backoff, session, request->deadline_ns)) return LB_TIMEOUT;
        session->err.code = 0;
    }
}

static enum lb_outcome transaction_release(struct lb_session *session,
                                           const struct lb_request *request,
                                           struct lb_grant *grant) {
    struct sql_session *mine = session->lock_state;
    struct sql_answer answer;
    (void)grant;
    if (!mine->recipe) return lb_fail(session, LB_BROKEN, "%s: not connected", session->lock->name);
    if (!holds_key(mine, request)) return LB_LOST;
    mine->in_transaction = false;
    enum lb_outcome outcome = sql_run(session, SQL_COMMIT, sql_soon(session), &answer);
    /* rolled back by it */
    if (outcome == LB_BROKEN && mine->recipe->port->ended(session)) return LB_LOST;
    if (outcome == LB_OK || is_dead(outcome)) return outcome;
    return lb_fail(session, LB_BROKEN, "%s: can't commit; its session ends, so the lock is free",
                   session->lock->name);
}

const struct lb_algorithm sql_transaction_algorithm = {
    .options = sql_poll_options,
    .causes = backoff_causes,
    .options_bytes = sizeof(struct sql_options),
    .grant_bytes = sizeof(struct sql_grant),
    .acquire = transaction_acquire,
    .release = transaction_release,
    SQL_MEMBERS,
    SQL_ARMED,
};
