/* sqlite_sql: the port of drivers/sql_lock.h to SQLite. */
#ifndef DRIVERS_SQLITE_SQLITE_SQL_H
#define DRIVERS_SQLITE_SQLITE_SQL_H

#include "drivers/sql_lock.h"
#include "drivers/sqlite/sqlite_session.h"

/* Statements are prepared in each key's database, at first use. */
extern const struct sql_port sqlite_port;

#endif
