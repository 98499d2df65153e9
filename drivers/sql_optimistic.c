/* sql_optimistic: a row with a version. Reading takes nothing; writing succeeds if the version is
 * still the one that was read, and makes it one more. A client whose version is no longer the row's
 * reads again.
 *
 * Each write stores the value that was read plus one, so the row itself shows a lost update.
 *
 * The second algorithm (sql_update_algorithm) makes the version one more and returns it, all in one
 * UPDATE: the database locks the row while the statement runs, so no client is refused. */
#include "drivers/sql_lock.h"
#include "drivers/wait.h"

#define ADDS_MAX 3

/* Runs the statement on the key's row, and adds the row if it is not there. */
static enum lb_outcome run_on_row(struct lb_session *session, enum sql_role role,
                                  struct sql_answer *answer) {
    for (int adds = 0;; adds++) {
        enum lb_outcome outcome = sql_run(session, role, sql_soon(session), answer);
        if (outcome != LB_OK || answer->rows > 0) return outcome;
        if (adds == ADDS_MAX)
            return lb_fail(session, LB_REFUSED,
                           "%s: its row is missing again after each insert: keep other programs "
                           "from deleting it",
                           session->lock->name);
        outcome = sql_run(session, SQL_ADD, sql_soon(session), answer);
        if (outcome != LB_OK && outcome != LB_BUSY) return outcome;
    }
}

static enum lb_outcome optimistic_acquire(struct lb_session *session,
                                          const struct lb_request *request,
                                          struct lb_grant *grant) {
    struct sql_grant *mine = grant->data;
    struct sql_answer answer = {0};
    sql_use(session, request);
    enum lb_outcome outcome = run_on_row(session, SQL_READ, &answer);
    if (outcome != LB_OK) return outcome;
    mine->value = answer.number[1];
    return lb_granted(grant, (uint64_t)answer.number[0], LB_NEVER);
}

static enum lb_outcome optimistic_release(struct lb_session *session,
                                          const struct lb_request *request,
                                          struct lb_grant *grant) {
    const struct sql_grant *read = grant->data;
    struct sql_session *mine = session->lock_state;
    struct sql_answer answer = {0};
    sql_use(session, request);
    mine->values.version = (int64_t)grant->token;
    mine->values.value = read->value + 1;
    enum lb_outcome outcome = sql_run(session, SQL_WRITE, sql_soon(session), &answer);
    /* a limit of the server ended the wait for another client's write */
    if (outcome == LB_TIMEOUT) return LB_BUSY;
    if (outcome != LB_OK) return outcome;
    if (answer.rows == 0) return LB_BUSY;
    grant->token++;
    return LB_OK;
}

const struct lb_algorithm sql_optimistic_algorithm = {
    .grant_bytes = sizeof(struct sql_grant),
    .acquire = optimistic_acquire,
    .release = optimistic_release,
    SQL_MEMBERS,
    SQL_ARMED,
};

/* The victim of a deadlock (on Galera: of another node's commit) has changed nothing, and tries again. */
static enum lb_outcome update_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct sql_answer answer = {0};
    enum lb_outcome outcome;
    sql_use(session, request);
    do {
        outcome = run_on_row(session, SQL_COUNT, &answer);
    } while (outcome == LB_BUSY && lb_now() < request->deadline_ns && !lb_stopping());
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant, (uint64_t)answer.number[0], LB_NEVER);
}

static enum lb_outcome update_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    (void)session, (void)request, (void)grant; /* all was done by the statement */
    return LB_OK;
}

const struct lb_algorithm sql_update_algorithm = {
    .acquire = update_acquire,
    .release = update_release,
    SQL_MEMBERS,
    SQL_ARMED,
};
