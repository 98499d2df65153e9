/* The server-side SQL locks when things go wrong: sessions and statements killed, limits of the server's own, a crash
 * that loses a sequence, wrong passwords. An outcome must not claim more than the client knows; a new session works.
 * Needs: servers. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include "drivers/tests/sql_help.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "drivers/mariadb/maria_session.h"
#include "drivers/postgres/pg_session.h"

struct bad_luck {
    const char *locks;
    int which; /* of the locks */
    const char *const *sets;
    struct live_place sql;
    /* for the foreign shell: gives the statements that end each session of ours */
    const char *who_to_kill;
    const char
        *make_user; /* for the foreign shell: the user "stranger" with the password "s3cret" */
    const char *stranger_format; /* URLs of that user: port, password before it */
};

static const char *const pg_sets[] = {"postgres.answer_timeout=1s", NULL};
static const char *const my_sets[] = {"mariadb.answer_timeout=1s", NULL};

static struct bad_luck pg = {
    .locks = "pg-advisory,pg-row",
    .sets = pg_sets,
    .who_to_kill =
        "SELECT string_agg('SELECT pg_terminate_backend(' || pid || ')', ';') FROM pg_stat_activity "
        "WHERE application_name='lockbench'",
    .make_user = "CREATE ROLE stranger LOGIN PASSWORD 's3cret'; SELECT pg_reload_conf()",
    .stranger_format = "postgres://stranger:%s@127.0.0.1:%d/postgres",
};

static struct bad_luck my = {
    .locks = "mysql-getlock,mysql-row",
    .sets = my_sets,
    .who_to_kill =
        "SELECT GROUP_CONCAT('KILL ', id SEPARATOR ';') FROM information_schema.processlist "
        "WHERE user='lockbench'",
    .make_user = "CREATE USER stranger@'127.0.0.1' IDENTIFIED BY 's3cret'; SELECT 't'",
    .stranger_format = "mysql://stranger:%s@127.0.0.1:%d/",
};

/* The same servers, and locks of theirs that last as long as a transaction; filled when they are
 * up. */
static struct bad_luck pg_row, my_row;

static bool is_end(enum lb_outcome outcome) {
    return outcome == LB_LOST || outcome == LB_UNKNOWN || outcome == LB_BROKEN;
}

/* Opens a session as soon as the server lets us. */
static void reconnect(struct live_client *client) {
    struct lb_err err = {0};
    for (int64_t until_ns = lb_now() + 60 * LB_S_NS; lb_now() < until_ns && !check_failed[0];) {
        err.code = 0;
        live_hang_up(client);
        if (live_dial(client, &err) == 0) return;
        CHECK(err.code == LB_EXIT_MACHINE, "code %d: %s", err.code, err.text);
        lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    }
    CHECK(false, "no connection again: %s", err.text);
}

/* Take and free, on a session that must be as good as new. */
static void works(struct live_client *client) {
    CHECK(live_acquire(client, 20 * LB_S_NS) == LB_OK, "%s", client->session.err.text);
    CHECK(live_release(client) == LB_OK, "%s", client->session.err.text);
}

struct waiter {
    struct live_client client;
    bool asks;
    enum lb_outcome outcome;
};

static void wait_for_it(void *arg) {
    struct waiter *waiter = arg;
    live_connect(&waiter->client);
    waiter->asks = true;
    waiter->outcome = live_acquire(&waiter->client, LB_NEVER);
}

static void a_killed_session_says_so_and_a_new_one_works(void *arg) {
    struct bad_luck *luck = arg;
    struct foreign foreign;
    struct live_client holder, idle;
    struct waiter waiter = {.outcome = LB_OK};
    foreign_shell(&foreign, &luck->sql);
    live_client_init_as(&waiter.client, &luck->sql, luck->which, "key");
    live_come_as(&holder, &luck->sql, luck->which, "key");
    live_come_as(&idle, &luck->sql, luck->which, "other key");
    idle.request.key_number++;
    CHECK(live_acquire(&holder, LB_NEVER) == LB_OK, "%s", holder.session.err.text);
    struct lb_fiber *fiber = lb_start_fiber("waiter", wait_for_it, &waiter);
    while (!waiter.asks && !check_failed[0]) lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    lb_sleep_until(lb_now() + 200 * LB_MS_NS);
    char statements[300];
    snprintf(statements, sizeof statements, "%s", foreign_ask(&foreign, luck->who_to_kill));
    foreign_say(&foreign, statements);
    foreign_say(&foreign, "SELECT 'done'");
    while (strcmp(foreign_hear(&foreign), "t") == 0) continue; /* pg_terminate_backend's answers */
    /* Killing is asynchronous: go on when none of ours is left. */
    const char *left;
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    do left = foreign_ask(&foreign, luck->who_to_kill);
    while (left[0] && strcmp(left, "NULL") != 0 && lb_now() < until_ns);
    CHECK(lb_now() < until_ns, "still there: %s", left);

    lb_join(fiber); /* a hang would end here, by the test's time limit */
    /* The holder may have died a moment before the waiter: then it was granted, and is dead now. */
    enum lb_outcome outcome = waiter.outcome;
    if (outcome == LB_OK) outcome = live_release(&waiter.client);
    CHECK(is_end(outcome), "the waiter got %s", lb_outcome_name(outcome));
    outcome = live_release(&holder);
    CHECK(is_end(outcome), "release said %s", lb_outcome_name(outcome));
    CHECK(holder.session.err.code != 0, "and did not say why");
    outcome = live_release(&holder);
    CHECK(outcome == LB_BROKEN || outcome == LB_LOST, "on a dead session: %s",
          lb_outcome_name(outcome));
    outcome = live_acquire(&idle, LB_NEVER);
    CHECK(outcome == LB_BROKEN || outcome == LB_UNKNOWN, "acquire said %s",
          lb_outcome_name(outcome));
    outcome = holder.session.server->backend->connector->ping(&holder.session, lb_now() + LB_S_NS);
    CHECK(outcome == LB_BROKEN, "ping of a dead session: %s", lb_outcome_name(outcome));

    reconnect(&holder);
    reconnect(&idle);
    reconnect(&waiter.client);
    works(&holder);
    works(&idle);
    works(&waiter.client);
    live_client_done(&holder);
    live_client_done(&waiter.client);
    live_client_done(&idle);
    foreign_end(&foreign);
}

/* The same URL with the right and the wrong password. */
static int dial_as(struct bad_luck *luck, const char *password, struct lb_err *err) {
    char url[200];
    const char *urls[] = {url};
    struct lb_server server = luck->sql.place->server;
    struct live_client client;
    snprintf(url, sizeof url, luck->stranger_format, password,
             topo_port(luck->sql.place->topo, 0, 0));
    server.urls = urls;
    server.url_count = 1;
    server.state = calloc(1, server.backend->connector->server_bytes + 1);
    CHECK(server.backend->connector->open(&server, err) == 0, "%s", err->text);
    live_client_init_as(&client, &luck->sql, luck->which, "key");
    client.session.server = &server;
    int failed = live_dial(&client, err);
    live_client_done(&client);
    if (server.backend->connector->close) server.backend->connector->close(&server);
    free(server.state);
    return failed;
}

static void wrong_password(void *arg) {
    struct bad_luck *luck = arg;
    struct foreign foreign;
    struct lb_err err = {0};
    foreign_shell(&foreign, &luck->sql);
    const char *said = foreign_ask(&foreign, luck->make_user);
    CHECK(strcmp(said, "t") == 0, "making a user said '%s'", said);
    /* PostgreSQL reads its new rules a moment after it says so. */
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    while (dial_as(luck, "wr0ng", &err) == 0 && lb_now() < until_ns)
        lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    CHECK(err.code == LB_EXIT_USAGE, "code %d: %s", err.code, err.text);
    CHECK(strstr(err.text, "wr0ng") == NULL, "shows the password: %s", err.text);
    CHECK(strstr(err.text, "check the user and password") != NULL, "no hint: %s", err.text);
    CHECK(strchr(err.text, '\n') == NULL, "more than a line: %s", err.text);
    memset(&err, 0, sizeof err);
    CHECK(dial_as(luck, "s3cret", &err) == 0, "%s", err.text);
    memset(&err, 0, sizeof err);
    CHECK(dial_as(luck, "", &err) != 0 && err.code == LB_EXIT_USAGE, "no password: %d %s", err.code,
          err.text);
    foreign_end(&foreign);
}

static void a_wrong_password_is_one_clear_line(struct bad_luck *luck) {
    if (luck == &pg) { /* it trusts everybody on the loopback: not this one */
        char path[700], rest[8192];
        snprintf(path, sizeof path, "%s/data/pg_hba.conf", topo_dir(luck->sql.place->topo, 0));
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        size_t len = fread(rest, 1, sizeof rest, file);
        rewind(file);
        fprintf(file, "host all stranger 127.0.0.1/32 scram-sha-256\n");
        fwrite(rest, 1, len, file);
        assert_int_equal(fclose(file), 0);
    }
    live_run(wrong_password, luck);
}

struct hold {
    struct live_client *holder;
    int64_t until_ns;
};

static void release_later(void *arg) {
    struct hold *hold = arg;
    lb_sleep_until(hold->until_ns);
    CHECK(live_release(hold->holder) == LB_OK, "%s", hold->holder->session.err.text);
}

/* Takes the lock after a wait during which the server's limit strikes, at least once. */
static void waits_through(struct live_client *holder, struct live_client *ours, int64_t wait_ns) {
    CHECK(live_acquire(holder, 20 * LB_S_NS) == LB_OK, "%s", holder->session.err.text);
    uint64_t wakeups = ours->session.wakeups;
    struct hold hold = {holder, lb_now() + LB_S_NS};
    struct lb_fiber *fiber = lb_start_fiber("holder", release_later, &hold);
    enum lb_outcome outcome = live_acquire(ours, wait_ns);
    CHECK(outcome == LB_OK, "got %s: %s", lb_outcome_name(outcome), ours->session.err.text);
    CHECK(ours->session.err.code == 0, "%s", ours->session.err.text);
    CHECK(ours->session.wakeups > wakeups, "no limit struck");
    lb_join(fiber);
    CHECK(live_release(ours) == LB_OK, "%s", ours->session.err.text);
    CHECK(live_acquire(ours, 0) == LB_OK && live_release(ours) == LB_OK, "%s",
          ours->session.err.text);
    CHECK(live_release(ours) == LB_LOST, "what a limit ended was held, too");
}

/* A limit of the server's own, such as a role's lock_timeout, is no deadline of ours. */
static void a_limit_of_the_servers_own_ends_no_wait(void *arg) {
    struct bad_luck *luck = arg;
    struct live_client holder, ours;
    PGresult *none = NULL;
    MYSQL_RES *nothing = NULL;
    live_come_as(&holder, &luck->sql, luck->which, "key");
    live_come_as(&ours, &luck->sql, luck->which, "key");
    int64_t by_ns = lb_now() + 10 * LB_S_NS;
    if (luck->sql.place == pg.sql.place) {
        CHECK(pg_query(&ours.session, "SET lock_timeout = '300ms'", by_ns, &none) == LB_OK);
        PQclear(none);
        waits_through(&holder, &ours, LB_NEVER);
        CHECK(pg_query(&ours.session, "SET statement_timeout = '300ms'", by_ns, &none) == LB_OK);
        PQclear(none);
        waits_through(&holder, &ours, 20 * LB_S_NS);
    } else {
        CHECK(maria_query(&ours.session, "SET max_statement_time = 0.3", by_ns, &nothing) == LB_OK);
        waits_through(&holder, &ours, LB_NEVER);
        /* A timed wait of mysql-row sets this limit itself. */
        if (luck == &my) waits_through(&holder, &ours, 20 * LB_S_NS);
    }
    live_client_done(&ours);
    live_client_done(&holder);
}

/* A statement's time limit may end it after its answer has begun: then the error comes in the place
 * of the row. */
static void a_limit_that_strikes_late_is_a_timeout(void *arg) {
    struct bad_luck *luck = arg;
    struct live_client client;
    struct maria_row row = {0};
    struct lb_err err = {0};
    live_come_as(&client, &luck->sql, luck->which, "key");
    MYSQL_STMT *statement = maria_prepare(
        &client.session, "SET STATEMENT max_statement_time = 0.05 FOR SELECT SLEEP(20)", NULL, &row,
        lb_now() + 10 * LB_S_NS, &err);
    CHECK(statement, "%s", err.text);
    enum lb_outcome outcome = maria_run(&client.session, statement, &row, lb_now() + 15 * LB_S_NS);
    CHECK(outcome == LB_TIMEOUT && client.session.err.code == 0, "%s: %s", lb_outcome_name(outcome),
          client.session.err.text);
    works(&client);
    live_client_done(&client);
}

/* MariaDB reserves 1,000 numbers of a sequence at once, and only the next flush of its log, within a second, makes that
 * durable: a crash before it gives the same numbers once more. */
static void crash_after_a_new_block(void *arg) {
    enum { BLOCK = 1000, TRIES_MAX = 5 };
    const struct live_place *live = arg;
    struct live_client holder, next;
    struct lb_err err = {0};
    bool again = false;
    for (int i = 0; i < TRIES_MAX && !again && !check_failed[0]; i++) {
        live_come(&holder, live, "key");
        live_client_init(&next, live, "key");
        do works(&holder);
        while (holder.grant.token % BLOCK != 0 && !check_failed[0]);
        CHECK(live_acquire(&holder, 20 * LB_S_NS) == LB_OK, "%s", holder.session.err.text);
        CHECK(topo_kill(live->place->topo, 0, &err) == 0, "%s", err.text);
        CHECK(topo_restart(live->place->topo, 0, &err) == 0, "%s", err.text);
        reconnect(&next);
        CHECK(live_acquire(&next, 20 * LB_S_NS) == LB_OK, "%s", next.session.err.text);
        again = next.grant.token <= holder.grant.token;
        CHECK(live_release(&next) == LB_OK, "%s", next.session.err.text);
        live_client_done(&next);
        live_client_done(&holder);
    }
    CHECK(again, "tokens grew over all of %d crashes", TRIES_MAX);
}

TEST(a_crash_gives_a_token_of_mariadb_once_more) {
    char *usual = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    /* Of a log in /dev/shm nothing is lost: the server maps it into its memory. */
    setenv("TMPDIR", "/var/tmp", 1);
    struct live_place live = live_open("mysql-row", my_sets);
    if (usual)
        setenv("TMPDIR", usual, 1);
    else
        unsetenv("TMPDIR");
    free(usual);
    LIVE_NEEDS(&live);
    live_run(crash_after_a_new_block, &live);
    live_close(&live);
    topo_login(my.sql.place->topo); /* for the shells of the other tests */
}

static bool kills_next_query;

/* In place of the driver's own: while kills_next_query, the server kills a statement before it acts, as KILL
 * QUERY does. */
enum lb_outcome maria_run(struct lb_session *session, MYSQL_STMT *statement, struct maria_row *row,
                          int64_t deadline_ns) {
    static __typeof__(maria_run) *drivers_own;
    if (!drivers_own) *(void **)&drivers_own = dlsym(RTLD_NEXT, "maria_run");
    if (!kills_next_query) return drivers_own(session, statement, row, deadline_ns);
    kills_next_query = false;
    return lb_fail(session, LB_TIMEOUT, "mariadb: Query execution was interrupted (error 1317)");
}

/* The server cancels a release before it acts: our client still holds, and the outcome is unknown. After an unknown
 * outcome the session is closed, and then the lock is free. */
static void cancelled_release(void *arg) {
    struct bad_luck *luck = arg;
    struct live_client holder, next;
    live_come_as(&holder, &luck->sql, luck->which, "key");
    live_come_as(&next, &luck->sql, luck->which, "key");
    CHECK(live_acquire(&holder, LB_NEVER) == LB_OK, "%s", holder.session.err.text);
    kills_next_query = luck == &my;
    enum lb_outcome outcome = live_release(&holder);
    CHECK(outcome == LB_UNKNOWN, "release said %s", lb_outcome_name(outcome));
    CHECK(holder.session.err.code != 0, "and did not say why");
    CHECK(live_acquire(&next, 0) == LB_BUSY, "it was free, or %s", next.session.err.text);
    live_hang_up(&holder);
    CHECK(live_acquire(&next, 20 * LB_S_NS) == LB_OK, "still held: %s", next.session.err.text);
    live_client_done(&next);
    live_client_done(&holder);
}

static void a_cancelled_release_is_unknown(struct bad_luck *luck) {
    struct foreign foreign;
    if (luck ==
        &pg) { /* a function that is found before the server's own, in sessions from now on */
        foreign_shell(&foreign, &luck->sql);
        foreign_say(&foreign, "CREATE FUNCTION public.pg_advisory_unlock(bigint) RETURNS boolean "
                              "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'canceling statement' "
                              "USING ERRCODE = 'query_canceled'; END $$");
        foreign_ask(&foreign, "ALTER DATABASE postgres SET search_path = public, pg_catalog; "
                              "SELECT 'done'");
    }
    live_run(cancelled_release, luck);
    if (luck == &pg) {
        foreign_ask(&foreign, "DROP FUNCTION public.pg_advisory_unlock(bigint); "
                              "ALTER DATABASE postgres RESET search_path; SELECT 'done'");
        foreign_end(&foreign);
    }
}

FIXTURE(open_both) {
    signal(SIGPIPE, SIG_DFL); /* a driver that sends carelessly dies of it here */
    pg.sql = live_open(pg.locks, pg.sets);
    my.sql = live_open(my.locks, my.sets);
    pg_row = pg;
    my_row = my;
    pg_row.which = my_row.which = 1;
    return 0;
}

FIXTURE(close_both) {
    live_close(&pg.sql);
    live_close(&my.sql);
    return 0;
}

/* A test that is more than a body on a fiber. */
#define WITH(luck, test)                                                                           \
    TEST(luck##_##test) {                                                                          \
        LIVE_NEEDS(&luck.sql);                                                                     \
        test(&luck);                                                                               \
    }
ON(pg, a_killed_session_says_so_and_a_new_one_works)
ON(my, a_killed_session_says_so_and_a_new_one_works)
ON(pg_row, a_killed_session_says_so_and_a_new_one_works)
ON(my_row, a_killed_session_says_so_and_a_new_one_works)
ON(pg, a_limit_of_the_servers_own_ends_no_wait)
ON(my, a_limit_of_the_servers_own_ends_no_wait)
ON(pg_row, a_limit_of_the_servers_own_ends_no_wait)
ON(my_row, a_limit_of_the_servers_own_ends_no_wait)
ON(my_row, a_limit_that_strikes_late_is_a_timeout)
WITH(pg, a_cancelled_release_is_unknown)
WITH(my, a_cancelled_release_is_unknown)
WITH(pg, a_wrong_password_is_one_clear_line)
WITH(my, a_wrong_password_is_one_clear_line)

TEST_MAIN(open_both, close_both)
