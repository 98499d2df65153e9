/* Our SQL locks against people who take the same lock by hand, through psql and the mariadb shell: each excludes the
 * other, both ways (the table `ways`). Then what only these locks have: rows as they should look, a dead owner's row
 * that is swept, a stranger in a deadlock with us, a flag that nothing but a release clears.
 * Needs: servers. */
#include "drivers/postgres/pg_session.h"
#include "drivers/sql_lock.h"
#include "drivers/tests/sql_help.h"

/* InnoDB shows its waits anew only if nobody has looked for 100 ms. */
#define LOOK_NS (150 * LB_MS_NS)

enum { ROW, NOWAIT, TABLE, LEASE, VERSION, FLAG, SESSION, XACT, UNSAFE_ABA };

/* The same tests in two dialects. Every statement is about the key "it's"; those that are asked
 * give a line. */
struct dialect {
    struct live_place sql;
    const char *locks; /* in the order above */
    const char *home;
    const char *last_error, *is_there; /* asks for the last error, and what it says */
    const char *lock_row;              /* gives "held" */
    const char *waiters;               /* how many wait for a row */
    const char *version;               /* "version/value" */
    const char *table;                 /* "owner/held" */
    const char *insert, *insert_dead;  /* as "stranger", for an hour; long ago */
    const char *lease;                 /* "owner/fence/held" */
    const char *flag;                  /* "owner/set" or "owner/free" */
};

static struct dialect pg = {
    .locks =
        "pg-row,pg-nowait,pg-table,pg-lease,pg-optimistic,pg-flag,pg-advisory,pg-advisory-xact,"
        "unsafe-sql-aba",
    .home = "SELECT 1",
    .last_error = "\\echo :SQLSTATE",
    .is_there = "23505",
    .lock_row = "SELECT 'held' FROM lockbench_row WHERE name = 'it''s' FOR UPDATE",
    .waiters = "SELECT count(*) FROM pg_locks WHERE NOT granted",
    .version = "SELECT version || '/' || value FROM lockbench_version WHERE name = 'it''s'",
    .table =
        "SELECT coalesce(max(owner || '/' || CASE WHEN expire_at > now() AND expire_at <= now() + "
        "interval '10 s' THEN 'held' ELSE 'odd' END), 'none') FROM lockbench_table WHERE name = 'it''s'",
    .insert = "INSERT INTO lockbench_table VALUES ('it''s', 'stranger', now() + interval '1 h')",
    .insert_dead =
        "INSERT INTO lockbench_table VALUES ('it''s', 'stranger', now() - interval '1 s')",
    .lease =
        "SELECT owner || '/' || fence || '/' || CASE WHEN expire_at > now() THEN 'held' ELSE 'free' END "
        "FROM lockbench_lease WHERE name = 'it''s'",
    .flag =
        "SELECT owner || '/' || CASE WHEN locked THEN 'set' ELSE 'free' END FROM lockbench_flag "
        "WHERE name = 'it''s'",
};

static struct dialect my = {
    .locks =
        "mysql-row,mysql-nowait,mysql-table,mysql-lease,mysql-optimistic,mysql-flag,mysql-getlock",
    .home = "USE lockbench; SELECT 1",
    .last_error = "SHOW ERRORS",
    .is_there = "Error\t1062",
    .lock_row = "SELECT 'held' FROM lockbench_row WHERE name = 'it''s' FOR UPDATE",
    .waiters = "SELECT COUNT(*) FROM information_schema.innodb_lock_waits",
    .version = "SELECT CONCAT(version, '/', value) FROM lockbench_version WHERE name = 'it''s'",
    .table =
        "SELECT COALESCE(MAX(CONCAT(owner, '/', IF(expire_at > UTC_TIMESTAMP(6) AND expire_at <= "
        "UTC_TIMESTAMP(6) + INTERVAL 10 SECOND, 'held', 'odd'))), 'none') FROM lockbench_table "
        "WHERE name = 'it''s'",
    .insert =
        "INSERT INTO lockbench_table VALUES ('it''s', 'stranger', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)",
    .insert_dead =
        "INSERT INTO lockbench_table VALUES ('it''s', 'stranger', UTC_TIMESTAMP(6) - INTERVAL 1 SECOND)",
    .lease =
        "SELECT CONCAT(owner, '/', fence, '/', IF(expire_at > UTC_TIMESTAMP(6), 'held', 'free')) "
        "FROM lockbench_lease WHERE name = 'it''s'",
    .flag = "SELECT CONCAT(owner, '/', IF(locked, 'set', 'free')) FROM lockbench_flag "
            "WHERE name = 'it''s'",
};

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static void come(struct live_client *ours, const struct dialect *words, int which) {
    live_come_as(ours, &words->sql, which, "it's");
}

static void stranger_comes(struct foreign *foreign, const struct dialect *words) {
    foreign_shell(foreign, &words->sql);
    CHECK(strcmp(foreign_ask(foreign, words->home), "1") == 0);
}

#define SAYS(foreign, statement, wanted)                                                           \
    do {                                                                                           \
        const char *said_ = foreign_ask((foreign), (statement));                                   \
        CHECK(begins(said_, (wanted)), "said '%s', not '%s'", said_, (wanted));                    \
    } while (0)

/* How a stranger takes a lock by hand if it is free, which gives "1", or else "0"; and frees it. */
struct way {
    struct dialect *words;
    int lock;
    const char *take, *free;
    bool dies_with_it; /* what a client holds is free when its session ends */
};

#define PG_COUNT(change) "WITH done AS (" change " RETURNING 1) SELECT count(*) FROM done"
#define MY_COUNT(change) change "; SELECT ROW_COUNT()"
#define TAKE_ROW                                                                                   \
    "BEGIN; SELECT count(*) FROM (SELECT 1 FROM lockbench_row WHERE name = 'it''s' FOR UPDATE "    \
    "SKIP LOCKED) AS found"
#define TAKE_FLAG                                                                                  \
    "UPDATE lockbench_flag SET locked = true, owner = 'stranger' WHERE name = 'it''s' AND NOT locked"
#define TAKE_LEASE(now, hour)                                                                      \
    "UPDATE lockbench_lease SET owner = 'stranger', fence = fence + 1, expire_at = " now           \
    " + interval " hour " WHERE name = 'it''s' AND expire_at <= " now
#define END_LEASE "UPDATE lockbench_lease SET expire_at = '2001-01-01' WHERE name = 'it''s'"
#define FREE_TABLE "DELETE FROM lockbench_table WHERE owner = 'stranger'"
#define FREE_FLAG "UPDATE lockbench_flag SET locked = false WHERE name = 'it''s'"

static const struct way ways[] = {
    {&pg, SESSION, "SELECT pg_try_advisory_lock(4711)::int", "SELECT pg_advisory_unlock(4711)",
     true},
    {&pg, XACT, "BEGIN; SELECT pg_try_advisory_xact_lock(4711)::int", "COMMIT", true},
    {&pg, ROW, TAKE_ROW, "COMMIT", true},
    {&pg, NOWAIT, TAKE_ROW, "COMMIT", true},
    {&pg, TABLE,
     PG_COUNT("INSERT INTO lockbench_table VALUES ('it''s', 'stranger', now() + interval '1 h') ON "
              "CONFLICT DO NOTHING"),
     FREE_TABLE, false},
    {&pg, LEASE, PG_COUNT(TAKE_LEASE("now()", "'1 h'")), END_LEASE, false},
    {&pg, FLAG, PG_COUNT(TAKE_FLAG), FREE_FLAG, false},
    {&my, SESSION, "SELECT GET_LOCK('it''s', 0)", "DO RELEASE_LOCK('it''s')", true},
    {&my, ROW, TAKE_ROW, "COMMIT", true},
    {&my, NOWAIT, TAKE_ROW, "COMMIT", true},
    {&my, TABLE,
     MY_COUNT("INSERT IGNORE INTO lockbench_table VALUES ('it''s', 'stranger', UTC_TIMESTAMP(6) + "
              "INTERVAL 1 HOUR)"),
     FREE_TABLE, false},
    {&my, LEASE, MY_COUNT(TAKE_LEASE("UTC_TIMESTAMP(6)", "1 HOUR")), END_LEASE, false},
    {&my, FLAG, MY_COUNT(TAKE_FLAG), FREE_FLAG, false},
};

/* The stranger gives up what it tried, or frees what it holds, and the server has done so. */
static void lets_go(struct foreign *foreign, const char *how) {
    foreign_say(foreign, how);
    foreign_say(foreign, "SELECT 'done'");
    const char *said;
    do said = foreign_hear(foreign);
    while (strcmp(said, "t") == 0); /* pg_advisory_unlock's answer */
    CHECK(strcmp(said, "done") == 0, "said '%s'", said);
}

static void excludes(void *arg) {
    const struct way *way = arg;
    struct foreign foreign;
    struct live_client ours;
    struct live_waiter waiter;
    come(&ours, way->words, way->lock);
    come(&waiter.client, way->words, way->lock);
    const struct lb_lock *lock = ours.session.lock;
    stranger_comes(&foreign, way->words);
    if (lock->algorithm->arm) live_arm(&ours);
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s: %s", lock->name, ours.session.err.text);
    uint64_t token = ours.grant.token;
    SAYS(&foreign, way->take, "0");
    if (strcmp(way->free, "COMMIT") == 0) lets_go(&foreign, way->free);
    CHECK(live_release(&ours) == LB_OK, "%s: %s", lock->name, ours.session.err.text);

    SAYS(&foreign, way->take, "1");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s: %s", lock->name, ours.session.err.text);
    CHECK(live_acquire(&ours, 30 * LB_MS_NS) == LB_TIMEOUT, "%s", lock->name);
    CHECK(live_release(&ours) == LB_LOST, "%s freed the stranger's", lock->name);
    if (lock->algorithm->renew) CHECK(live_renew(&ours) == LB_LOST, "%s", lock->name);
    live_waiter_begin(&waiter);
    lb_sleep_until(lb_now() + 100 * LB_MS_NS);
    CHECK(waiter.outcome == LB_OUTCOMES, "%s: beside the stranger", lock->name);
    lets_go(&foreign, way->free);
    lb_join(waiter.fiber);
    CHECK(waiter.outcome == LB_OK, "%s: %s", lock->name, waiter.client.session.err.text);
    CHECK(waiter.client.grant.token > token || token == 0, "%s: one sequence for all", lock->name);
    CHECK(live_release(&waiter.client) == LB_OK, "%s", lock->name);

    SAYS(&foreign, way->take, "1");
    if (!way->dies_with_it) lets_go(&foreign, way->free);
    foreign_end(&foreign);
    CHECK(live_acquire(&ours, 20 * LB_S_NS) == LB_OK, "%s: %s", lock->name, ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s: %s", lock->name, ours.session.err.text);
    if (lock->algorithm->disarm) live_disarm(&ours);
    live_client_done(&waiter.client);
    live_client_done(&ours);
}

static void each_way_with(struct dialect *words) {
    LIVE_NEEDS(&words->sql);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].words == words) live_run(excludes, (void *)(uintptr_t)&ways[i]);
}

TEST(psql_and_ours_exclude_each_other) {
    each_way_with(&pg);
}

TEST(the_mariadb_shell_and_ours_exclude_each_other) {
    each_way_with(&my);
}

/* The owner that a grant of ours stands for in the row, then "/" and more. */
static const char *as_ours(const struct live_client *ours, const char *more) {
    static char text[100];
    const struct sql_grant *mine = ours->grant.data;
    snprintf(text, sizeof text, "%s/%s", mine->owner, more);
    return text;
}

static void table(void *arg) {
    struct dialect *words = arg;
    struct foreign foreign;
    struct live_client ours;
    come(&ours, words, TABLE);
    stranger_comes(&foreign, words);
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    SAYS(&foreign, words->table, as_ours(&ours, "held"));
    foreign_say(&foreign, words->insert);
    SAYS(&foreign, words->last_error, words->is_there);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    SAYS(&foreign, words->table, "none");

    /* A row that others delete is lost to us, and our calls say so. */
    CHECK(live_acquire(&ours, 20 * LB_S_NS) == LB_OK, "%s", ours.session.err.text);
    foreign_say(&foreign, "DELETE FROM lockbench_table WHERE name = 'it''s'");
    SAYS(&foreign, words->table, "none");
    CHECK(live_renew(&ours) == LB_LOST);
    CHECK(live_release(&ours) == LB_LOST);

    /* A dead owner's row: first no client sweeps it, then the client that wants the lock does. */
    struct sql_options patient = *(const struct sql_options *)ours.session.options,
                       diligent = patient;
    patient.sweep = SQL_SWEEP_NOBODY;
    diligent.sweep_every_ns = 0;
    foreign_say(&foreign, words->insert_dead);
    SAYS(&foreign, words->table, "stranger/odd");
    ours.session.options = &patient;
    CHECK(live_acquire(&ours, 150 * LB_MS_NS) == LB_TIMEOUT, "nobody sweeps");
    SAYS(&foreign, words->table, "stranger/odd");
    ours.session.options = &diligent;
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    SAYS(&foreign, words->table, as_ours(&ours, "held"));
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    foreign_end(&foreign);
    live_client_done(&ours);
}

static void lease(void *arg) {
    struct dialect *words = arg;
    struct foreign foreign;
    struct live_client ours;
    char text[64];
    come(&ours, words, LEASE);
    stranger_comes(&foreign, words);
    lets_go(&foreign, "DELETE FROM lockbench_lease");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(ours.grant.token == 1, "a new key's first");
    SAYS(&foreign, words->lease, as_ours(&ours, "1/held"));
    CHECK(live_renew(&ours) == LB_OK);
    SAYS(&foreign, words->lease, as_ours(&ours, "1/held"));
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    snprintf(text, sizeof text, "%s", as_ours(&ours, "1/free"));
    SAYS(&foreign, words->lease, text); /* the row stays: it has the fence */
    foreign_end(&foreign);
    live_client_done(&ours);
}

static void versions(void *arg) {
    struct dialect *words = arg;
    struct foreign foreign;
    struct live_client ours;
    come(&ours, words, VERSION);
    stranger_comes(&foreign, words);
    live_arm(&ours);
    SAYS(&foreign, words->version, "1/0");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    SAYS(&foreign, words->version, "2/1");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(ours.grant.token == 2);
    foreign_say(&foreign, "UPDATE lockbench_version SET value = 70, version = version + 1 "
                          "WHERE name = 'it''s' AND version = 2");
    SAYS(&foreign, words->version, "3/70");
    CHECK(live_release(&ours) == LB_BUSY, "the stranger wrote since");
    SAYS(&foreign, words->version, "3/70");
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(ours.grant.token == 4);
    SAYS(&foreign, words->version, "4/71");
    live_disarm(&ours);
    foreign_end(&foreign);
    live_client_done(&ours);
}

/* Neither time nor the end of its holder clears the flag. */
static void flag(void *arg) {
    struct dialect *words = arg;
    struct foreign foreign;
    struct live_client ours, other;
    come(&ours, words, FLAG);
    come(&other, words, FLAG);
    stranger_comes(&foreign, words);
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "it has no row yet");
    live_arm(&ours);
    SAYS(&foreign, words->flag, "/free");
    CHECK(live_acquire(&ours, 20 * LB_S_NS) == LB_OK, "%s", ours.session.err.text);
    CHECK(ours.grant.lease_end_ns == LB_NEVER, "no lease");
    SAYS(&foreign, words->flag, as_ours(&ours, "set"));
    /* The holder dies: its connection ends, and the flag stays. */
    live_hang_up(&ours);
    CHECK(live_acquire(&other, 300 * LB_MS_NS) == LB_TIMEOUT, "%s", other.session.err.text);
    SAYS(&foreign, words->flag, as_ours(&ours, "set"));
    /* The holder did not die: its release over a dead connection has an unknown outcome, and is settled over a new
     * one. */
    CHECK(live_release(&ours) == LB_UNKNOWN, "it must be settled");
    live_connect(&ours);
    CHECK(live_settle(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_acquire(&other, 20 * LB_S_NS) == LB_OK, "%s", other.session.err.text);
    CHECK(live_release(&ours) == LB_LOST, "it is the other's");
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    live_disarm(&ours);
    foreign_end(&foreign);
    live_client_done(&ours);
    live_client_done(&other);
}

static void query(struct live_client *ours, const char *sql) {
    PGresult *result = NULL;
    CHECK(pg_query(&ours->session, sql, lb_now() + 20 * LB_S_NS, &result) == LB_OK, "%s",
          ours->session.err.text);
    PQclear(result);
}

/* A holds "mine", the stranger holds "it's" and waits for "mine"; A asks for "it's". The server
 * finds the deadlock and ends A's attempt, since the stranger's deadlock_timeout is long. A's
 * transaction is rolled back, and "mine" with it, so that the stranger finishes, and then A gets
 * "it's". */
static void deadlock(void *arg) {
    struct foreign foreign, watcher;
    struct live_client ours;
    (void)arg;
    come(&ours, &pg, ROW);
    stranger_comes(&foreign, &pg);
    stranger_comes(&watcher, &pg);
    live_arm(&ours);
    query(&ours, "INSERT INTO lockbench_row VALUES ('mine')");
    SAYS(&foreign, "GRANT SET ON PARAMETER deadlock_timeout TO lockbench; SELECT 'granted'",
         "granted");
    query(&ours, "SET deadlock_timeout = '100ms'");
    query(&ours, "BEGIN");
    query(&ours, "SELECT 1 FROM lockbench_row WHERE name = 'mine' FOR UPDATE");
    foreign_say(&foreign, "SET deadlock_timeout = '10min'");
    foreign_say(&foreign, "BEGIN");
    SAYS(&foreign, pg.lock_row, "held");
    foreign_say(&foreign, "SELECT 'got mine' FROM lockbench_row WHERE name = 'mine' FOR UPDATE");
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    do lb_sleep_until(lb_now() + LOOK_NS);
    while (strcmp(foreign_ask(&watcher, pg.waiters), "1") != 0 && lb_now() < until_ns);
    CHECK(lb_now() < until_ns, "the stranger does not wait");
    foreign_say(&foreign, "COMMIT");
    CHECK(live_acquire(&ours, 20 * LB_S_NS) == LB_OK, "%s", ours.session.err.text);
    const char *said = foreign_hear(&foreign);
    CHECK(strcmp(said, "got mine") == 0, "the stranger heard '%s'", said);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    query(&ours, "DELETE FROM lockbench_row");
    foreign_end(&foreign);
    foreign_end(&watcher);
    live_client_done(&ours);
}

struct inserter {
    struct live_client client;
    enum lb_outcome outcome;
    bool *first;
};

static void insert(void *arg) {
    struct inserter *inserter = arg;
    inserter->outcome = live_acquire(&inserter->client, 20 * LB_S_NS);
    if (inserter->outcome == LB_OK) {
        CHECK(*inserter->first, "both were let in");
        *inserter->first = false;
        lb_sleep_until(lb_now() + 50 * LB_MS_NS);
        CHECK(live_release(&inserter->client) == LB_OK, "%s", inserter->client.session.err.text);
        *inserter->first = true;
    }
}

/* Two inserters that wait for a row which is then rolled back: each has a shared lock on its place,
 * each wants to insert there. InnoDB ends one with error 1213. Both must get the lock in the end,
 * one after the other. */
static void insert_deadlock(void *arg) {
    static const char count[] =
        "SELECT variable_value FROM information_schema.global_status WHERE variable_name='Innodb_deadlocks'";
    struct foreign foreign;
    struct inserter one, two;
    bool free_ = true;
    (void)arg;
    stranger_comes(&foreign, &my);
    int before = atoi(foreign_ask(&foreign, count));
    one.first = two.first = &free_;
    come(&one.client, &my, TABLE);
    come(&two.client, &my, TABLE);
    foreign_say(&foreign, "BEGIN");
    foreign_say(&foreign, my.insert);
    SAYS(&foreign, my.table, "stranger/");
    struct lb_fiber *first = lb_start_fiber("one", insert, &one),
                    *second = lb_start_fiber("two", insert, &two);
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    do lb_sleep_until(lb_now() + LOOK_NS);
    while (atoi(foreign_ask(&foreign, my.waiters)) < 2 && lb_now() < until_ns);
    CHECK(lb_now() < until_ns, "they do not wait");
    foreign_say(&foreign, "ROLLBACK");
    lb_join(first);
    lb_join(second);
    CHECK(one.outcome == LB_OK, "%s: %s", lb_outcome_name(one.outcome),
          one.client.session.err.text);
    CHECK(two.outcome == LB_OK, "%s: %s", lb_outcome_name(two.outcome),
          two.client.session.err.text);
    int deadlocks = atoi(foreign_ask(&foreign, count)) - before;
    CHECK(deadlocks > 0, "there was no deadlock: this test shows nothing");
    foreign_end(&foreign);
    live_client_done(&one.client);
    live_client_done(&two.client);
}

static void write_once(struct live_client *client) {
    CHECK(live_acquire(client, 0) == LB_OK, "%s", client->session.err.text);
    CHECK(live_release(client) == LB_OK, "%s", client->session.err.text);
}

/* One write between a read and its write is noticed, two are not. */
static void a_value_that_comes_back(void *arg) {
    struct foreign foreign;
    struct live_client slow, quick;
    (void)arg;
    stranger_comes(&foreign, &pg);
    come(&slow, &pg, UNSAFE_ABA);
    come(&quick, &pg, UNSAFE_ABA);
    live_arm(&slow);
    CHECK(live_acquire(&slow, 0) == LB_OK, "%s", slow.session.err.text);
    write_once(&quick);
    SAYS(&foreign, pg.version, "2/1");
    CHECK(live_release(&slow) == LB_BUSY, "the value is another");
    CHECK(live_acquire(&slow, 0) == LB_OK, "%s", slow.session.err.text);
    write_once(&quick);
    write_once(&quick);
    SAYS(&foreign, pg.version, "4/1");
    CHECK(live_release(&slow) == LB_OK, "the value is what it was");
    SAYS(&foreign, pg.version, "3/0"); /* four updates, of which two are lost */
    live_disarm(&slow);
    foreign_end(&foreign);
    live_client_done(&slow);
    live_client_done(&quick);
}

ON(pg, table)
ON(pg, lease)
ON(pg, versions)
ON(pg, flag)
ON(pg, deadlock)
ON(pg, a_value_that_comes_back)
ON(my, table)
ON(my, lease)
ON(my, versions)
ON(my, flag)
ON(my, insert_deadlock)

FIXTURE(start) {
    signal(SIGPIPE, SIG_IGN); /* of the foreign shell's pipe */
    pg.sql = live_open(pg.locks, NULL);
    my.sql = live_open(my.locks, NULL);
    return 0;
}

FIXTURE(stop) {
    live_close(&pg.sql);
    live_close(&my.sql);
    return 0;
}

TEST_MAIN(start, stop)
