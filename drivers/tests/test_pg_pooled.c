/* test_pg_pooled: PostgreSQL's locks behind a real PgBouncer: in transaction mode locks of a session do not exclude,
 * and locks of a transaction or a row do; in session mode all exclude.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/check_help.h"

/* The worst of three seeds counts: a session lock behind the pooler may also get stuck before two
 * clients hold it, if it stays in a server session that the pooler gives to no client. */
TEST(transaction_mode_voids_session_locks) {
    static const char *const safe[] = {
        "pg-advisory-xact", "pg-row",  "pg-nowait", "pg-lease",    "pg-table",
        "pg-optimistic",    "pg-flag", "pg-update", "pg-sequence", NULL};
    struct cli cli =
        cli_run(NULL, ARGS("check",
                           "pg-advisory,pg-advisory-xact,pg-row,pg-nowait,pg-lease,pg-table,"
                           "pg-optimistic,pg-flag,pg-update,pg-sequence",
                           "--fault", "pooled", "--seed", "1..3", "--out", cli_path("pooled")));
    assert_code(&cli, 0);
    json_t *check = check_result(cli_path("pooled"));
    check_assert(check, "pg-advisory", "pooled", "violated");
    for (int i = 0; safe[i]; i++) check_assert(check, safe[i], "pooled", "safe");
    json_decref(check);
}

/* What `hold` says when it takes a lock at the URL, with the exit code that is expected. */
static void expect_hold(const char *url, const char *lock, const char *more, int code,
                        const char *says) {
    struct cli cli =
        cli_run(NULL, ARGS("hold", lock, "555", "--url", url, more, "--", "echo", "held"));
    assert_code(&cli, code);
    assert_has(code ? cli.err : cli.out, code ? says : "held");
    if (*says) assert_has(cli.err, says);
}

/* The same server by its database in session mode; its facts say that there is a pooler. `hold` takes no lock that
 * transaction mode voids, unless it is told to. */
TEST(session_mode_keeps_them) {
    char option[300];
    struct cli up;
    cli_up(&up, "postgres-pgbouncer", "postgres", option, sizeof option - strlen("sessions"));
    char *base = strrchr(option, '/');
    assert_string_equal(base, "/postgres");
    expect_hold(option, "pg-advisory", "--wait=1s", 125, "gives out sessions by transaction");
    expect_hold(option, "pg-advisory", "--anyway", 0, "gives out sessions by transaction");
    expect_hold(option, "pg-advisory-xact", "--wait=1s", 0, "");
    strcpy(base, "/sessions");
    expect_hold(option, "pg-advisory", "--wait=1s", 0, "");
    struct cli cli = cli_run(NULL, ARGS("run", "check/none", "--lock", "pg-advisory", "--url",
                                        option, "--no-page", "--out", cli_path("sessions")));
    assert_code(&cli, 0);
    char *run = cli_read(cli_path("sessions/run.json"));
    assert_has(run, "\"pooler\": \"yes");
    free(run);
    cli_down(&up);
}

/* Kills `hold` while it holds, behind the pooler, and waits until the pooler has noticed. */
static void strand_lock(const char *option) {
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("hold", "pg-advisory", "4711", "--anyway", "--url", option, "--", "sh", "-c",
                   "echo held; sleep 60"));
    cli_until(&cli, cli_has_line, cli.out_path, "held");
    kill(cli.pid, SIGKILL);
    cli_wait(&cli);
}

static void expect_clean(const char *option, const char *more, const char *says) {
    struct cli cli = cli_run(NULL, ARGS("clean", "--url", option, "--key", "4711", more));
    assert_code(&cli, 0);
    assert_has(cli.out, says);
}

/* A lock that a dead client left to a session of the pooler's, and waits for it. */
TEST(what_is_stranded_behind_a_pooler_is_found_by_its_number) {
    char option[300];
    struct cli up;
    cli_up(&up, "postgres-pgbouncer", "postgres", option, sizeof option);
    strand_lock(option);
    expect_clean(option, "--dry-run", "advisory lock 4711, held by session");
    expect_clean(option, NULL, ": removed");
    expect_clean(option, "--dry-run", "nothing is left");
    struct cli cli =
        cli_run(NULL, ARGS("run", "contended", "--lock", "pg-advisory", "--url", option, "--set",
                           "load.clients=6", "--set", "run.duration=1s", "--set", "run.drain=2s",
                           "--no-page", "--out", cli_path("stranded")));
    assert_true(cli.code != 0);
    json_t *run = cli_result(cli_path("stranded"));
    assert_true(cli_number_at(run, "stages.0.residue.count") > 0);
    json_decref(run);
    expect_clean(option, "--dry-run", "nothing is left");
    cli_down(&up);
}

/* A URL may carry the name of the user's own program, whose sessions are not lockbench's. */
TEST(sessions_of_another_name_are_left) {
    char option[300];
    struct cli up, mine;
    cli_up(&up, "postgres", "postgres", option, sizeof option - strlen("?application_name=mine"));
    strcat(option, "?application_name=mine");
    cli_start(&mine, NULL,
              ARGS("hold", "pg-advisory", "12", "--url", option, "--", "sh", "-c",
                   "echo held; cat >/dev/null; sleep 60"));
    cli_until(&mine, cli_has_line, mine.out_path, "held");
    struct cli cli = cli_run(NULL, ARGS("clean", "--url", option));
    assert_code(&cli, 0);
    assert_lacks(cli.out, "advisory lock");
    kill(mine.pid, SIGTERM);
    cli_wait(&mine);
    assert_lacks(mine.err, "lost");
    cli_down(&up);
}

/* Its database in session mode is none that the scenario is about. */
TEST(a_scenario_without_its_kind_of_server_tests_nothing) {
    char option[300];
    struct cli up;
    cli_up(&up, "postgres-pgbouncer", "postgres", option, sizeof option - strlen("sessions"));
    strcpy(strrchr(option, '/'), "/sessions");
    struct cli cli = cli_run(NULL, ARGS("check", "pg-advisory", "--fault", "pooled", "--url",
                                        option, "--out", cli_path("direct")));
    assert_code(&cli, LB_EXIT_MACHINE);
    assert_has(cli.err, "pooled needs a pooler that gives out sessions by transaction");
    cli = cli_run(NULL, ARGS("run", "check/pooled", "--lock", "pg-advisory", "--url", option,
                             "--no-page", "--out", cli_path("direct-run")));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "it would not put the lock to the test");
    cli_down(&up);
    cli = cli_run(NULL, ARGS("run", "check/multi-primary", "--lock", "mysql-getlock", "--set",
                             "servers.topology=mariadb", "--no-page", "--out", cli_path("one")));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "multi-primary needs several nodes of one cluster");
}

/* Passwords as users have them; the runner of the tests asks for a quicker way. */
FIXTURE(set_up_with_scram) {
    unsetenv("LB_POSTGRES_LOGIN");
    return cli_setup(state);
}

TEST_MAIN(set_up_with_scram, cli_teardown)
