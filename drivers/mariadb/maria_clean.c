/* maria_clean: removes the tables, the sequence and the database that lockbench made, and rows in
 * them; see drivers/clean.h. It removes only what has lockbench's mark in its comment. MySQL, and
 * MariaDB before 10.5, have no comments on databases: there the database stays. */
#include "drivers/mariadb/maria_impl.h"
#include "drivers/mariadb/maria_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"

#define CLEAN_NS (600 * LB_S_NS) /* limit of one statement: there may be millions of rows */
#define NAMES_MAX 64
#define NAME_BYTES 200

struct found_names {
    int count;
    struct {
        char name[NAME_BYTES];
        bool is_table;
    } item[NAMES_MAX];
};

static int ask_server(struct lb_session *session, const char *sql, MYSQL_RES **ret_result,
                      struct lb_err *err) {
    if (maria_query(session, sql, lb_after(lb_now(), CLEAN_NS), ret_result) == LB_OK) return 0;
    err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    session->err.code = 0;
    return -1;
}

static int tell_server(struct lb_session *session, const char *sql, struct lb_err *err) {
    MYSQL_RES *result = NULL;
    int failed = ask_server(session, sql, &result, err);
    if (!failed) mysql_free_result(result);
    return failed;
}

/* Runs a query whose answer is a number; 0 if the answer is empty. */
static int ask_number(struct lb_session *session, const char *sql, unsigned long long *ret_number,
                      struct lb_err *err) {
    MYSQL_RES *result = NULL;
    if (ask_server(session, sql, &result, err) != 0) return -1;
    MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;
    *ret_number = row && row[0] ? strtoull(row[0], NULL, 10) : 0;
    mysql_free_result(result);
    return 0;
}

/* The name of the database that contains our tables. */
static const char *home_of(const struct lb_session *session) {
    const struct maria_server *server = session->server->state;
    return server->url.path[0] ? server->url.path : MARIA_HOME;
}

/* Writes a text as a literal of hex digits, which needs no quotes. */
static void hex_of(const char *text, char *out, size_t size) {
    size_t used = (size_t)snprintf(out, size, "0x");
    for (; *text && used + 3 < size; text++)
        used += (size_t)snprintf(out + used, size - used, "%02x", (unsigned char)*text);
    if (used == 2) snprintf(out, size, "''");
}

/* Lists tables, then sequences: those whose comment says that lockbench made them, or those without
 * it. */
static int find_made(struct lb_session *session, const char *is, struct found_names *ret_found,
                     struct lb_err *err) {
    char sql[1024], home[2 * sizeof((struct url *)0)->path + 8];
    MYSQL_RES *result = NULL;
    MYSQL_ROW row;
    hex_of(home_of(session), home, sizeof home);
    snprintf(
        sql, sizeof sql,
        "SELECT TABLE_NAME, TABLE_TYPE = 'SEQUENCE' FROM information_schema.TABLES WHERE "
        "TABLE_SCHEMA = %s AND TABLE_NAME LIKE 'lockbench\\_%%' AND TABLE_COMMENT %s '" LB_MADE_BY
        "' ORDER BY 2",
        home, is);
    if (ask_server(session, sql, &result, err) != 0) return -1;
    while (result && (row = mysql_fetch_row(result)) && ret_found->count < NAMES_MAX) {
        if (!row[0] || !row[1] || strchr(row[0], '`')) continue;
        int at = ret_found->count++;
        snprintf(ret_found->item[at].name, NAME_BYTES, "`%.80s`.`%.100s`", home_of(session),
                 row[0]);
        ret_found->item[at].is_table = row[1][0] == '0';
    }
    mysql_free_result(result);
    return 0;
}

static int clean_rows(struct lb_session *session, const char *table, const char *where,
                      const struct lb_cleaning *cleaning, struct lb_err *err) {
    char sql[4 * LB_KEY_MAX];
    unsigned long long count = 0;
    if (cleaning->scope == LB_CLEAN_KEY) {
        snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM %s WHERE %s", table, where);
        if (ask_number(session, sql, &count, err) != 0) return -1;
        if (count == 0 ||
            !lb_clean_found(cleaning, "row", "%s, name = '%s'", table, cleaning->name))
            return 0;
    }
    snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s", table, where);
    return tell_server(session, sql, err);
}

/* Drops a table or a sequence. *full: a table was kept, because it has rows. */
static int clean_whole(struct lb_session *session, const char *name, bool is_table,
                       const struct lb_cleaning *cleaning, bool *full, struct lb_err *err) {
    char sql[NAME_BYTES + 64];
    unsigned long long count = 0;
    if (cleaning->scope == LB_CLEAN_EMPTY && is_table) {
        snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM %s", name);
        if (ask_number(session, sql, &count, err) != 0) return -1;
        *full |= count > 0;
    }
    if (count > 0 || (*full && !is_table)) return 0;
    if (!lb_clean_found(cleaning, is_table ? "table" : "sequence", "%s", name)) return 0;
    snprintf(sql, sizeof sql, "DROP %s IF EXISTS %s", is_table ? "TABLE" : "SEQUENCE", name);
    return tell_server(session, sql, err);
}

/* Drops our database, if lockbench made it and nothing is in it. */
static int clean_home(struct lb_session *session, const struct lb_cleaning *cleaning,
                      struct lb_err *err) {
    static const char look[] =
        "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '" MARIA_HOME "' "
        "AND SCHEMA_COMMENT = '" LB_MADE_BY "' AND NOT EXISTS (SELECT 1 FROM "
        "information_schema.TABLES WHERE TABLE_SCHEMA = '" MARIA_HOME "')";
    struct lb_err no_comments = {0};
    unsigned long long count = 0;
    if (strcmp(home_of(session), MARIA_HOME) != 0) return 0;
    if (ask_number(session, look, &count, &no_comments) != 0 || count == 0) return 0;
    if (!lb_clean_found(cleaning, "database", "%s", MARIA_HOME)) return 0;
    return tell_server(session, "DROP DATABASE IF EXISTS " MARIA_HOME, err);
}

int maria_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    bool rows = cleaning->scope == LB_CLEAN_KEY || cleaning->scope == LB_CLEAN_STAGE, full = false;
    char literal[2 * LB_KEY_MAX + 8], where[4 * LB_KEY_MAX - 256] = "";
    struct found_names *made = calloc(1, sizeof *made);
    if (!made) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (rows) {
        hex_of(cleaning->name, literal, sizeof literal);
        if (cleaning->scope == LB_CLEAN_KEY)
            snprintf(where, sizeof where, "name = %s", literal);
        else
            snprintf(where, sizeof where, "LEFT(name, %zu) = %s", strlen(cleaning->name), literal);
    }
    /* Limits the wait for clients that use a table. */
    int failed = tell_server(session, "SET lock_wait_timeout = 3", err);
    if (!failed) failed = find_made(session, "=", made, err);
    for (int i = 0; i < made->count && !failed; i++) {
        const char *name = made->item[i].name;
        bool is_table = made->item[i].is_table;
        if (rows && is_table) failed = clean_rows(session, name, where, cleaning, err);
        if (!rows) failed = clean_whole(session, name, is_table, cleaning, &full, err);
    }
    if (!failed && !rows) failed = clean_home(session, cleaning, err);
    free(made);
    return failed;
}

int maria_strangers(struct lb_session *session, sql_stranger_fn *visit, void *arg,
                    struct lb_err *err) {
    struct found_names *found = calloc(1, sizeof *found);
    if (!found) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    int failed = find_made(session, "<>", found, err);
    for (int i = 0; i < found->count && !failed; i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s", strrchr(found->item[i].name, '.') + 2);
        name[strcspn(name, "`")] = '\0';
        visit(arg, name, found->item[i].is_table ? "TABLE" : "SEQUENCE");
    }
    free(found);
    return failed;
}
