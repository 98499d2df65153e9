/* sqlite_sql: see sqlite_session.h. Each statement is a transaction of its own: it takes the database's
 * write lock for as long as it writes and flushes, and waits for other writers by SQLite's busy
 * handler. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "drivers/sqlite/sqlite_session.h"

static void bind(sqlite3_stmt *statement, struct sql_values *values, const char *args) {
    for (int i = 1; *args; i++, args++) {
        if (*args == 'k') {
            sqlite3_bind_text(statement, i, values->key, (int)values->key_len, SQLITE_STATIC);
        } else if (*args == 'o') {
            sqlite3_bind_text(statement, i, values->owner, (int)values->owner_len, SQLITE_STATIC);
        } else {
            sqlite3_bind_int64(statement, i, *sql_number(values, *args));
        }
    }
}

static enum lb_outcome sqlite_port_run(struct lb_session *session, enum sql_role role,
                                       int64_t answer_by_ns, struct sql_answer *ret_answer) {
    struct sql_session *mine = session->lock_state;
    const struct sql_statement *words = &mine->recipe->statement[role];
    struct sqlite_db *db = NULL;
    *ret_answer = (struct sql_answer){0};
    if (role == SQL_REMOVE && !sqlite_exists(session, mine->values.key_index)) return LB_OK;
    enum lb_outcome outcome = sqlite_database(session, mine->values.key_index, answer_by_ns, &db);
    if (outcome != LB_OK) return outcome;
    sqlite3_stmt *statement = db->statement[role];
    if (!statement) {
        int code = sqlite3_prepare_v3(db->handle, words->text, -1, SQLITE_PREPARE_PERSISTENT,
                                      &statement, NULL);
        if (code != SQLITE_OK) return sqlite_failed(session, db->handle, code);
        db->statement[role] = statement;
    }
    bind(statement, &mine->values, words->args);
    outcome = sqlite_run(session, db, statement, answer_by_ns);
    if (outcome != LB_OK) return outcome;
    int columns = sqlite3_data_count(statement); /* 0 if there is no row */
    ret_answer->rows = columns > 0;
    for (int i = 0; i < columns && i < SQL_NUMBERS; i++)
        ret_answer->number[i] = sqlite3_column_int64(statement, i);
    if (sqlite3_column_count(statement) == 0)
        ret_answer->rows = (uint64_t)sqlite3_changes(db->handle);
    sqlite3_reset(statement);
    return LB_OK;
}

static int64_t port_answer_after(const struct lb_session *session, int64_t wait_until_ns) {
    (void)session;
    int64_t patience_ns = sqlite_patience();
    return wait_until_ns > patience_ns ? wait_until_ns : patience_ns;
}

/* Counts in the folder's databases of keys; skips their logs. */
static int port_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                        struct lb_err *err) {
    struct sql_session *mine = session->lock_state;
    DIR *folder = opendir(session->server->dir);
    int failed = 0;
    if (!folder)
        return err_set(err, LB_EXIT_MACHINE, "sqlite: can't read '%s'", session->server->dir);
    for (struct dirent *file; !failed && (file = readdir(folder)) != NULL;) {
        char end[5];
        if (sscanf(file->d_name, "key-%u.%4s", &mine->values.key_index, end) != 2 ||
            strcmp(end, "db") != 0)
            continue;
        struct lb_residue one = {0};
        failed = sql_count_left(session, prefix, &one, err);
        lb_left(residue, one.count, "%.90s in %.60s", one.example, file->d_name);
    }
    closedir(folder);
    return failed;
}

const struct sql_port sqlite_port = {
    .run = sqlite_port_run, .answer_after = port_answer_after, .residue = port_residue};
