/* sqlite_sql: see sqlite_session.h. Each statement is a transaction of its own: it takes the database's
 * write lock for as long as it writes and flushes, and waits for other writers by SQLite's busy
 * handler. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "drivers/sqlite/sqlite_session.h"

_Static_assert(SQL_ROLES <= SQLITE_STATEMENTS_MAX, "a database keeps a statement for each role");

/* The same in each file, whichever lock comes first. */
static const struct sqlite_plan plan = {
    "CREATE TABLE lockbench_table (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expire_at INTEGER NOT NULL);"
    "CREATE INDEX lockbench_table_expire_at ON lockbench_table (expire_at);"
    "CREATE TABLE lockbench_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL, "
    "value INTEGER NOT NULL)",
    NULL, 0};

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
    enum lb_outcome outcome =
        sqlite_database(session, mine->values.key_index, &plan, answer_by_ns, &db);
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
    struct sql_answer answer = {0};
    int columns = sqlite3_data_count(statement); /* 0 if there is no row */
    answer.rows = columns > 0;
    for (int i = 0; i < columns && i < SQL_NUMBERS; i++)
        answer.number[i] = sqlite3_column_int64(statement, i);
    if (sqlite3_column_count(statement) == 0) answer.rows = (uint64_t)sqlite3_changes(db->handle);
    sqlite3_reset(statement);
    *ret_answer = answer;
    return LB_OK;
}

static int64_t port_answer_after(const struct lb_session *session, int64_t wait_until_ns) {
    (void)session;
    int64_t patience_ns = sqlite_patience();
    return wait_until_ns > patience_ns ? wait_until_ns : patience_ns;
}

typedef int visit_fn(struct lb_session *session, uint32_t key_index, const char *file, void *arg,
                     struct lb_err *err);

/* Visits the folder's databases of keys. Skips their logs. */
static int each_database(struct lb_session *session, visit_fn *visit, void *arg,
                         struct lb_err *err) {
    DIR *folder = opendir(session->server->dir);
    int failed = 0;
    if (!folder)
        return err_set(err, LB_EXIT_MACHINE, "sqlite: can't read '%s'", session->server->dir);
    for (struct dirent *file; !failed && (file = readdir(folder)) != NULL;) {
        char end[5];
        unsigned index;
        if (sscanf(file->d_name, "key-%u.%4s", &index, end) != 2 || strcmp(end, "db") != 0)
            continue;
        failed = visit(session, index, file->d_name, arg, err);
    }
    closedir(folder);
    return failed;
}

struct looking {
    const char *prefix;
    struct lb_residue all;
};

static int count_in(struct lb_session *session, uint32_t key_index, const char *file, void *arg,
                    struct lb_err *err) {
    struct sql_session *mine = session->lock_state;
    struct looking *looking = arg;
    struct lb_residue *all = &looking->all, one;
    mine->values.key_index = key_index;
    if (sql_count_left(session, looking->prefix, &one, err) != 0) return -1;
    if (one.count) snprintf(all->example, sizeof all->example, "%.90s in %.60s", one.example, file);
    all->count += one.count;
    return 0;
}

static int port_residue(struct lb_session *session, const char *prefix,
                        struct lb_residue *ret_residue, struct lb_err *err) {
    struct looking looking = {.prefix = prefix};
    if (each_database(session, count_in, &looking, err) != 0) return -1;
    *ret_residue = looking.all;
    return 0;
}

struct removing {
    const struct lb_key_range *range;
    const struct lb_request *like;
};

static int remove_in(struct lb_session *session, uint32_t key_index, const char *file, void *arg,
                     struct lb_err *err) {
    const struct removing *removing = arg;
    const struct lb_key_range *range = removing->range;
    struct lb_request request = *removing->like;
    char name[LB_KEY_MAX];
    (void)file;
    if (key_index < range->first || key_index - range->first >= range->count) return 0;
    request.key_len = (size_t)snprintf(name, sizeof name, "%s%u", range->prefix, key_index);
    request.key = name;
    request.key_index = key_index;
    return sql_disarm(session, &request, err);
}

static int port_remove(struct lb_session *session, const struct lb_key_range *range,
                       const struct lb_request *like, struct lb_err *err) {
    struct removing removing = {range, like};
    return each_database(session, remove_in, &removing, err);
}

const struct sql_port sqlite_port = {.run = sqlite_port_run,
                                     .answer_after = port_answer_after,
                                     .residue = port_residue,
                                     .remove = port_remove};
