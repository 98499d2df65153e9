/* sqlite-immediate: BEGIN IMMEDIATE takes SQLite's write lock on a database, COMMIT frees the lock. Programs that share
 * an SQLite file exclude each other in this way. Compatible with every program that opens the same file, such as the
 * sqlite3 shell.
 *
 * No server: the lock is the file system's, between processes and between threads, on one machine
 * (not on NFS). A waiter polls by SQLite's busy handler, 1 ms to 100 ms apart, so there is no order
 * and starvation is possible. A dead process's lock is freed by the kernel. Nothing is
 * written, so nothing is flushed, and there is no token. */
#include "drivers/sqlite/sqlite_session.h"

static const struct sql_recipe recipe = {.port = &sqlite_port,
                                         .statement = {[SQL_LOCK_NOW] = {"BEGIN IMMEDIATE", ""},
                                                       [SQL_COMMIT] = {"COMMIT", ""},
                                                       [SQL_ROLLBACK] = {"ROLLBACK", ""}}};

static enum lb_outcome immediate_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    enum lb_outcome busy = request->deadline_ns <= lb_now() ? LB_BUSY : LB_TIMEOUT;
    struct sql_answer answer;
    struct sqlite_db *db = NULL;
    sql_use(session, request);
    enum lb_outcome outcome =
        sqlite_database(session, request->key_index, request->deadline_ns, &db);
    /* this session holds it already, and it does not nest */
    if (outcome == LB_OK && !sqlite3_get_autocommit(db->handle)) return LB_BUSY;
    if (outcome == LB_OK) outcome = sql_run(session, SQL_LOCK_NOW, request->deadline_ns, &answer);
    if (outcome == LB_OK) return lb_granted(grant, 0, LB_NEVER);
    return outcome == LB_BUSY ? busy : outcome;
}

static enum lb_outcome immediate_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    (void)grant;
    struct sql_answer answer;
    struct sqlite_db *db = NULL;
    sql_use(session, request);
    enum lb_outcome outcome = sqlite_database(session, request->key_index, lb_now(), &db);
    if (outcome != LB_OK) return outcome;
    if (sqlite3_get_autocommit(db->handle)) return LB_LOST; /* no transaction, so no lock */
    outcome = sql_run(session, SQL_COMMIT, sqlite_patience(), &answer);
    if (outcome == LB_OK) return LB_OK;
    sql_run(session, SQL_ROLLBACK, lb_now(), &answer);
    return lb_fail(session, LB_BROKEN, "sqlite: can't commit; rolled back, so the lock is free");
}

static const struct lb_known_cause immediate_causes[] = {
    {"fairness.jain", .below = 0.8,
     .cause =
         "SQLite's busy handler sleeps longer after each try, up to 100 ms, and whoever commits "
         "asks again at once, so few clients get most of the grants"},
    {0},
};

static const struct lb_algorithm algorithm = {
    .causes = immediate_causes,
    .session_bytes = SQL_SESSION_BYTES,
    .prepare = sql_prepare,
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
    .durability_note = "nothing is written",
    .about = {.compatible = "the sqlite3 shell: everything that opens the same file and writes",
              .order = "none: starvation is possible",
              .hazards =
                  "one machine, not a network file system; only one lock for each database file",
              LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_AT_ONCE)},
    .algorithm = &algorithm,
    .recipe = &recipe,
};
