/* test_pg_replicas: PostgreSQL's locks on a primary with a synchronous and an asynchronous standby: when the primary
 * dies, the promoted synchronous standby has each row that was acknowledged, and the asynchronous one, behind on
 * purpose, has not; what lives in a session is lost in both cases. Then the loss of one of the three servers without a
 * failover.
 * Needs: servers, the machine to itself, 4 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/check_help.h"

static int checks; /* so far: check-0, ... */

/* Checks locks in one scenario, with a setting or NULL, once with each of the seeds, of which the worst counts. The result,
 * which the caller decrefs. jobs: 2 for each cell that may run at a time. One for primary-lost: where nine servers start at
 * once, the new primary may come when the holders are gone. */
static json_t *check_in(const char *locks, const char *fault, const char *seeds, const char *jobs,
                        const char *set) {
    char *out = cli_path("check-%d", checks++);
    struct cli cli = cli_run(NULL, ARGS("check", locks, "--fault", fault, "--seed", seeds, "--jobs",
                                        jobs, "--set", "servers.topology=postgres-replicas",
                                        "--set", set ? set : "load.clients=6", "--out", out));
    assert_code(&cli, 0); /* as their driver states, or better */
    return check_result(out);
}

TEST(the_synchronous_standby_keeps_rows_and_no_sessions) {
    cli_need("postgres-replicas");
    json_t *check = check_in("pg-advisory", "primary-lost", "1..2", "1", NULL);
    check_assert(check, "pg-advisory", "primary-lost", "expired");
    json_decref(check);
    check = check_in("pg-lease", "primary-lost", "1..1", "1", NULL);
    check_assert(check, "pg-lease", "primary-lost", "safe");
    check_recovered(check, "pg-lease", "primary-lost");
    json_decref(check);
}

/* The holders' grants began while the asynchronous standby was away. */
TEST(what_the_asynchronous_standby_loses_the_synchronous_one_keeps) {
    cli_need("postgres-replicas");
    json_t *check = check_in("pg-lease", "standby-behind", "1..2", "4", NULL);
    check_assert(check, "pg-lease", "standby-behind", "violated");
    assert_true(cli_number_at(check_cell(check, "pg-lease", "standby-behind"), "faults_hit") > 0);
    json_decref(check);
    check = check_in("pg-lease", "standby-behind", "1..1", "1", "fault.3.target=1");
    check_assert(check, "pg-lease", "standby-behind", "safe");
    assert_true(cli_number_at(check_cell(check, "pg-lease", "standby-behind"), "faults_hit") > 0);
    json_decref(check);
}

/* Without the synchronous standby no commit returns, and locks that commit nothing go on. Without the asynchronous one
 * all locks go on. */
TEST(a_commit_waits_for_the_synchronous_standby_alone) {
    cli_need("postgres-replicas");
    json_t *check =
        check_in("pg-advisory,pg-lease", "minority-lost", "1..1", "4", "fault.target=1");
    check_assert(check, "pg-advisory", "minority-lost", "safe");
    check_assert(check, "pg-lease", "minority-lost", "stuck");
    json_decref(check);
    check = check_in("pg-lease", "minority-lost", "1..1", "1", "fault.target=2");
    check_assert(check, "pg-lease", "minority-lost", "safe");
    json_decref(check);
}

/* A standby has advisory locks of its own, and grants them beside the primary's. */
TEST(a_standby_is_no_place_for_a_lock) {
    char option[400], url[400], *host;
    struct cli up;
    cli_up(&up, "postgres-replicas", "postgres", option, sizeof option);
    host = strrchr(option, '@') + 1;
    char *second = strchr(option, ',') + 1;
    snprintf(url, sizeof url, "%.*s%.*s/postgres", (int)(host - option), option,
             (int)strcspn(second, ",/"), second);
    struct cli cli = cli_run(NULL, ARGS("hold", "pg-advisory", "42", "--url", url, "--", "true"));
    assert_code(&cli, 125);
    assert_has(cli.err, "a standby");
    cli = cli_run(NULL, ARGS("doctor", "--url", url));
    assert_has(cli.out, "a standby");
    cli_down(&up);
}

TEST(without_the_primary_nothing_is_granted_until_somebody_acts) {
    cli_need("postgres-replicas");
    json_t *check = check_in("pg-advisory", "minority-lost", "1..1", "1", "fault.target=primary");
    check_assert(check, "pg-advisory", "minority-lost", "stuck");
    json_decref(check);
}

TEST_MAIN(cli_setup, cli_teardown)
