/* Our SQL locks against foreign clients that take the same lock by hand: psql, the mariadb shell,
 * another SQLite connection. Each excludes the other, both ways, and a waiter of ours gets the lock
 * when the foreign client releases it.
 * Needs: servers. */
#include "drivers/tests/sql_help.h"

#include <sqlite3.h>

static struct live_place postgres, mariadb;

/* The same test on both servers, by their own words. */
struct dialect {
    struct live_place *sql;
    const char *lock; /* blocks, answers `locked` */
    const char *locked;
    const char *try_lock; /* answers yes or no */
    const char *unlock;   /* answers yes */
    const char *yes, *no;
    const char *waiters; /* answers how many wait for a lock */
};

static struct dialect pg = {
    .sql = &postgres,
    .lock = "SELECT pg_advisory_lock(4711)",
    .locked = "",
    .try_lock = "SELECT pg_try_advisory_lock(4711)",
    .unlock = "SELECT pg_advisory_unlock(4711)",
    .yes = "t",
    .no = "f",
    .waiters = "SELECT count(*) FROM pg_locks WHERE locktype='advisory' AND NOT granted"};

static struct dialect my = {
    .sql = &mariadb,
    .lock = "SELECT GET_LOCK('it''s a \"key\" \\\\ %', 20)",
    .locked = "1",
    .try_lock = "SELECT GET_LOCK('it''s a \"key\" \\\\ %', 0)",
    .unlock = "SELECT RELEASE_LOCK('it''s a \"key\" \\\\ %')",
    .yes = "1",
    .no = "0",
    .waiters = "SELECT COUNT(*) FROM information_schema.processlist WHERE state='User lock'"};

#define KEY "it's a \"key\" \\ %"

struct handover {
    const struct dialect *words;
    const struct foreign *foreign;
};

/* Releases only when the server reports a waiter. */
static void foreign_lets_go(void *arg) {
    const struct handover *handover = arg;
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    while (strcmp(foreign_ask(handover->foreign, handover->words->waiters), "1") != 0 &&
           lb_now() < until_ns) {
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    }
    CHECK(lb_now() < until_ns, "ours never waited");
    const char *said = foreign_ask(handover->foreign, handover->words->unlock);
    CHECK(strcmp(said, handover->words->yes) == 0, "unlock said '%s'", said);
}

static void foreign_holds(void *arg) {
    struct dialect *words = arg;
    struct foreign foreign;
    struct live_client ours;
    foreign_shell(&foreign, words->sql);
    live_come(&ours, words->sql, KEY);

    const char *said = foreign_ask(&foreign, words->lock);
    CHECK(strcmp(said, words->locked) == 0, "lock said '%s'", said);
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s", ours.session.err.text);
    CHECK(live_acquire(&ours, 30 * LB_MS_NS) == LB_TIMEOUT, "%s", ours.session.err.text);
    CHECK(strcmp(foreign_ask(&foreign, words->waiters), "0") == 0,
          "a timed-out waiter is still in the queue");

    struct handover handover = {words, &foreign};
    struct lb_fiber *helper = lb_start_fiber("foreign", foreign_lets_go, &handover);
    CHECK(live_acquire(&ours, LB_NEVER) == LB_OK, "%s", ours.session.err.text);
    lb_join(helper);
    CHECK(ours.grant.lease_end_ns == LB_NEVER);
    said = foreign_ask(&foreign, words->try_lock);
    CHECK(strcmp(said, words->no) == 0, "while ours holds, try said '%s'", said);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_LOST, "a second release must not succeed");

    said = foreign_ask(&foreign, words->try_lock);
    CHECK(strcmp(said, words->yes) == 0, "after ours released, try said '%s'", said);
    CHECK(live_release(&ours) == LB_LOST, "our release freed the foreign client's lock");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "the foreign client does not hold it any more");

    /* A foreign client that dies frees it. */
    foreign_end(&foreign);
    CHECK(live_acquire(&ours, 20 * LB_S_NS) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    live_client_done(&ours);
}

TEST(psql_and_ours_exclude_each_other) {
    LIVE_NEEDS(&postgres);
    live_run(foreign_holds, &pg);
}

TEST(mariadb_shell_and_ours_exclude_each_other) {
    LIVE_NEEDS(&mariadb);
    live_run(foreign_holds, &my);
}

/* Names that are hard to quote, and too long, on the real server. */
static void hard_names(void *arg) {
    struct live_place *sql = arg;
    static char longest[194];
    memset(longest, 'n', 192);
    static const char *const names[] = {"a b\tc", "'",    "\\'; --", "\xc3\xa9t\xc3\xa9",
                                        "%",      longest};
    struct live_client one, two;
    live_come(&one, sql, "");
    live_come(&two, sql, "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        one.request.key = two.request.key = names[i];
        one.request.key_len = two.request.key_len = strlen(names[i]);
        CHECK(live_acquire(&one, 0) == LB_OK, "'%s': %s", names[i], one.session.err.text);
        CHECK(live_acquire(&two, 0) == LB_BUSY, "'%s' does not exclude", names[i]);
        CHECK(live_release(&one) == LB_OK, "'%s': %s", names[i], one.session.err.text);
    }
    longest[192] = 'n';
    one.request.key = longest;
    one.request.key_len = 193;
    CHECK(live_acquire(&one, 0) == LB_REFUSED, "193 bytes must be refused, not cut");
    CHECK(strstr(one.session.err.text, "192 bytes") != NULL, "%s", one.session.err.text);
    /* The session is as good as before. */
    one.request.key = "short";
    one.request.key_len = 5;
    CHECK(live_acquire(&one, 0) == LB_OK, "%s", one.session.err.text);
    CHECK(live_release(&one) == LB_OK, "%s", one.session.err.text);
    live_client_done(&one);
    live_client_done(&two);
}

TEST(mariadb_takes_hard_names_and_refuses_long_ones) {
    LIVE_NEEDS(&mariadb);
    live_run(hard_names, &mariadb);
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

/* Tokens grow from grant to grant, over sessions; and a key's file excludes no other key. */
static void sqlite_tokens(void *arg) {
    struct live_place *sql = arg;
    struct live_client one, two;
    uint64_t last = 0;
    live_come(&one, sql, "key");
    live_come(&two, sql, "key");
    for (int i = 0; i < 6; i++) {
        struct live_client *client = i % 2 ? &one : &two;
        CHECK(live_acquire(client, 0) == LB_OK, "%s", client->session.err.text);
        CHECK(client->grant.token > last, "token %llu after %llu",
              (unsigned long long)client->grant.token, (unsigned long long)last);
        last = client->grant.token;
        CHECK(live_release(client) == LB_OK, "%s", client->session.err.text);
    }
    CHECK(live_acquire(&one, 0) == LB_OK, "%s", one.session.err.text);
    /* open_databases=2: the third key pushes out the second, never the held first. */
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

TEST(sqlite_fence_gives_tokens_that_grow) {
    static const char *const journals[] = {"sqlite.journal=wal", "sqlite.journal=delete"};
    for (size_t i = 0; i < 2; i++) {
        const char *const sets[] = {journals[i], "sqlite-immediate.fence=yes",
                                    "sqlite.open_databases=2", NULL};
        struct live_place sql = live_open("sqlite-immediate", sets);
        LIVE_NEEDS(&sql);
        live_run(sqlite_tokens, &sql);
        live_close(&sql);
    }
}

FIXTURE(start) {
    static const char *const none[] = {NULL};
    signal(SIGPIPE, SIG_IGN); /* of the foreign shell's pipe */
    postgres = live_open("pg-advisory", none);
    mariadb = live_open("mysql-getlock", none);
    return 0;
}

FIXTURE(stop) {
    live_close(&postgres);
    live_close(&mariadb);
    return 0;
}

TEST_MAIN(start, stop)
