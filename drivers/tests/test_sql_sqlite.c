/* The SQLite locks against another connection to the same file, which begins transactions and uses the rows by hand. */
#include "drivers/sql_lock.h"
#include "drivers/tests/live_help.h"

#include <sqlite3.h>

enum { TABLE, VERSION };

static struct live_place place;

static void foreign_open(sqlite3 **foreign) {
    char path[600];
    snprintf(path, sizeof path, "%s/key-0.db", place.place->dir);
    CHECK(sqlite3_open_v2(path, foreign, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, "%s", path);
    sqlite3_busy_timeout(*foreign, 5000);
}

/* The first column of the first row as text; "" for none. */
static const char *sqlite_ask(sqlite3 *foreign, const char *sql) {
    static char text[200];
    sqlite3_stmt *statement = NULL;
    text[0] = '\0';
    CHECK(sqlite3_prepare_v2(foreign, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
          sqlite3_errmsg(foreign));
    if (sqlite3_step(statement) == SQLITE_ROW)
        snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return text;
}

static int sqlite_say(sqlite3 *foreign, const char *sql) {
    return sqlite3_exec(foreign, sql, NULL, NULL, NULL);
}

#define SAYS(foreign, sql, wanted)                                                                 \
    do {                                                                                           \
        const char *said_ = sqlite_ask((foreign), (sql));                                          \
        CHECK(strcmp(said_, (wanted)) == 0, "said '%s', not '%s'", said_, (wanted));               \
    } while (0)

#define NOW_MS "CAST(strftime('%s', 'now') AS INTEGER) * 1000"
static const char row[] =
    "SELECT owner || '/' || CASE WHEN expire_at BETWEEN " NOW_MS " AND " NOW_MS
    " + 11000 THEN 'held' ELSE 'odd' END FROM lockbench_table WHERE name = 'it''s'";
static const char insert[] =
    "INSERT INTO lockbench_table VALUES ('it''s', 'stranger', " NOW_MS " + 3600000)";
static const char insert_dead[] =
    "INSERT INTO lockbench_table VALUES ('it''s', 'stranger', " NOW_MS " - 1000)";

static uint64_t left_by(struct live_client *ours, const char *prefix) {
    struct lb_residue left = {.count = 99};
    struct lb_err err = {0};
    CHECK(ours->session.lock->algorithm->residue(&ours->session, prefix, &left, &err) == 0, "%s",
          err.text);
    return left.count;
}

static void table(void *arg) {
    struct live_client ours;
    sqlite3 *foreign = NULL;
    char wanted[100];
    (void)arg;
    live_come_as(&ours, &place, TABLE, "it's");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    foreign_open(&foreign);
    snprintf(wanted, sizeof wanted, "%s/held", ((const struct sql_grant *)ours.grant.data)->owner);
    SAYS(foreign, row, wanted);
    CHECK(sqlite_say(foreign, insert) == SQLITE_CONSTRAINT, "ours holds");
    CHECK(sqlite3_extended_errcode(foreign) == SQLITE_CONSTRAINT_PRIMARYKEY);
    CHECK(left_by(&ours, "it") == 1);
    CHECK(left_by(&ours, "other") == 0);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_LOST);
    CHECK(left_by(&ours, "it") == 0);

    CHECK(sqlite_say(foreign, insert) == SQLITE_OK, "%s", sqlite3_errmsg(foreign));
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s", ours.session.err.text);
    CHECK(live_acquire(&ours, 30 * LB_MS_NS) == LB_TIMEOUT, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_LOST, "it is the stranger's");
    CHECK(live_renew(&ours) == LB_LOST);
    SAYS(foreign, "SELECT owner FROM lockbench_table", "stranger");
    CHECK(sqlite_say(foreign, "DELETE FROM lockbench_table") == SQLITE_OK);

    /* A dead owner's row: first no client sweeps it, then the client that wants the lock does. */
    struct sql_options patient = *(const struct sql_options *)ours.session.options,
                       diligent = patient;
    patient.sweep = SQL_SWEEP_NOBODY;
    diligent.sweep_every_ns = 0;
    CHECK(sqlite_say(foreign, insert_dead) == SQLITE_OK, "%s", sqlite3_errmsg(foreign));
    ours.session.options = &patient;
    CHECK(live_acquire(&ours, 150 * LB_MS_NS) == LB_TIMEOUT, "%s", ours.session.err.text);
    ours.session.options = &diligent;
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    SAYS(foreign, "SELECT count(*) FROM lockbench_table", "0");
    sqlite3_close(foreign);
    live_client_done(&ours);
}

static void versions(void *arg) {
    static const char version[] =
        "SELECT version || '/' || value FROM lockbench_version WHERE name = 'it''s'";
    struct live_client ours;
    sqlite3 *foreign = NULL;
    (void)arg;
    live_come_as(&ours, &place, VERSION, "it's");
    live_arm(&ours);
    foreign_open(&foreign);
    SAYS(foreign, version, "1/0");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    SAYS(foreign, version, "2/1");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(sqlite_say(foreign, "UPDATE lockbench_version SET value = 70, version = 3") == SQLITE_OK);
    CHECK(live_release(&ours) == LB_BUSY, "the stranger wrote since");
    SAYS(foreign, version, "3/70");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(ours.grant.token == 4);
    SAYS(foreign, version, "4/71");
    CHECK(left_by(&ours, "it") == 1);
    live_disarm(&ours);
    CHECK(left_by(&ours, "it") == 0);
    sqlite3_close(foreign);
    live_client_done(&ours);
}

/* Each key has a database of its own, and so a row of its own to remove. */
static void rows_of_two_keys(void *arg) {
    struct live_client ours;
    const struct lb_key_range both = {.prefix = "k", .first = 0, .count = 2};
    struct lb_err err = {0};
    (void)arg;
    live_come_as(&ours, &place, VERSION, "k0");
    const struct lb_algorithm *algorithm = ours.session.lock->algorithm;
    const struct lb_request first = ours.request;
    CHECK(algorithm->arm_range(&ours.session, &both, &first, &err) == 0, "%s", err.text);
    for (uint32_t i = 0; i < 2; i++) {
        ours.request.key = i ? "k1" : "k0";
        ours.request.key_index = i;
        CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
        CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    }
    CHECK(left_by(&ours, "k") == 2);
    CHECK(algorithm->disarm_range(&ours.session, &both, &first, &err) == 0, "%s", err.text);
    CHECK(left_by(&ours, "k") == 0);
    live_client_done(&ours);
}

static void run(const char *journal, void (*body)(void *)) {
    const char *const sets[] = {journal, NULL};
    place = live_open("sqlite-table,sqlite-optimistic", sets);
    LIVE_NEEDS(&place);
    live_run(body, NULL);
    live_close(&place);
}

TEST(rows_of_a_table) {
    run("sqlite.journal=wal", table);
    run("sqlite.journal=delete", table);
}

TEST(rows_of_several_keys) {
    run("sqlite.journal=wal", rows_of_two_keys);
}

TEST(rows_with_versions) {
    run("sqlite.journal=wal", versions);
    run("sqlite.journal=delete", versions);
}

static int sqlite_begin(sqlite3 *foreign) {
    return sqlite3_exec(foreign, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

static void sqlite_lets_go(void *arg) {
    lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    CHECK(sqlite3_exec(arg, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
}

static void sqlite_foreign(void *arg) {
    struct live_place *sql = arg;
    struct live_client ours;
    sqlite3 *foreign = NULL;
    char path[600];
    live_come(&ours, sql, "key");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    snprintf(path, sizeof path, "%s/key-0.db", sql->place->dir);
    CHECK(sqlite3_open_v2(path, &foreign, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, "%s", path);
    CHECK(sqlite_begin(foreign) == SQLITE_BUSY, "ours holds");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "it does not nest");
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_LOST, "a second release must not succeed");
    CHECK(sqlite_begin(foreign) == SQLITE_OK, "ours released");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "acquired while the foreign client holds it");
    CHECK(live_acquire(&ours, 10 * LB_MS_NS) == LB_TIMEOUT,
          "acquired while the foreign client holds it");
    struct lb_fiber *helper = lb_start_fiber("foreign", sqlite_lets_go, foreign);
    CHECK(live_acquire(&ours, LB_NEVER) == LB_OK, "%s", ours.session.err.text);
    lb_join(helper);
    live_hang_up(&ours); /* while it holds */
    CHECK(sqlite_begin(foreign) == SQLITE_OK, "a session that ends frees its lock");
    sqlite3_close(foreign);
    live_client_done(&ours);
}

/* With open_databases=2 the third key pushes out the second, never the held first. */
static void databases_are_closed(void *arg) {
    struct live_place *sql = arg;
    struct live_client one, two;
    live_come(&one, sql, "key");
    live_come(&two, sql, "key");
    CHECK(live_acquire(&one, 0) == LB_OK, "%s", one.session.err.text);
    for (uint32_t key = 1; key < 5; key++) {
        two.request.key_index = one.request.key_index = key;
        CHECK(live_acquire(&two, 0) == LB_OK, "another key: %s", two.session.err.text);
        CHECK(live_acquire(&one, 0) == LB_BUSY, "key %u does not exclude", key);
        CHECK(live_release(&two) == LB_OK, "%s", two.session.err.text);
    }
    one.request.key_index = 0;
    CHECK(live_release(&one) == LB_OK, "the held database was closed: %s", one.session.err.text);
    live_client_done(&one);
    live_client_done(&two);
}

TEST(sqlite_connection_and_ours_exclude_each_other) {
    static const char *const journals[] = {"sqlite.journal=wal", "sqlite.journal=delete"};
    for (size_t i = 0; i < 2; i++) {
        const char *const sets[] = {journals[i], NULL};
        struct live_place sql = live_open("sqlite-immediate", sets);
        LIVE_NEEDS(&sql);
        live_run(sqlite_foreign, &sql);
        live_close(&sql);
    }
}

TEST(a_held_database_stays_open) {
    struct live_place sql =
        live_open("sqlite-immediate", (const char *const[]){"sqlite.open_databases=2", NULL});
    LIVE_NEEDS(&sql);
    live_run(databases_are_closed, &sql);
    live_close(&sql);
}

TEST_MAIN(NULL, NULL)
