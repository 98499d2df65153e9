/* sql_clean: removes the tables and the sequences that lockbench made in a database, and rows in them; see
 * drivers/clean.h and sql_lock.h. It removes only what has lockbench's mark in its comment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/sql_lock.h"
#include "drivers/wait.h"

#define CLEAN_NS (600 * LB_S_NS) /* for one statement: there may be millions of rows */
#define MADE_MAX 64
#define NAME_BYTES 320

/* A cleaning, and what it found. */
struct sweep {
    struct lb_session *session;
    const struct sql_cleaner *cleaner;
    const struct lb_cleaning *cleaning;
    char where[4 * LB_KEY_MAX + 256]; /* of the rows of a key, or of a stage's keys */
    bool full;                        /* a table was kept, because it has rows */
    int count;
    struct {
        char name[NAME_BYTES];
        bool is_table;
    } item[MADE_MAX];
};

int sql_tell(struct lb_session *session, const struct sql_port *port, const char *text,
             uint64_t *ret_number, struct lb_err *err) {
    if (port->query(session, text, lb_after(lb_now(), CLEAN_NS), ret_number) == LB_OK) return 0;
    err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    session->err.code = 0;
    return -1;
}

const char *sql_hex(const char *text, char *out, size_t size) {
    out[0] = '\0';
    for (size_t used = 0; *text && used + 2 < size; text++, used += 2)
        snprintf(out + used, size - used, "%02x", (unsigned char)*text);
    return out;
}

static void write_where(struct sweep *sweep) {
    const char *const *text = sweep->cleaner->text;
    char hex[2 * LB_KEY_MAX + 1];
    sql_hex(sweep->cleaning->name, hex, sizeof hex);
    if (sweep->cleaning->scope == LB_CLEAN_KEY)
        snprintf(sweep->where, sizeof sweep->where, "name = %s%s%s", text[0], hex, text[1]);
    else
        snprintf(sweep->where, sizeof sweep->where, "LEFT(name, LENGTH(%s%s%s)) = %s%s%s", text[0],
                 hex, text[1], text[0], hex, text[1]);
}

static void add_made(void *arg, const char *name, const char *what) {
    struct sweep *sweep = arg;
    if (sweep->count == MADE_MAX) return;
    snprintf(sweep->item[sweep->count].name, NAME_BYTES, "%s%.100s%s", sweep->cleaner->before, name,
             sweep->cleaner->after);
    sweep->item[sweep->count++].is_table = strcmp(what, "TABLE") == 0;
}

/* The number of a table's rows that the condition is true of. */
static int count_rows(const struct sweep *sweep, const char *table, const char *where,
                      uint64_t *ret_count, struct lb_err *err) {
    char sql[sizeof sweep->where + NAME_BYTES + 64];
    snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM %s WHERE %s", table, where);
    return sql_tell(sweep->session, sweep->cleaner->port, sql, ret_count, err);
}

/* Deletes rows of a key or of a stage's keys. */
static int clean_rows(const struct sweep *sweep, const char *table, struct lb_err *err) {
    const char *const *lock = sweep->cleaner->lock;
    char sql[sizeof sweep->where + 2 * NAME_BYTES + 128];
    uint64_t count = 0;
    if (sweep->cleaning->scope == LB_CLEAN_KEY) {
        if (count_rows(sweep, table, sweep->where, &count, err) != 0) return -1;
        if (count == 0 || !lb_clean_found(sweep->cleaning, "row", "%s, name = '%s'", table,
                                          sweep->cleaning->name))
            return 0;
    }
    snprintf(sql, sizeof sql, "%s%s%sDELETE FROM %s WHERE %s", lock[0], *lock[0] ? table : "",
             lock[1], table, sweep->where);
    return sql_tell(sweep->session, sweep->cleaner->port, sql, NULL, err);
}

/* Drops a table or a sequence. */
static int clean_whole(struct sweep *sweep, const char *name, bool is_table, struct lb_err *err) {
    char sql[NAME_BYTES + 64];
    uint64_t count = 0;
    if (sweep->cleaning->scope == LB_CLEAN_EMPTY && is_table) {
        if (count_rows(sweep, name, "0 = 0", &count, err) != 0) return -1;
        sweep->full |= count > 0;
    }
    if (count > 0 || (sweep->full && !is_table)) return 0;
    if (!lb_clean_found(sweep->cleaning, is_table ? "table" : "sequence", "%s", name)) return 0;
    snprintf(sql, sizeof sql, "DROP %s IF EXISTS %s", is_table ? "TABLE" : "SEQUENCE", name);
    return sql_tell(sweep->session, sweep->cleaner->port, sql, NULL, err);
}

int sql_clean(struct lb_session *session, const struct lb_cleaning *cleaning,
              const struct sql_cleaner *cleaner, struct lb_err *err) {
    bool rows = cleaning->scope == LB_CLEAN_KEY || cleaning->scope == LB_CLEAN_STAGE;
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    sweep->session = session;
    sweep->cleaner = cleaner;
    sweep->cleaning = cleaning;
    if (rows) write_where(sweep);
    int failed = sql_tell(session, cleaner->port, cleaner->patience, NULL, err);
    if (!failed) failed = cleaner->port->made(session, true, add_made, sweep, err);
    for (int i = 0; i < sweep->count && !failed; i++) {
        const char *name = sweep->item[i].name;
        bool is_table = sweep->item[i].is_table;
        if (!rows) failed = clean_whole(sweep, name, is_table, err);
        if (rows && is_table) failed = clean_rows(sweep, name, err);
    }
    free(sweep);
    return failed;
}
