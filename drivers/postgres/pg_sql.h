/* pg_sql: the port of drivers/sql_lock.h to PostgreSQL, and the parts of statements that its recipes share. */
#ifndef DRIVERS_POSTGRES_PG_SQL_H
#define DRIVERS_POSTGRES_PG_SQL_H

#include "drivers/clean.h"
#include "drivers/postgres/pg_session.h"
#include "drivers/sql_lock.h"

extern const struct sql_port pg_port;

sql_made_fn pg_made;

/* Creates a table or a sequence with a comment that lockbench made it, in one transaction. A
 * table that existed before gets no comment. */
#define PG_MAKE(kind, name, more)                                                                  \
    "CREATE " kind " " name more "; COMMENT ON " kind " " name " IS '" LB_MADE_BY "'"

/* The numbers of many keys: $3 numbers, from $2 on. */
#define PG_NUMBERS "generate_series($2::bigint, $2::bigint + $3::bigint - 1) AS i"

/* The statements for a table with a row for each key. more: the columns after the name; values: their first values;
 * each begins with a comma, or is "". */
#define PG_ROWS_OF(table, more, values)                                                            \
    [SQL_ADD] = {"INSERT INTO " table " (name" more ") VALUES ($1::text" values                    \
                 ") ON CONFLICT DO NOTHING",                                                       \
                 "k"},                                                                             \
    [SQL_REMOVE] = {"DELETE FROM " table " WHERE name = $1::text", "k"},                           \
    [SQL_ADD_MANY] = {"INSERT INTO " table " (name" more ") SELECT $1::text || i" values           \
                      " FROM " PG_NUMBERS " ON CONFLICT DO NOTHING",                               \
                      "kvx"},                                                                      \
    [SQL_REMOVE_MANY] = {"DELETE FROM " table " USING " PG_NUMBERS " WHERE name = $1::text || i",  \
                         "kvx"},                                                                   \
    [SQL_LEFT] = {"SELECT count(*) FROM " table " WHERE starts_with(name, $1::text)", "k"}

/* The advisory locks of this database, held or waited for, by number. Behind a pooler this session may be one that
 * another client has left such a lock to. */
#define PG_ADVISORY_LOCKS                                                                          \
    "(SELECT classid::bigint << 32 | objid::bigint AS number, granted, pid, application_name "     \
    "FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' "                 \
    "AND objsubid = 1 AND database = (SELECT oid FROM pg_database "                                \
    "WHERE datname = current_database())) AS locks "
#define PG_ADVISORY_OURS "application_name IN ('lockbench', current_setting('application_name'))"
/* Counts those with the numbers of the stage's keys; if these are not known, those of sessions of lockbench. */
#define PG_ADVISORY_LEFT(from, to)                                                                 \
    "SELECT count(*) FROM " PG_ADVISORY_LOCKS "WHERE number BETWEEN " from " AND " to              \
    " AND (" from " > (-9223372036854775807 - 1) OR " PG_ADVISORY_OURS ")"

/* Rows of pg-row and pg-nowait, which are one lock. */
#define PG_ROW_SCHEMA                                                                              \
    PG_MAKE("TABLE", "lockbench_row", " (name text PRIMARY KEY)"),                                 \
        PG_MAKE("SEQUENCE", "lockbench_fence", "")
/* The server runs a subquery that locks before it computes the values selected from the subquery. So the number is
 * drawn while the row is locked. */
#define PG_ROW_LOCKED(rows)                                                                        \
    "SELECT nextval('lockbench_fence') FROM (SELECT 1 FROM " rows ") AS locked"
#define PG_ROW_STATEMENTS PG_ROWS_OF("lockbench_row", "", "")

#define PG_TRANSACTION                                                                             \
    [SQL_BEGIN] = {"BEGIN", ""}, [SQL_COMMIT] = {"COMMIT", ""}, [SQL_ROLLBACK] = {"ROLLBACK", ""}

/* Rows with an owner and an end, by the server's clock at the statement's begin. */
#define PG_LEASE_END "now() + $3::bigint * interval '1 microsecond'"

#define PG_TABLE_SCHEMA                                                                            \
    PG_MAKE("TABLE", "lockbench_table",                                                            \
            " (name text PRIMARY KEY, owner text NOT NULL, expire_at timestamptz NOT NULL)"),      \
        "CREATE INDEX IF NOT EXISTS lockbench_table_expire_at ON lockbench_table (expire_at)"
#define PG_TABLE_SWEEP "DELETE FROM lockbench_table WHERE expire_at <= now()"
#define PG_TABLE_LEFT                                                                              \
    "SELECT count(*) FROM lockbench_table WHERE starts_with(name, $1::text) AND expire_at > now()"

#define PG_VERSION_SCHEMA                                                                          \
    PG_MAKE("TABLE", "lockbench_version",                                                          \
            " (name text PRIMARY KEY, version bigint NOT NULL, value bigint NOT NULL)")
#define PG_VERSION_READ                                                                            \
    [SQL_READ] = {"SELECT version, value FROM lockbench_version WHERE name = $1::text", "k"}
#define PG_VERSION_ROWS PG_ROWS_OF("lockbench_version", ", version, value", ", 1, 0")

#endif
