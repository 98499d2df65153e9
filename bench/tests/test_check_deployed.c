/* test_check_deployed: locks as people deploy and call them, and the mistakes that people make with them, in `lockbench
 * check`: they show what their drivers state; and a server that only speaks the protocol is caught. test_truths has
 * many more, and is no part of `make test`.
 * Needs: servers, the machine to itself, 3 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 900
#include "bench/tests/check_help.h"
#include "bench/tests/liar.h"

/* Checks locks, once each. Fails if any is worse than its driver states. The result, which the caller decrefs. */
static json_t *check_once(const char *name, const char *const *args) {
    const char *all[CLI_ARGS_MAX] = {"check", "--out", cli_path("%s", name)};
    int count = 3;
    while (*args && count < CLI_ARGS_MAX - 1) all[count++] = *args++;
    struct cli cli = cli_run(NULL, all);
    if (cli.code != 0) fail_msg("exit code %d: %s%s", cli.code, cli.out, cli.err);
    return check_result(all[2]);
}

/* Each mistake, in the workload that is meant to expose it; in test_truths all of them, with five seeds. */
TEST(each_mistake_is_exposed) {
    static const char *const caught[][2] = {{"unsafe-redis-setnx-expire", "stuck"},
                                            {"unsafe-redisson-unlock-old", "violated"},
                                            {"unsafe-redlock-no-validity", "violated"},
                                            {"unsafe-sql-aba", "violated"}};
    cli_need("redis-independents");
    cli_need("postgres");
    json_t *check = check_once(
        "mistakes", ARGS("unsafe-redis-setnx-expire,unsafe-redisson-unlock-old,"
                         "unsafe-redlock-no-validity,unsafe-sql-aba",
                         "--fault", "exposed"));
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        check_assert(check, caught[i][0], "exposed", caught[i][1]);
}

TEST(three_nats_servers_go_on_without_one_and_after_two) {
    static const char *const faults[] = {"leader-kill", "minority-lost", "majority-lost"};
    cli_need("nats-3");
    json_t *check =
        check_once("nats", ARGS("nats-kv", "--fault", "leader-kill,minority-lost,majority-lost"));
    for (int i = 0; i < 3; i++) check_recovered(check, "nats-kv", faults[i]);
}

/* The cluster itself promotes a replica, which has what it was told before the answer, and nothing else. */
TEST(a_cluster_promotes_a_replica) {
    cli_need("redis-cluster");
    json_t *check =
        check_once("cluster", ARGS("redis-setnx,redis-wait", "--fault", "cluster-failover"));
    check_assert(check, "redis-setnx", "cluster-failover", "violated");
    check_assert(check, "redis-wait", "cluster-failover", "safe");
    check_recovered(check, "redis-wait", "cluster-failover");
}

/* Redisson's watchdog renews from a thread of its own. */
TEST(a_holder_whose_watchdog_is_held_back_does_not_notice) {
    cli_need("redis");
    json_t *check = check_once("watchdog", ARGS("redis-reentrant", "--fault", "starved-renewal"));
    check_assert(check, "redis-reentrant", "starved-renewal", "expired");
}

#define FOUR_FAULTS "pause,holder-kill,wire-cut,server-restart"

/* People's own libraries, as drivers/README.md has them. */
TEST(libraries_show_what_is_stated) {
    static const struct {
        const char *name, *lock, *program, *topology;
    } libraries[] = {
        {"redis-py", "exec", "exec.program=/usr/bin/python3 drivers/exec/examples/redis_py.py",
         "servers.topology=redis"},
        {"kazoo", "exec-session",
         "exec-session.program=/usr/bin/python3 drivers/exec/examples/kazoo_lock.py",
         "servers.topology=zookeeper"},
    };
    static const char *const faults[] = {"pause", "holder-kill", "wire-cut", "server-restart"};
    cli_need("redis");
    cli_need("zookeeper");
    for (int i = 0; i < 2; i++) {
        json_t *check = check_once(libraries[i].name,
                                   ARGS(libraries[i].lock, "--fault", FOUR_FAULTS, "--set",
                                        libraries[i].program, "--set", libraries[i].topology));
        check_assert(check, libraries[i].lock, "pause", "expired");
        for (int j = 0; j < 4; j++) {
            const json_t *cell = check_cell(check, libraries[i].lock, faults[j]);
            assert_true(cli_number_at(cell, "grants") > 0);
        }
    }
}

TEST(a_set_nx_that_always_says_ok_is_caught) {
    struct liar liar = {.words = {{"$2\r\nNX\r\n", ""}, {"*6\r\n$3\r\nSET", "*5\r\n$3\r\nSET"}}};
    char option[200], lying[200];
    struct cli up;
    cli_up(&up, "redis", "redis", option, sizeof option);
    char *at = strstr(option, "127.0.0.1:");
    assert_non_null(at);
    at += strlen("127.0.0.1:");
    liar.server = atoi(at);
    liar_start(&liar);
    snprintf(lying, sizeof lying, "%.*s%d%s", (int)(at - option), option, liar.port,
             at + strspn(at, "0123456789"));
    struct cli cli = cli_ends(3, ARGS("check", "redis-setnx", "--url", lying, "--fault",
                                      "conformance,none", "--out", cli_path("lying")));
    assert_has(cli.err, "FAILED    ");
    json_t *check = check_result(cli_path("lying"));
    check_assert(check, "redis-setnx", "conformance", "violated");
    check_assert(check, "redis-setnx", "none", "violated");
    assert_has(cli_text_at(check_cell(check, "redis-setnx", "none"), "why"), "double holder");
    liar_stop(&liar);
    cli_down(&up);
}

TEST_MAIN(cli_setup, cli_teardown)
