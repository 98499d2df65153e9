/* maria_sql: the port of drivers/sql_lock.h to MariaDB (and MySQL, as far as its words go), and the
 * words that its recipes share. */
#ifndef DRIVERS_MARIADB_MARIA_SQL_H
#define DRIVERS_MARIADB_MARIA_SQL_H

#include "drivers/clean.h"
#include "drivers/mariadb/maria_session.h"
#include "drivers/sql_lock.h"
#include "drivers/store.h"

struct maria_sql {
    struct sql_session sql;
    MYSQL_STMT *statement[SQL_ROLES];
    struct maria_row row;
};

extern const struct sql_port maria_port;

#define MARIA_HOME "lockbench" /* the database where the URL names none */
/* How a table or a sequence ends that is made: with its mark. */
#define MARIA_MADE "ENGINE=InnoDB COMMENT='" LB_MADE_BY "'"
int maria_strangers(struct lb_session *session, sql_stranger_fn *visit, void *arg,
                    struct lb_err *err);

/* Names are bytes, compared as bytes: no collation folds two into one or ignores a blank at the
 * end. */
#define MARIA_NAME "name VARBINARY(1024) NOT NULL PRIMARY KEY"
#define MARIA_OWNER "owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
#define MARIA_NAME_LEFT "LEFT(name, LENGTH(?)) = ?" /* takes "kk" */

#define MARIA_TRANSACTION                                                                          \
    [SQL_BEGIN] = {"BEGIN", ""}, [SQL_COMMIT] = {"COMMIT", ""}, [SQL_ROLLBACK] = {"ROLLBACK", ""}

/* Rows of mysql-row and mysql-nowait, which are one lock. */
#define MARIA_ROW_SCHEMA                                                                           \
    "CREATE TABLE IF NOT EXISTS lockbench_row (" MARIA_NAME ") " MARIA_MADE,                       \
        "CREATE SEQUENCE IF NOT EXISTS lockbench_fence " MARIA_MADE
/* A row is locked as it is read, before what is selected of it: the number is drawn under the
 * lock. */
#define MARIA_ROW_LOCKED                                                                           \
    "SELECT NEXTVAL(lockbench_fence) FROM lockbench_row WHERE name = ? FOR UPDATE"
#define MARIA_ROW_STATEMENTS                                                                       \
    [SQL_ADD] = {"INSERT INTO lockbench_row (name) VALUES (?)", "k"},                              \
    [SQL_REMOVE] = {"DELETE FROM lockbench_row WHERE name = ?", "k"},                              \
    [SQL_LEFT] = {"SELECT COUNT(*) FROM lockbench_row WHERE " MARIA_NAME_LEFT, "kk"}

/* What mysql-lease guards, kept beside it: lb_lock.store, and its recipe's statements. What changes
 * nothing counts as not done, so each step that is done raises steps. The columns are assigned from
 * left to right. */
extern const struct lb_store maria_store;
#define MARIA_STORE_STATEMENTS                                                                     \
    [SQL_INSTALL] = {"INSERT INTO lockbench_guarded (name, token, value, steps) "                  \
                     "VALUES (?, ?, LAST_INSERT_ID(0), 1) ON DUPLICATE KEY UPDATE "                \
                     "steps = IF(token <= VALUES(token), steps + 1, steps), "                      \
                     "value = IF(token <= VALUES(token), LAST_INSERT_ID(value), value), "          \
                     "token = GREATEST(token, VALUES(token))",                                     \
                     "kv"},                                                                        \
    [SQL_STORE] = {"UPDATE lockbench_guarded SET steps = steps + 1, token = ?, value = ? "         \
                   "WHERE name = ? AND token <= ?",                                                \
                   "vxkv"},                                                                        \
    [SQL_LOOK] = {"SELECT value FROM lockbench_guarded WHERE name = ?", "k"},                      \
    [SQL_DROP] = {"DELETE FROM lockbench_guarded WHERE name = ?", "k"}

/* The server's clock at the statement's begin. In UTC: a DATETIME of local time jumps twice a
 * year. */
#define MARIA_NOW "UTC_TIMESTAMP(6)"
#define MARIA_LEASE_END "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND"

#endif
