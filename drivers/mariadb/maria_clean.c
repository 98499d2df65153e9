/* maria_clean: removes the tables, the sequence and the database that lockbench made, and rows in
 * them; see drivers/clean.h. It removes only what has lockbench's mark in its comment. MySQL, and
 * MariaDB before 10.5, have no comments on databases: there the database stays. */
#include "drivers/mariadb/maria_impl.h"
#include "drivers/mariadb/maria_sql.h"

#include <stdio.h>
#include <string.h>

#include "drivers/clean.h"

/* The name of the database that contains our tables. */
static const char *home_of(const struct lb_session *session) {
    const struct maria_server *server = session->server->state;
    return server->url.path[0] ? server->url.path : MARIA_HOME;
}

int maria_made(struct lb_session *session, bool marked, sql_visit_fn *visit, void *arg,
               struct lb_err *err) {
    char sql[1024], home[2 * sizeof((struct url *)0)->path + 1];
    MYSQL_RES *result = NULL;
    MYSQL_ROW row;
    snprintf(
        sql, sizeof sql,
        "SELECT TABLE_NAME, TABLE_TYPE = 'SEQUENCE' FROM information_schema.TABLES WHERE "
        "TABLE_SCHEMA = 0x%s AND TABLE_NAME LIKE 'lockbench\\_%%' AND TABLE_COMMENT %s '" LB_MADE_BY
        "' ORDER BY 2",
        sql_hex(home_of(session), home, sizeof home), marked ? "=" : "<>");
    if (maria_query(session, sql, sql_answer_by(session), &result) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    while (result && (row = mysql_fetch_row(result))) {
        if (row[0] && row[1] && !strchr(row[0], '`'))
            visit(arg, row[0], row[1][0] == '0' ? "TABLE" : "SEQUENCE");
    }
    mysql_free_result(result);
    return 0;
}

/* Drops our database, if lockbench made it and nothing is in it. */
static int clean_home(struct lb_session *session, const struct lb_cleaning *cleaning,
                      struct lb_err *err) {
    static const char look[] =
        "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '" MARIA_HOME "' "
        "AND SCHEMA_COMMENT = '" LB_MADE_BY "' AND NOT EXISTS (SELECT 1 FROM "
        "information_schema.TABLES WHERE TABLE_SCHEMA = '" MARIA_HOME "')";
    struct lb_err no_comments = {0};
    uint64_t count = 0;
    if (strcmp(home_of(session), MARIA_HOME) != 0) return 0;
    if (sql_tell(session, &maria_port, look, &count, &no_comments) != 0 || count == 0) return 0;
    if (!lb_clean_found(cleaning, "database", "%s", MARIA_HOME)) return 0;
    return sql_tell(session, &maria_port, "DROP DATABASE IF EXISTS " MARIA_HOME, NULL, err);
}

int maria_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    char before[sizeof((struct url *)0)->path + 8];
    const struct sql_cleaner cleaner = {.port = &maria_port,
                                        .patience = "SET lock_wait_timeout = 3",
                                        .text = {"0x", ""},
                                        .before = before,
                                        .after = "`",
                                        .lock = {"", ""}};
    snprintf(before, sizeof before, "`%s`.`", home_of(session));
    if (sql_clean(session, cleaning, &cleaner, err) != 0) return -1;
    bool rows = cleaning->scope == LB_CLEAN_KEY || cleaning->scope == LB_CLEAN_STAGE;
    return rows ? 0 : clean_home(session, cleaning, err);
}
