/* sql_lease: locks that are a row with an owner and an end. The database's own clock sets and checks the
 * end. There are three kinds of recipes. A "table" recipe deletes the row to free the lock, and needs a
 * sweeper for the rows of dead owners. A "lease" recipe keeps the row, and the next owner takes the row
 * over when its end has passed. A "flag" recipe has no end.
 *
 * Taking, freeing and renewing are one statement each. Waiters poll, in no order. The owner is a random
 * token, new for each attempt. A statement changes nothing if the row has another owner, or if the
 * owner's end has passed. */
#include <string.h>

#include "drivers/sql_lock.h"

#define FREES_MAX 5
#define SWEEP_EVERY_NS (100 * LB_MS_NS)

static void use_owner(struct lb_session *session, const struct lb_request *request,
                      const struct sql_grant *grant) {
    struct sql_session *mine = session->lock_state;
    sql_use(session, request);
    memcpy(mine->values.owner, grant->owner, sizeof mine->values.owner);
    if (!grant->owner[0])
        memset(mine->values.owner, '-', SQL_OWNER_CHARS); /* no row has this owner */
}

/* Deletes the rows of dead owners, if this lock sweeps and a sweep is due. *ret_swept: rows were
 * deleted. */
static enum lb_outcome sweep_dead_owners(struct lb_session *session, bool *ret_swept) {
    struct sql_session *mine = session->lock_state;
    struct sql_answer answer = {0};
    int64_t now_ns = lb_now();
    *ret_swept = false;
    if (!sql_has(session, SQL_SWEEP) || now_ns < mine->next_sweep_ns) return LB_OK;
    mine->next_sweep_ns = now_ns + SWEEP_EVERY_NS;
    enum lb_outcome outcome = sql_run(session, SQL_SWEEP, sql_soon(session), &answer);
    *ret_swept = outcome == LB_OK && answer.rows > 0;
    return outcome == LB_BUSY || outcome == LB_TIMEOUT ? LB_OK : outcome; /* others sweep too */
}

enum lb_outcome sql_lease_acquire(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    const struct sql_options *options = session->options;
    struct sql_grant *mine = grant->data;
    struct backoff backoff;
    backoff_start(&backoff, &options->poll);
    bool once = request->deadline_ns <= lb_now();
    lb_random_hex(&session->rng, mine->owner, SQL_OWNER_CHARS / 2);
    use_owner(session, request, mine);
    for (;;) {
        struct sql_answer answer = {0};
        int64_t sent_ns = lb_now();
        enum lb_outcome outcome = sql_run(session, SQL_TAKE, sql_soon(session), &answer);
        if (outcome == LB_OK && answer.rows > 0) {
            bool ends = session->lock->caps & LB_CAP_LEASE;
            return lb_granted(grant, (uint64_t)answer.number[0],
                              ends ? lb_after(sent_ns, request->lease_ns) : LB_NEVER);
        }
        if (outcome != LB_OK && outcome != LB_BUSY && outcome != LB_TIMEOUT) return outcome;
        bool swept = false;
        outcome = sweep_dead_owners(session, &swept);
        if (outcome != LB_OK) return outcome;
        if (swept) continue;
        if (once) return LB_BUSY;
        if (!backoff_sleep(&backoff, session, request->deadline_ns)) return LB_TIMEOUT;
    }
}

/* Runs a statement that affects only our own row. It locks only that row. Even so, a database may
 * choose it as the victim of a deadlock; then it is run again. */
static enum lb_outcome if_mine(struct lb_session *session, const struct lb_request *request,
                               const struct lb_grant *grant, enum sql_role role) {
    use_owner(session, request, grant->data);
    for (int tries = 0; tries < FREES_MAX; tries++) {
        struct sql_answer answer = {0};
        enum lb_outcome outcome = sql_run(session, role, sql_soon(session), &answer);
        if (outcome == LB_OK) return answer.rows > 0 ? LB_OK : LB_LOST;
        if (outcome != LB_BUSY && outcome != LB_TIMEOUT) return outcome;
    }
    return lb_fail(session, LB_UNKNOWN, "%s: the row is busy; it may still be ours",
                   session->lock->name);
}

enum lb_outcome sql_lease_release(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    return if_mine(session, request, grant, SQL_FREE);
}

/* Nothing clears the flag of a failed release later. So a release whose connection broke returns
 * LB_UNKNOWN, and the core settles it over another connection. */
static enum lb_outcome flag_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome = sql_lease_release(session, request, grant);
    return outcome == LB_BROKEN ? LB_UNKNOWN : outcome;
}

static enum lb_outcome sql_lease_renew(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = if_mine(session, request, grant, SQL_RENEW);
    if (outcome == LB_OK) grant->lease_end_ns = lb_after(sent_ns, request->lease_ns);
    return outcome;
}

/* The lost request may have taken the row: frees the row if it has our owner. */
enum lb_outcome sql_lease_settle(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    enum lb_outcome outcome = sql_lease_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

const struct lb_algorithm sql_lease_algorithm = {
    .causes = backoff_causes,
    .release = sql_lease_release,
    .renew = sql_lease_renew,
    SQL_LEASE_MEMBERS,
};

const struct lb_algorithm sql_flag_algorithm = {
    .causes = backoff_causes,
    .release = flag_release,
    SQL_LEASE_MEMBERS,
    SQL_ARMED,
};
