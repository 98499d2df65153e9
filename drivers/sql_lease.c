/* sql_lease: a row with an owner and an end, both checked and set by the database's own clock. Two
 * recipes use it: one deletes the row to free it and so needs a sweeper for dead owners' rows, the
 * other keeps the row and takes it over when its time is up. A third has a flag instead of an end.
 *
 * One statement each to take, to free, to renew. Waits by polling; no order. The owner is a random
 * token, new with each attempt; a statement that finds another owner, or its own row past its end,
 * changes nothing. */
#include <string.h>

#include "drivers/sql_lock.h"

#define FREES_MAX 5

static void make_owner(struct lb_rng *rng, char owner[SQL_OWNER_CHARS + 1]) {
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[SQL_OWNER_CHARS / 2];
    rng_bytes(rng, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        owner[2 * i] = hex[bytes[i] >> 4];
        owner[2 * i + 1] = hex[bytes[i] & 15];
    }
    owner[SQL_OWNER_CHARS] = '\0';
}

static void use_owner(struct lb_session *session, const struct lb_request *request,
                      const struct sql_grant *grant) {
    struct sql_session *mine = session->lock_state;
    sql_use(session, request);
    memcpy(mine->values.owner, grant->owner, sizeof mine->values.owner);
    if (!grant->owner[0]) memset(mine->values.owner, '-', SQL_OWNER_CHARS); /* nobody's */
}

/* Deletes the rows of dead owners, if this lock sweeps and a sweep is due. *ret_swept: rows were
 * deleted. */
static enum lb_outcome sweep_dead_owners(struct lb_session *session, bool *ret_swept) {
    const struct sql_options *options = session->options;
    struct sql_session *mine = session->lock_state;
    struct sql_answer answer = {0};
    int64_t now_ns = lb_now();
    *ret_swept = false;
    if (!sql_has(session, SQL_SWEEP) || options->sweep != SQL_SWEEP_WAITERS ||
        now_ns < mine->next_sweep_ns)
        return LB_OK;
    mine->next_sweep_ns = now_ns + options->sweep_every_ns;
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
    make_owner(&session->rng, mine->owner);
    use_owner(session, request, mine);
    for (;;) {
        struct sql_answer answer = {0};
        int64_t sent_ns = lb_now();
        enum lb_outcome outcome = sql_run(session, SQL_TAKE, sql_soon(session), &answer);
        if (outcome == LB_OK && answer.rows > 0) {
            grant->token = (uint64_t)answer.number[0];
            bool ends = session->lock->caps & LB_CAP_LEASE;
            grant->lease_end_ns = ends ? lb_after(sent_ns, request->lease_ns) : LB_NEVER;
            return LB_OK;
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

/* Runs a statement that affects only our own row. It takes no lock but the row's, yet a database
 * may choose it as the victim of a deadlock: then it is run again. */
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

/* A flag that is not cleared now stays set. So a release whose connection broke returns LB_UNKNOWN,
 * and is settled over another connection. */
static enum lb_outcome flag_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome = sql_lease_release(session, request, grant);
    return outcome == LB_BROKEN ? LB_UNKNOWN : outcome;
}

enum lb_outcome sql_lease_renew(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = if_mine(session, request, grant, SQL_RENEW);
    if (outcome == LB_OK) grant->lease_end_ns = lb_after(sent_ns, request->lease_ns);
    return outcome;
}

/* The request may have arrived: free what it may have taken. */
enum lb_outcome sql_lease_settle(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    enum lb_outcome outcome = sql_lease_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

const struct lb_algorithm sql_lease_algorithm = {
    .causes = backoff_causes,
    .prepare = sql_prepare,
    .release = sql_lease_release,
    .renew = sql_lease_renew,
    SQL_LEASE_MEMBERS(sql_poll_options),
};

const struct lb_algorithm sql_flag_algorithm = {
    .causes = backoff_causes,
    .prepare = sql_prepare,
    .release = flag_release,
    SQL_LEASE_MEMBERS(sql_poll_options),
    SQL_ARMED,
};

const struct lb_algorithm sql_table_algorithm = {
    .causes = backoff_causes,
    .prepare = sql_prepare,
    .release = sql_lease_release,
    .renew = sql_lease_renew,
    SQL_LEASE_MEMBERS(sql_table_options),
};
