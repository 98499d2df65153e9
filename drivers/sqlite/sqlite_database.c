/* sqlite_database: finds, opens, makes and closes a key's database file. See sqlite_session.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/sqlite/sqlite_session.h"
#include "drivers/wait.h"

/* sqlite_busy: waiting as sqlite3_busy_timeout does, and running statements under it.
 *
 * The delays are those of SQLite's own handler (sqliteDefaultBusyCallback). This one differs in
 * three points only: its limit is an absolute deadline, it ends at the cut-off, and it sleeps on
 * the engine's clock. */

#define PATIENCE_NS (5 * LB_S_NS)

int64_t sqlite_busy_delay_ns(int count) {
    static const unsigned char delay_ms[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};
    int last = (int)sizeof delay_ms - 1;
    return delay_ms[count < last ? count : last] * LB_MS_NS;
}

/* The busy handler of a struct sqlite_session: sleeps before retry number `count`. 0 = give up,
 * SQLITE_BUSY. */
static int sqlite_on_busy(void *session, int count) {
    const struct sqlite_session *state = session;
    int64_t now_ns = lb_now();
    if (now_ns >= state->deadline_ns || lb_stopping()) return 0;
    int64_t until_ns = lb_after(now_ns, sqlite_busy_delay_ns(count));
    lb_sleep_until(until_ns < state->deadline_ns ? until_ns : state->deadline_ns);
    return !lb_stopping();
}

int64_t sqlite_patience(void) {
    return lb_now() + PATIENCE_NS;
}

enum lb_outcome sqlite_failed(struct lb_session *session, sqlite3 *handle, int code) {
    enum lb_outcome outcome = LB_BROKEN;
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return LB_BUSY; /* the ordinary answer of a lock, for which no text is made */
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_AUTH:
        outcome = LB_REFUSED;
        break;
    default:
        break;
    }
    return lb_fail(session, outcome, "sqlite: %s (code %d)",
                   handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code), code);
}

enum lb_outcome sqlite_run(struct lb_session *session, const struct sqlite_db *db,
                           sqlite3_stmt *statement, int64_t deadline_ns) {
    struct sqlite_session *state = session->state;
    state->deadline_ns = deadline_ns;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW || code == SQLITE_DONE) return LB_OK;
    enum lb_outcome outcome = sqlite_failed(session, db->handle, code);
    sqlite3_reset(statement);
    return outcome;
}

const char *const sqlite_journals[] = {"wal", "delete"};
const char *const sqlite_synchronous[] = {"full", "extra", "normal", "off"};

void sqlite_close_db(struct sqlite_db *db) {
    for (int i = 0; i < SQL_ROLES; i++) sqlite3_finalize(db->statement[i]);
    sqlite3_close(db->handle);
    memset(db, 0, sizeof *db);
}

/* Runs SQL whose answer is not read. */
static enum lb_outcome run_text(struct lb_session *session, const struct sqlite_db *db,
                                const char *sql) {
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? LB_OK : sqlite_failed(session, db->handle, code);
}

/* The first column of the first row as a number. */
static enum lb_outcome query_once(struct lb_session *session, const struct sqlite_db *db,
                                  const char *sql, int64_t *ret_number) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *ret_number = sqlite3_column_int64(statement, 0);
    enum lb_outcome outcome = code == SQLITE_ROW ? LB_OK : sqlite_failed(session, db->handle, code);
    sqlite3_finalize(statement);
    return outcome;
}

/* A new file's change to WAL collides with others that open it now, and SQLite does not call the
 * busy handler in each such case: so it is tried again here. */
static enum lb_outcome set_journal(struct lb_session *session, const struct sqlite_db *db,
                                   int64_t deadline_ns) {
    const struct sqlite_options *options = session->server->options;
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", sqlite_journals[options->journal]);
    for (;;) {
        enum lb_outcome outcome = run_text(session, db, sql);
        if (outcome != LB_BUSY) return outcome;
        int64_t until_ns = lb_now() + sqlite_busy_delay_ns(0);
        if (until_ns > deadline_ns || !lb_sleep_until(until_ns)) return LB_BUSY;
    }
}

/* user_version shows whether the schema exists. Reading it needs no write lock, which another
 * client may hold. */
static enum lb_outcome make_schema(struct lb_session *session, const struct sqlite_db *db) {
    const struct sql_recipe *recipe = session->lock->recipe;
    int64_t version = 1;
    if (!recipe->schema) return LB_OK;
    enum lb_outcome outcome = query_once(session, db, "PRAGMA user_version", &version);
    if (outcome != LB_OK || version == 1) return outcome;
    outcome = run_text(session, db, "BEGIN IMMEDIATE");
    if (outcome != LB_OK) return outcome;
    outcome = query_once(session, db, "PRAGMA user_version", &version);
    for (int i = 0; outcome == LB_OK && version == 0 && recipe->schema[i]; i++)
        outcome = run_text(session, db, recipe->schema[i]);
    if (outcome == LB_OK && version == 0) outcome = run_text(session, db, "PRAGMA user_version=1");
    if (outcome == LB_OK) outcome = run_text(session, db, "COMMIT");
    if (outcome != LB_OK) sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return outcome;
}

static bool find_path(const struct lb_session *session, uint32_t key_index, char ret_path[512]) {
    return snprintf(ret_path, 512, "%s/key-%u.db", session->server->dir, key_index) < 512;
}

bool sqlite_exists(const struct lb_session *session, uint32_t key_index) {
    char path[512];
    return find_path(session, key_index, path) && access(path, F_OK) == 0;
}

static enum lb_outcome open_db(struct lb_session *session, struct sqlite_db *db, uint32_t key_index,
                               int64_t deadline_ns) {
    const struct sqlite_options *options = session->server->options;
    struct sqlite_session *state = session->state;
    char path[512], sql[64];
    if (!find_path(session, key_index, path))
        return lb_fail(session, LB_REFUSED, "sqlite: the folder's path is too long");
    /* If another client is making the file, this waits some moments, even if the caller does not
     * want to wait. */
    int64_t patience_ns = sqlite_patience();
    state->deadline_ns = deadline_ns > patience_ns ? deadline_ns : patience_ns;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &db->handle, flags, NULL);
    enum lb_outcome outcome = code == SQLITE_OK ? LB_OK : sqlite_failed(session, db->handle, code);
    if (outcome != LB_OK) goto failed;
    sqlite3_busy_handler(db->handle, sqlite_on_busy, state);
    outcome = set_journal(session, db, state->deadline_ns);
    if (outcome != LB_OK) goto failed;
    snprintf(sql, sizeof sql, "PRAGMA synchronous=%s", sqlite_synchronous[options->synchronous]);
    outcome = run_text(session, db, sql);
    state->deadline_ns = deadline_ns;
    if (outcome == LB_OK) outcome = make_schema(session, db);
    if (outcome != LB_OK) goto failed;
    db->key_index = key_index;
    return LB_OK;
failed:
    sqlite_close_db(db);
    return outcome;
}

enum lb_outcome sqlite_database(struct lb_session *session, uint32_t key_index, int64_t deadline_ns,
                                struct sqlite_db **ret_db) {
    struct sqlite_session *state = session->state;
    struct sqlite_db *place = NULL;
    for (int i = 0; i < SQLITE_DATABASES; i++) {
        struct sqlite_db *db = &state->db[i];
        if (db->handle && db->key_index == key_index) {
            db->used = ++state->uses;
            *ret_db = db;
            return LB_OK;
        }
        /* held, so it must stay open */
        if (db->handle && !sqlite3_get_autocommit(db->handle)) continue;
        /* a free one was never used */
        if (!place || db->used < place->used) place = db;
    }
    if (!place)
        return lb_fail(session, LB_REFUSED, "sqlite: more keys held at once than %d",
                       SQLITE_DATABASES);
    if (place->handle) sqlite_close_db(place);
    enum lb_outcome outcome = open_db(session, place, key_index, deadline_ns);
    if (outcome != LB_OK) return outcome;
    place->used = ++state->uses;
    *ret_db = place;
    return LB_OK;
}
