/* sql_store: a guarded value as a row with name, token and value. Each step is one statement. Installing a token
 * inserts the row or raises its token, and returns the value. Writing updates the row if its token is not greater than
 * the writer's. See store.h.
 *
 * A recipe with a store has SQL_INSTALL, SQL_STORE, SQL_LOOK and SQL_DROP. If the lock is a transaction, the writes are
 * part of that transaction (lb_store.with_release); then the recipe may also have SQL_ORDER, SQL_TALLY and
 * SQL_DROP_ORDERS, by which the transaction adds the orders of a sale. */
#include "drivers/sql_store.h"

#define TRIES_MAX 5

/* Runs the statement, and runs it again if it was the victim of a deadlock. A statement inside the lock's
 * transaction is not run again: the server's error has undone that transaction, in part or as a whole, and a
 * second try would run outside of it. */
static enum lb_outcome run_retrying(struct lb_session *session, const struct lb_request *request,
                                    enum sql_role role, uint64_t token, uint64_t value,
                                    struct sql_answer *ret_answer) {
    struct sql_session *mine = session->lock_state;
    sql_use(session, request);
    mine->values.version = (int64_t)token;
    mine->values.value = (int64_t)value;
    for (int tries = 1;; tries++) {
        enum lb_outcome outcome = sql_run(session, role, sql_soon(session), ret_answer);
        if (outcome == LB_OK || outcome == LB_UNKNOWN || outcome == LB_BROKEN) return outcome;
        if (mine->in_transaction) return sql_transaction_undo(session);
        if ((outcome != LB_BUSY && outcome != LB_TIMEOUT) || tries == TRIES_MAX) {
            return outcome == LB_BUSY || outcome == LB_TIMEOUT ? LB_UNKNOWN : outcome;
        }
    }
}

enum lb_outcome sql_store_install(struct lb_session *session, const struct lb_request *request,
                                  uint64_t token, uint64_t *ret_value) {
    struct sql_answer answer = {0};
    enum lb_outcome outcome = run_retrying(session, request, SQL_INSTALL, token, 0, &answer);
    if (outcome != LB_OK) return outcome;
    if (answer.rows == 0) return LB_LOST;
    *ret_value = (uint64_t)answer.number[0];
    return LB_OK;
}

enum lb_outcome sql_store_write(struct lb_session *session, const struct lb_request *request,
                                uint64_t token, uint64_t value) {
    struct sql_answer answer = {0};
    enum lb_outcome outcome = run_retrying(session, request, SQL_STORE, token, value, &answer);
    if (outcome != LB_OK) return outcome;
    return answer.rows > 0 ? LB_OK : LB_LOST;
}

enum lb_outcome sql_store_read(struct lb_session *session, const struct lb_request *request,
                               uint64_t *ret_value) {
    struct sql_answer answer = {0};
    enum lb_outcome outcome = run_retrying(session, request, SQL_LOOK, 0, 0, &answer);
    if (outcome == LB_OK) *ret_value = (uint64_t)answer.number[0];
    return outcome;
}

enum lb_outcome sql_store_order(struct lb_session *session, const struct lb_request *request,
                                uint64_t token) {
    struct sql_answer answer = {0};
    return run_retrying(session, request, SQL_ORDER, token, 0, &answer);
}

enum lb_outcome sql_store_tally(struct lb_session *session, const struct lb_request *request,
                                uint64_t *ret_value, uint64_t *ret_orders) {
    struct sql_answer answer = {0};
    enum lb_outcome outcome = run_retrying(session, request, SQL_TALLY, 0, 0, &answer);
    if (outcome != LB_OK) return outcome;
    *ret_value = (uint64_t)answer.number[0];
    *ret_orders = (uint64_t)answer.number[1];
    return LB_OK;
}

int sql_store_drop(struct lb_session *session, const struct lb_request *request,
                   struct lb_err *err) {
    struct sql_answer answer = {0};
    enum lb_outcome outcome = run_retrying(session, request, SQL_DROP, 0, 0, &answer);
    if (outcome == LB_OK && sql_has(session, SQL_DROP_ORDERS))
        outcome = run_retrying(session, request, SQL_DROP_ORDERS, 0, 0, &answer);
    if (outcome == LB_OK) return 0;
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", session->lock->name, session->err.text);
}
