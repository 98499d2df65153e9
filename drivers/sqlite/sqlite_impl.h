/* sqlite_impl: the code that the files of the sqlite backend share; the algorithms include
 * sqlite_session.h only. */
#ifndef DRIVERS_SQLITE_SQLITE_IMPL_H
#define DRIVERS_SQLITE_SQLITE_IMPL_H

#include "drivers/sqlite/sqlite_session.h"

struct sqlite_options {
    int64_t journal;     /* index in sqlite_journals */
    int64_t synchronous; /* index in sqlite_synchronous */
    int64_t open_databases;
};

extern const char *const sqlite_journals[];
extern const char *const sqlite_synchronous[];

struct sqlite_session {
    struct sqlite_db *db; /* an array of open_databases elements */
    int64_t deadline_ns;  /* the deadline of the running statement, for the busy handler */
    uint64_t uses;
};

/* The time that SQLite's own sqlite3_busy_timeout sleeps before retry number `count` (0 = the
 * first). */
int64_t sqlite_busy_delay_ns(int count);

/* Closes a database and its statements; a transaction is rolled back, so its lock is freed. */
void sqlite_close_db(struct sqlite_db *db);

#endif
