/* sqlite_sql: the port of drivers/sql_lock.h to SQLite, and the words that its recipes share. */
#ifndef DRIVERS_SQLITE_SQLITE_SQL_H
#define DRIVERS_SQLITE_SQLITE_SQL_H

#include "drivers/sql_lock.h"
#include "drivers/sqlite/sqlite_session.h"

#ifdef LB_HAVE_SQLITE

extern const struct sql_port sqlite_port;

/* A lock's .prepare: takes a recipe on. Statements are prepared in each key's database, at first
 * use. */
int sqlite_sql_prepare(struct lb_session *session, const struct sql_recipe *recipe,
                       int64_t deadline_ns, struct lb_err *err);

/* SQL_LEFT in each key's database of the folder. */
lb_residue_fn sqlite_sql_residue;
#endif

#endif
