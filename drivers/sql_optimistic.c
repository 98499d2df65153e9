/* sql_optimistic: a row with a version. Reading takes nothing; writing succeeds if the version is
 * still the one that was read, and makes it one more. Whoever comes second reads again.
 *
 * What is written is the value that was read, plus one: so a lost update shows in the row
 * itself. */
#include "drivers/sql_lock.h"

#define ADDS_MAX 3

static enum lb_outcome optimistic_acquire(struct lb_session *session,
                                          const struct lb_request *request,
                                          struct lb_grant *grant) {
    struct sql_grant *mine = grant->data;
    struct sql_answer answer = {0};
    sql_use(session, request);
    for (int adds = 0;; adds++) {
        enum lb_outcome outcome = sql_run(session, SQL_READ, sql_soon(session), &answer);
        if (outcome != LB_OK) return outcome;
        if (answer.rows > 0) break;
        if (adds == ADDS_MAX)
            return lb_fail(session, LB_REFUSED, "%s: its row does not stay", session->lock->name);
        outcome = sql_run(session, SQL_ADD, sql_soon(session), &answer);
        if (outcome != LB_OK && outcome != LB_BUSY) return outcome;
    }
    grant->token = (uint64_t)answer.number[0];
    grant->lease_end_ns = LB_NEVER;
    mine->value = answer.number[1];
    return LB_OK;
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
    /* the server's own limit on waiting for another's write */
    if (outcome == LB_TIMEOUT) return LB_BUSY;
    if (outcome != LB_OK) return outcome;
    if (answer.rows == 0) return LB_BUSY;
    grant->token++;
    return LB_OK;
}

const struct lb_algorithm sql_optimistic_algorithm = {
    .session_bytes = SQL_SESSION_BYTES,
    .grant_bytes = sizeof(struct sql_grant),
    .setup = sql_setup,
    .prepare = sql_prepare,
    .arm = sql_arm,
    .disarm = sql_disarm,
    .arm_range = sql_arm_range,
    .disarm_range = sql_disarm_range,
    .acquire = optimistic_acquire,
    .release = optimistic_release,
    .residue = sql_residue,
    .names = sql_names,
};
