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
                           "--fault", "pooled", "--seeds", "1..3", "--out", cli_path("pooled")));
    assert_code(&cli, 0);
    cli_free(&cli);
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
    cli_free(&cli);
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
    cli_free(&cli);
    char *run = cli_read(cli_path("sessions/run.json"));
    assert_has(run, "\"pooler\": \"yes");
    free(run);
    cli_down(&up);
}

/* Passwords as users have them; the runner of the tests asks for a quicker way. */
FIXTURE(set_up_with_scram) {
    unsetenv("LB_POSTGRES_LOGIN");
    return cli_setup(state);
}

TEST_MAIN(set_up_with_scram, cli_teardown)
