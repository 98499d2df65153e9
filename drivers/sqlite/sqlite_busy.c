/* sqlite_busy: waiting as sqlite3_busy_timeout does, and running statements under it.
 *
 * The delays are those of SQLite's own handler (sqliteDefaultBusyCallback). This one differs in
 * three points only: its limit is an absolute deadline, it ends at the cut-off, and it sleeps on
 * the engine's clock. */
#include "drivers/sqlite/sqlite_impl.h"

#include "drivers/wait.h"

#define PATIENCE_NS (5 * LB_S_NS)

int64_t sqlite_busy_delay_ns(int count) {
    static const unsigned char delay_ms[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};
    int last = (int)sizeof delay_ms - 1;
    return delay_ms[count < last ? count : last] * LB_MS_NS;
}

int sqlite_on_busy(void *session, int count) {
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
