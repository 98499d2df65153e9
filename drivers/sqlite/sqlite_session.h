/* sqlite_session: one client's open SQLite databases and one statement at a time on them; the
 * algorithms are in files of their own and include only this.
 *
 * SQLite locks a whole database, never a row. So each key has a database file of its own, in the
 * server's folder: keys are then independent, as they are on the other backends. A session opens a
 * key's file at first use and keeps the last few open. It waits by SQLite's own busy handler, with
 * SQLite's own delays. */
#ifndef DRIVERS_SQLITE_SQLITE_SESSION_H
#define DRIVERS_SQLITE_SQLITE_SESSION_H

#include <sqlite3.h>

#include "drivers/backends.h"
#include "drivers/sql_lock.h"

#define SQLITE_DATABASES 64

struct sqlite_db {
    sqlite3 *handle; /* NULL = this place is free */
    uint32_t key_index;
    uint64_t used;                      /* when it was used last, on the session's own count */
    sqlite3_stmt *statement[SQL_ROLES]; /* prepared as they are needed */
};

/* Finds the database of a key, and opens it if it is closed; a new file gets the tables of the lock's recipe. The least
 * recently used database that is in no transaction gives way. LB_OK; LB_BUSY: another client held it until deadline_ns; or an
 * outcome of sqlite_failed. */
enum lb_outcome sqlite_database(struct lb_session *session, uint32_t key_index, int64_t deadline_ns,
                                struct sqlite_db **ret_db);
/* Whether a key has a database. */
bool sqlite_exists(const struct lb_session *session, uint32_t key_index);

/* Runs a statement to its first row or its end; waits for other holders until deadline_ns, or asks
 * once if that has passed. LB_OK: the row's columns can be read; then sqlite3_reset it. LB_BUSY: it
 * was held by others until the deadline or the cut-off; nothing is held. Or an outcome of
 * sqlite_failed. Resets the statement unless LB_OK. */
enum lb_outcome sqlite_run(struct lb_session *session, const struct sqlite_db *db,
                           sqlite3_stmt *statement, int64_t deadline_ns);

/* The deadline for a statement that begins now and should not meet another holder. */
int64_t sqlite_patience(void);

/* Returns SQLite's result code as an outcome, with session->err: LB_BUSY, LB_REFUSED (read-only,
 * full, not a database), LB_BROKEN. */
enum lb_outcome sqlite_failed(struct lb_session *session, sqlite3 *handle, int code);

/* --- for the backend's own files --- */

struct sqlite_options {
    int64_t journal;     /* index in sqlite_journals */
    int64_t synchronous; /* index in sqlite_synchronous */
};

extern const char *const sqlite_journals[];
extern const char *const sqlite_synchronous[];

struct sqlite_session {
    struct sqlite_db db[SQLITE_DATABASES]; /* open: one a key, with 2 or 3 file descriptors each */
    int64_t deadline_ns; /* the deadline of the running statement, for the busy handler */
    uint64_t uses;
};

/* The time that SQLite's own sqlite3_busy_timeout sleeps before retry number `count` (0 = the
 * first). */
int64_t sqlite_busy_delay_ns(int count);

/* Closes a database and its statements; a transaction is rolled back, so its lock is freed. */
void sqlite_close_db(struct sqlite_db *db);

/* sqlite_sql: the port of drivers/sql_lock.h to SQLite. */

/* Statements are prepared in each key's database, at first use. */
extern const struct sql_port sqlite_port;

#endif
