/* sqlite-immediate: BEGIN IMMEDIATE takes SQLite's write lock on a database, COMMIT frees the lock. Programs that share
 * an SQLite file exclude each other in this way. Compatible with every program that opens the same file, such as the
 * sqlite3 shell.
 *
 * No server: the lock is the file system's, between processes and between threads, on one machine
 * (not on NFS). A waiter polls by SQLite's busy handler, 1 ms to 100 ms apart, so there is no order
 * and starvation is possible. A dead process's lock is freed by the kernel. By default nothing is
 * written, so nothing is flushed; with fence=yes each grant bumps a counter, which gives a token
 * that grows and costs a flush a grant. The counter is in a database of its own, beside the key's,
 * and is committed under the lock: in the lock's own transaction a dead holder's token would be
 * rolled back, and given again. */
#include "drivers/sqlite/sqlite_session.h"

struct immediate_options {
    int64_t fence;
};

enum { BEGIN, COMMIT, ROLLBACK };

static const char *const lock_statements[] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
};
static const struct sqlite_plan lock_plan = {NULL, lock_statements, 3};

static const char *const fence_statements[] = {
    "UPDATE fence SET token = token + 1 WHERE id = 1 RETURNING token"};
static const struct sqlite_plan fence_plan = {
    "CREATE TABLE fence (id INTEGER PRIMARY KEY, token INTEGER NOT NULL); INSERT INTO fence VALUES (1, 0)",
    fence_statements, 1};
#define FENCE_OF(key_index) ((key_index) | 0x80000000u) /* no key has so great a number */

static enum lb_outcome database(struct lb_session *session, const struct lb_request *request,
                                int64_t deadline_ns, struct sqlite_db **ret_db) {
    return sqlite_database(session, request->key_index, &lock_plan, deadline_ns, ret_db);
}

/* Runs a statement whose rows don't matter. */
static enum lb_outcome run_statement(struct lb_session *session, struct sqlite_db *db, int which,
                                     int64_t deadline_ns) {
    enum lb_outcome outcome = sqlite_run(session, db, db->statement[which], deadline_ns);
    if (outcome == LB_OK) sqlite3_reset(db->statement[which]);
    return outcome;
}

/* Makes the next token. Only the holder calls this, so there is no competition. */
static enum lb_outcome bump(struct lb_session *session, const struct lb_request *request,
                            uint64_t *ret_token) {
    struct sqlite_db *fence = NULL;
    int64_t deadline_ns = sqlite_patience();
    enum lb_outcome outcome =
        sqlite_database(session, FENCE_OF(request->key_index), &fence_plan, deadline_ns, &fence);
    uint64_t token = 0;
    if (outcome == LB_OK) outcome = sqlite_run(session, fence, fence->statement[0], deadline_ns);
    if (outcome == LB_OK) {
        token = (uint64_t)sqlite3_column_int64(fence->statement[0], 0);
        int code = sqlite3_reset(fence->statement[0]); /* commits */
        if (code != SQLITE_OK) outcome = sqlite_failed(session, fence->handle, code);
    }
    if (outcome == LB_OK) *ret_token = token;
    if (outcome == LB_BUSY)
        return lb_fail(session, LB_BROKEN, "sqlite: others use the counter of tokens");
    return outcome;
}

static enum lb_outcome immediate_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    const struct immediate_options *options = session->options;
    enum lb_outcome busy = request->deadline_ns <= lb_now() ? LB_BUSY : LB_TIMEOUT;
    struct sqlite_db *db = NULL;
    enum lb_outcome outcome = database(session, request, request->deadline_ns, &db);
    if (outcome != LB_OK) return outcome == LB_BUSY ? busy : outcome;
    /* this session holds it already, and it does not nest */
    if (!sqlite3_get_autocommit(db->handle)) return LB_BUSY;
    outcome = run_statement(session, db, BEGIN, request->deadline_ns);
    if (outcome != LB_OK) return outcome == LB_BUSY ? busy : outcome;
    uint64_t token = 0;
    if (options->fence) {
        outcome = bump(session, request, &token);
        if (outcome != LB_OK) {
            run_statement(session, db, ROLLBACK, lb_now());
            return outcome;
        }
    }
    grant->token = token;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome immediate_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    (void)grant;
    struct sqlite_db *db = NULL;
    enum lb_outcome outcome = database(session, request, lb_now(), &db);
    if (outcome != LB_OK) return outcome;
    if (sqlite3_get_autocommit(db->handle)) return LB_LOST; /* no transaction, so no lock */
    outcome = run_statement(session, db, COMMIT, sqlite_patience());
    if (outcome == LB_OK) return LB_OK;
    run_statement(session, db, ROLLBACK, lb_now());
    return lb_fail(session, LB_BROKEN, "sqlite: can't commit; rolled back, so the lock is free");
}

static const struct lb_option immediate_options[] = {
    {"fence", LB_OPT_BOOL, offsetof(struct immediate_options, fence), "no", 0, 0, NULL,
     "bump a counter with each grant: gives a fencing token, costs a flush"},
    {0},
};

static const struct lb_known_cause immediate_causes[] = {
    {"fairness.jain", .below = 0.8,
     .cause =
         "SQLite's busy handler sleeps longer after each try, up to 100 ms, and whoever commits "
         "asks again at once, so few clients get most of the grants"},
    {0},
};

static const struct lb_algorithm algorithm = {
    .options = immediate_options,
    .causes = immediate_causes,
    .options_bytes = sizeof(struct immediate_options),
    .acquire = immediate_acquire,
    .release = immediate_release,
};

const struct lb_lock lock_sqlite_immediate = {
    .name = "sqlite-immediate",
    .summary = "BEGIN IMMEDIATE and COMMIT, as programs that share an SQLite file do",
    .backend = &backend_sqlite,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll (SQLite's busy handler)",
    .durability_note =
        "nothing is written unless fence=yes: then each grant is flushed as 'synchronous' says",
    .about = {.compatible = "the sqlite3 shell: everything that opens the same file and writes",
              .order = "none: starvation is possible",
              .hazards =
                  "one machine, not a network file system; only one lock for each database file",
              .guarantee = LB_ON_ONE_HOST,
              .crash = LB_CRASH_AT_ONCE},
    .algorithm = &algorithm,
};
