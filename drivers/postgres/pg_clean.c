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
    "SELECT c.relname, c.relkind FROM pg_class c WHERE c.relkind IN ('r', 'S') "                   \
    "AND c.relname ~ '^lockbench_[a-z0-9_]*$' AND pg_table_is_visible(c.oid) "                     \
    "AND obj_description(c.oid, 'pg_class') " is " '" LB_MADE_BY "' ORDER BY c.relkind = 'S'"

static int ask_server(struct lb_session *session, const char *sql, PGresult **ret_result,
                      struct lb_err *err) {
    if (pg_query(session, sql, lb_after(lb_now(), CLEAN_NS), ret_result) == LB_OK) return 0;
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
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
        failed = sql_tell(session, &pg_port, sql, NULL, err);
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
        uint64_t count;
        if (sql_tell(session, &pg_port, others, &count, err) != 0) return -1;
        if (count == 0) return 0;
        if (lb_now() >= until_ns || lb_stopping())
            return err_set(
                err, LB_EXIT_MACHINE,
                "postgres: sessions of lockbench that work on this server: %d: clean when "
                "the run has ended",
                (int)count);
    }
}

int pg_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    static const struct sql_cleaner cleaner = {
        .port = &pg_port,
        .patience = "SET lock_timeout = '3s'",
        /* as the lock's own statements: in the connection's encoding, with no backslash */
        .text = {"convert_from(decode('", "', 'hex'), pg_client_encoding())"},
        .before = "",
        .after = "",
        /* a statement of a client that was cut off may still be running */
        .lock = {"LOCK TABLE ", " IN SHARE ROW EXCLUSIVE MODE; "},
    };
    if (cleaning->scope == LB_CLEAN_LEFT && check_alone(session, err) != 0) return -1;
    if (sql_clean(session, cleaning, &cleaner, err) != 0) return -1;
    return clean_advisory(session, cleaning, err);
}

int pg_made(struct lb_session *session, bool marked, sql_visit_fn *visit, void *arg,
            struct lb_err *err) {
    PGresult *found = NULL;
    const char *sql = marked ? MADE_BY("=") : MADE_BY("IS DISTINCT FROM");
    if (ask_server(session, sql, &found, err) != 0) return -1;
    for (int i = 0; i < PQntuples(found); i++)
        visit(arg, pg_text(found, i, 0), pg_text(found, i, 1)[0] == 'r' ? "TABLE" : "SEQUENCE");
    PQclear(found);
    return 0;
}
