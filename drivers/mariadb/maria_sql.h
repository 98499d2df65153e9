/* maria_sql: the port of drivers/sql_lock.h to MariaDB (and to MySQL, for the statements that MySQL knows),
 * and the parts of statements that its recipes share. */
#ifndef DRIVERS_MARIADB_MARIA_SQL_H
#define DRIVERS_MARIADB_MARIA_SQL_H

#include "drivers/clean.h"
#include "drivers/mariadb/maria_session.h"
#include "drivers/sql_lock.h"

/* getlock: the limits of GET_LOCK that differ between MariaDB and MySQL; pure functions. */

/* Why a name can't be a lock's here, or NULL if it can. MariaDB takes 192 bytes, MySQL 64
 * characters. */
const char *getlock_name_problem(const char *name, size_t len, bool is_mariadb);

/* GET_LOCK's second argument for a wait that starts now: seconds, never negative (that is an error
 * on MariaDB and "for ever" on MySQL). LB_NEVER gives a year. MariaDB takes microseconds, rounded
 * down so that the answer is not late; MySQL takes whole seconds, rounded up so that a short wait
 * is a wait. 0 = ask once. */
double getlock_seconds(int64_t deadline_ns, int64_t now_ns, bool is_mariadb);

struct maria_sql {
    struct sql_session sql;
    MYSQL_STMT *statement[SQL_ROLES];
    struct maria_row row;
};

extern const struct sql_port maria_port;

#define MARIA_HOME "lockbench" /* the database where the URL names none */
/* The end of each statement that creates a table or a sequence, with lockbench's mark. */
#define MARIA_MADE "ENGINE=InnoDB COMMENT='" LB_MADE_BY "'"
sql_made_fn maria_made;

/* Names are compared byte by byte: a collation could take two names for the same, or ignore a blank at the
 * end. */
#define MARIA_NAME "name VARBINARY(1024) NOT NULL PRIMARY KEY"
#define MARIA_OWNER "owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
#define MARIA_NAME_LEFT "LEFT(name, LENGTH(?)) = ?" /* takes "kk" */

/* The numbers 0 to 9999, for a user who may read no table. */
#define MARIA_DIGITS                                                                                   \
    "(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION " \
    "SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) AS "
#define MARIA_NUMBERS                                                                              \
    "(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS seq FROM " MARIA_DIGITS "a, " MARIA_DIGITS \
    "b, " MARIA_DIGITS "c, " MARIA_DIGITS "e) AS numbers"
/* The names of many keys, as a table; takes "kvx". At most LB_RANGE_MAX. */
#define MARIA_NAMES                                                                                \
    "(SELECT CONCAT(?, CAST(? + seq AS CHAR)) AS name FROM " MARIA_NUMBERS                         \
    " WHERE seq < ?) AS names"

/* The statements for a table with a row for each key. more: the columns after the name; values: their first values;
 * each begins with a comma, or is "". */
#define MARIA_ROWS_OF(table, more, values)                                                         \
    [SQL_ADD] = {"INSERT INTO " table " (name" more ") VALUES (?" values ")", "k"},                \
    [SQL_REMOVE] = {"DELETE FROM " table " WHERE name = ?", "k"},                                  \
    [SQL_ADD_MANY] = {"INSERT INTO " table " (name" more ") SELECT names.name" values              \
                      " FROM " MARIA_NAMES " ON DUPLICATE KEY UPDATE " table ".name = " table      \
                      ".name",                                                                     \
                      "kvx"},                                                                      \
    [SQL_REMOVE_MANY] = {"DELETE " table " FROM " MARIA_NAMES " STRAIGHT_JOIN " table " ON " table \
                         ".name = names.name",                                                     \
                         "kvx"},                                                                   \
    [SQL_LEFT] = {"SELECT COUNT(*) FROM " table " WHERE " MARIA_NAME_LEFT, "kk"}

#define MARIA_TRANSACTION                                                                          \
    [SQL_BEGIN] = {"BEGIN", ""}, [SQL_COMMIT] = {"COMMIT", ""}, [SQL_ROLLBACK] = {"ROLLBACK", ""}

/* Rows of mysql-row and mysql-nowait, which are one lock. Galera needs INCREMENT BY 0: the sequence
 * then counts by auto_increment_increment (1 on a single server), so that each node draws numbers
 * of its own. */
#define MARIA_ROW_SCHEMA                                                                           \
    "CREATE TABLE IF NOT EXISTS lockbench_row (" MARIA_NAME ") " MARIA_MADE,                       \
        "CREATE SEQUENCE IF NOT EXISTS lockbench_fence INCREMENT BY 0 " MARIA_MADE
/* The server locks a row when it reads the row, before it computes the selected values. So the number is drawn
 * while the row is locked. */
#define MARIA_ROW_LOCKED                                                                           \
    "SELECT NEXTVAL(lockbench_fence) FROM lockbench_row WHERE name = ? FOR UPDATE"
#define MARIA_ROW_STATEMENTS MARIA_ROWS_OF("lockbench_row", "", "")

/* The server's clock at the statement's begin. In UTC: a DATETIME of local time jumps twice a
 * year. */
#define MARIA_NOW "UTC_TIMESTAMP(6)"
#define MARIA_LEASE_END "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND"

/* Rows with a version, of mysql-optimistic and mysql-update. */
#define MARIA_VERSION_SCHEMA                                                                       \
    "CREATE TABLE IF NOT EXISTS lockbench_version (" MARIA_NAME ", "                               \
    "version BIGINT NOT NULL, value BIGINT NOT NULL) " MARIA_MADE
#define MARIA_VERSION_ROWS MARIA_ROWS_OF("lockbench_version", ", version, value", ", 1, 0")

#endif
