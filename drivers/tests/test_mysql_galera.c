/* test_mysql_galera: the locks of MariaDB on three real nodes of one Galera cluster: a lock that belongs to a node does
 * not exclude clients of other nodes, and a lock that is a written row excludes everywhere; through one node all
 * exclude. Then the loss of a node, or of the other nodes.
 * Needs: servers, 4 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 400
#include "bench/tests/check_help.h"

#define GALERA "servers.topology=mariadb-galera"

/* Checks these locks in one scenario, with further arguments; the verdicts are in their order. Each is as its driver
 * states, or better. */
static void assert_verdicts(const char *locks, const char *fault, const char *const *more,
                            const char *const *verdicts) {
    char list[200], *out = cli_path("%s.%s", locks, fault), *rest = list;
    const char *args[CLI_ARGS_MAX] = {"check", locks, "--fault", fault,
                                      "--out", out,   "--set",   GALERA};
    int count = 8;
    while (*more && count < CLI_ARGS_MAX - 1) args[count++] = *more++;
    struct cli cli = cli_run(NULL, args);
    assert_code(&cli, 0);
    json_t *check = check_result(out);
    snprintf(list, sizeof list, "%s", locks);
    for (char *lock; (lock = strsep(&rest, ",")); verdicts++)
        check_assert(check, lock, fault, *verdicts);
    json_decref(check);
}

/* Of each way to be held one lock: by the server, by a transaction, by a written row. Through one node all exclude:
 * test_conform shows it. On a busy machine, clients of two nodes meet once in some seconds. */
TEST(through_all_nodes_only_what_is_written_excludes) {
    cli_need("mariadb-galera");
    assert_verdicts("mysql-getlock,mysql-row,mysql-lease", "multi-primary",
                    ARGS("--set", "run.duration=12s"),
                    (const char *const[]){"violated", "violated", "safe"});
}

TEST(hold_takes_no_user_lock_of_one_node) {
    char option[300];
    struct cli up;
    cli_up(&up, "mariadb-galera", "mariadb", option, sizeof option);
    struct cli cli =
        cli_run(NULL, ARGS("hold", "mysql-getlock", "k", "--url", option, "--", "true"));
    assert_code(&cli, 125);
    assert_has(cli.err, "a node of Galera: each node has user locks of its own");
    cli_down(&up);
}

/* The two others are a majority, and clients go on there. */
TEST(the_node_that_clients_use_is_lost) {
    cli_need("mariadb-galera");
    assert_verdicts("mysql-getlock,mysql-lease", "minority-lost", ARGS(NULL),
                    (const char *const[]){"expired", "safe"});
}

TEST(the_node_that_clients_use_loses_the_others) {
    cli_need("mariadb-galera");
    assert_verdicts("mysql-getlock,mysql-lease", "split", ARGS(NULL),
                    (const char *const[]){"violated", "safe"});
}

TEST_MAIN(cli_setup, cli_teardown)
