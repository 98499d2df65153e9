/* MariaDB's locks when things go wrong that no other program can bring about: a limit that strikes late, a release that is killed
 * before it acts, a crash that loses a sequence. Sessions that are killed and limits of the servers' own are in stories/sql.story.
 * Needs: servers. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include "drivers/tests/live_help.h"

#include <dlfcn.h>

#include "drivers/mariadb/maria_session.h"

static struct live_place my;

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

/* A statement's time limit may end it after its answer has begun: then the error comes in the place
 * of the row. */
LIVE(&my, a_limit_that_strikes_late_is_a_timeout) {
    struct live_client client;
    struct maria_row row = {0};
    struct lb_err err = {0};
    live_come_as(&client, &my, 1, "key");
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
    struct live_place live = live_open("mysql-row", NULL);
    if (usual)
        setenv("TMPDIR", usual, 1);
    else
        unsetenv("TMPDIR");
    free(usual);
    LIVE_NEEDS(&live);
    live_run(crash_after_a_new_block, &live);
    live_close(&live);
    topo_login(my.place->topo); /* for the shells of the other tests */
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
LIVE(&my, a_cancelled_release_is_unknown) {
    struct live_client holder, next;
    live_come(&holder, &my, "key");
    live_come(&next, &my, "key");
    CHECK(live_acquire(&holder, LB_NEVER) == LB_OK, "%s", holder.session.err.text);
    kills_next_query = true;
    enum lb_outcome outcome = live_release(&holder);
    CHECK(outcome == LB_UNKNOWN, "release said %s", lb_outcome_name(outcome));
    CHECK(holder.session.err.code != 0, "and did not say why");
    CHECK(live_acquire(&next, 0) == LB_BUSY, "it was free, or %s", next.session.err.text);
    live_hang_up(&holder);
    CHECK(live_acquire(&next, 20 * LB_S_NS) == LB_OK, "still held: %s", next.session.err.text);
    live_client_done(&next);
    live_client_done(&holder);
}

LIVE_MAIN(my, NULL, "mysql-getlock,mysql-row", "mariadb.answer_timeout=1s", NULL)
