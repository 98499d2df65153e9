/* pg_clean: the tables and the sequences that lockbench made in the database, and rows in them; see
 * drivers/clean.h. It removes only what has lockbench's mark in its comment. */
#include "drivers/postgres/pg_impl.h"
#include "drivers/postgres/pg_sql.h"

#include <stdio.h>

#include "drivers/clean.h"
#include "drivers/wait.h"

#define CLEAN_NS (600 * LB_S_NS) /* for one statement: there may be millions of rows */

/* Tables before sequences. They are looked for where unqualified names find them. */
#define MADE_BY(is)                                                                                \
    "SELECT c.oid::regclass::text, c.relname, c.relkind FROM pg_class c "                          \
    "WHERE c.relkind IN ('r', 'S') AND c.relname LIKE 'lockbench\\_%' "                            \
    "AND pg_table_is_visible(c.oid) "                                                              \
    "AND obj_description(c.oid, 'pg_class') " is " '" LB_MADE_BY "' ORDER BY c.relkind = 'S'"

static int ask_server(struct lb_session *session, const char *sql, PGresult **ret_result,
                      struct lb_err *err) {
    if (pg_query(session, sql, lb_after(lb_now(), CLEAN_NS), ret_result) == LB_OK) return 0;
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

static int tell_server(struct lb_session *session, const char *sql, struct lb_err *err) {
    PGresult *result = NULL;
    int failed = ask_server(session, sql, &result, err);
    PQclear(result);
    return failed;
}

/* The number of a table's rows that the condition is true of. */
static int count_rows(struct lb_session *session, const char *table, const char *where,
                      unsigned long long *ret_count, struct lb_err *err) {
    char sql[4 * LB_KEY_MAX];
    PGresult *result = NULL;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE %s", table, where);
    if (ask_server(session, sql, &result, err) != 0) return -1;
    *ret_count = strtoull(pg_text(result, 0, 0), NULL, 10);
    PQclear(result);
    return 0;
}

/* Deletes rows of a key or of a stage's keys. */
static int clean_rows(struct lb_session *session, const char *table, const char *where,
                      const struct lb_cleaning *cleaning, struct lb_err *err) {
    char sql[4 * LB_KEY_MAX];
    unsigned long long count = 0;
    if (cleaning->scope == LB_CLEAN_KEY) {
        if (count_rows(session, table, where, &count, err) != 0) return -1;
        if (count == 0 ||
            !lb_clean_found(cleaning, "row", "%s, name = '%s'", table, cleaning->name))
            return 0;
    }
    /* A statement of a client that was cut off may still be running: the lock waits for its end. */
    snprintf(sql, sizeof sql, "LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE; DELETE FROM %s WHERE %s",
             table, table, where);
    return tell_server(session, sql, err);
}

/* Drops a table or a sequence. *full: a table was kept, because it has rows. */
static int clean_whole(struct lb_session *session, const char *name, bool is_table,
                       const struct lb_cleaning *cleaning, bool *full, struct lb_err *err) {
    char sql[256];
    unsigned long long count = 0;
    if (cleaning->scope == LB_CLEAN_EMPTY && is_table) {
        if (count_rows(session, name, "true", &count, err) != 0) return -1;
        *full |= count > 0;
    }
    if (count > 0 || (*full && !is_table)) return 0;
    if (!lb_clean_found(cleaning, is_table ? "table" : "sequence", "%s", name)) return 0;
    snprintf(sql, sizeof sql, "DROP %s IF EXISTS %s", is_table ? "TABLE" : "SEQUENCE", name);
    return tell_server(session, sql, err);
}

/* The condition for the rows of a key, or of a stage's keys. 0, or -1 with err. */
static int write_where(struct lb_session *session, const struct lb_cleaning *cleaning, char *where,
                       size_t size, struct lb_err *err) {
    const struct pg_session *state = session->state;
    bool one = cleaning->scope == LB_CLEAN_KEY;
    if (!cleaning->name) return 0;
    char *literal = PQescapeLiteral(state->conn, cleaning->name, strlen(cleaning->name));
    if (!literal) return err_set(err, LB_EXIT_USAGE, "postgres: the key is no text for the server");
    snprintf(where, size, one ? "name = %s" : "starts_with(name, %s)", literal);
    PQfreemem(literal);
    return 0;
}

/* Frees advisory locks that nobody frees: those of the key or of the stage by their numbers, or those of all sessions
 * named lockbench; the name in the URL may be that of the user's own program. It ends the sessions; behind a pooler it
 * may be in such a session itself. */
static int clean_advisory(struct lb_session *session, const struct lb_cleaning *cleaning,
                          struct lb_err *err) {
    bool one = cleaning->scope == LB_CLEAN_KEY, stage = cleaning->scope == LB_CLEAN_STAGE;
    long long first =
        (long long)(one ? lb_key_number(cleaning->name, strlen(cleaning->name)) : cleaning->number);
    char sql[1024], which[100] = "application_name = 'lockbench'";
    PGresult *found = NULL;
    int failed = 0;
    if (!one && !stage && cleaning->scope != LB_CLEAN_LEFT) return 0;
    if (one || stage)
        snprintf(which, sizeof which, "number BETWEEN %lld AND %lld", first,
                 first + (one ? 0 : (long long)cleaning->count - 1));
    snprintf(sql, sizeof sql,
             "SELECT number::text, CASE WHEN granted THEN 'held' ELSE 'waited for' END, pid::text "
             "FROM " PG_ADVISORY_LOCKS "WHERE %s",
             which);
    if (ask_server(session, sql, &found, err) != 0) return -1;
    for (int i = 0; i < PQntuples(found) && !failed; i++) {
        const char *pid = pg_text(found, i, 2);
        if (!stage && !lb_clean_found(cleaning, "advisory lock", "%s, %s by session %s",
                                      pg_text(found, i, 0), pg_text(found, i, 1), pid))
            continue;
        snprintf(sql, sizeof sql,
                 "SELECT CASE WHEN pg_backend_pid() = %s THEN pg_advisory_unlock_all()::text "
                 "ELSE pg_terminate_backend(%s)::text END",
                 pid, pid);
        failed = tell_server(session, sql, err);
    }
    PQclear(found);
    return failed;
}

#define END_NS (3 * LB_S_NS) /* within which a program's sessions are quiet after its end */

/* Refuses where other sessions of lockbench work: a run would lose its tables, and their locks. */
static int check_alone(struct lb_session *session, struct lb_err *err) {
    static const char others[] = "SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                                 "'lockbench' AND pid <> pg_backend_pid() AND "
                                 "state_change > clock_timestamp() - interval '2 s'";
    int64_t until_ns = lb_now() + END_NS;
    for (;; lb_sleep_until(lb_now() + END_NS / 50)) {
        PGresult *result = NULL;
        if (ask_server(session, others, &result, err) != 0) return -1;
        int count = atoi(pg_text(result, 0, 0));
        PQclear(result);
        if (count == 0) return 0;
        if (lb_now() >= until_ns || lb_stopping())
            return err_set(
                err, LB_EXIT_MACHINE,
                "postgres: sessions of lockbench that work on this server: %d: clean when "
                "the run has ended",
                count);
    }
}

int pg_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    char where[2 * LB_KEY_MAX + 64] = "";
    PGresult *made = NULL;
    bool full = false;
    int failed = -1;
    bool rows = cleaning->scope == LB_CLEAN_KEY || cleaning->scope == LB_CLEAN_STAGE;
    if (cleaning->scope == LB_CLEAN_LEFT && check_alone(session, err) != 0) return -1;
    /* Do not wait for long for clients that use a table. */
    if (tell_server(session, "SET lock_timeout = '3s'", err) != 0) return -1;
    if (write_where(session, cleaning, where, sizeof where, err) != 0) return -1;
    if (ask_server(session, MADE_BY("="), &made, err) != 0) return -1;
    for (int i = 0; i < PQntuples(made); i++) {
        const char *name = pg_text(made, i, 0);
        bool is_table = pg_text(made, i, 2)[0] == 'r';
        failed = 0;
        if (rows && is_table) failed = clean_rows(session, name, where, cleaning, err);
        if (!rows) failed = clean_whole(session, name, is_table, cleaning, &full, err);
        if (failed) break;
    }
    if (PQntuples(made) == 0) failed = 0;
    PQclear(made);
    return failed ? failed : clean_advisory(session, cleaning, err);
}

int pg_strangers(struct lb_session *session, sql_stranger_fn *visit, void *arg,
                 struct lb_err *err) {
    PGresult *found = NULL;
    if (ask_server(session, MADE_BY("IS DISTINCT FROM"), &found, err) != 0) return -1;
    for (int i = 0; i < PQntuples(found); i++)
        visit(arg, pg_text(found, i, 1), pg_text(found, i, 2)[0] == 'r' ? "TABLE" : "SEQUENCE");
    PQclear(found);
    return 0;
}
