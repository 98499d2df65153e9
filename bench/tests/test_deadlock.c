/* test_deadlock: the workload deadlock on real servers: PostgreSQL finds clients that wait for each other and ZooKeeper does
 * not, and clients that take their keys in one order have no deadlock.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#define LONG_ENOUGH "--set", "run.duration=5s"

TEST(who_looks_for_deadlocks_finds_them_and_who_does_not_waits) {
    cli_need("postgres");
    cli_need("zookeeper");
    char *out = cli_path("opposite");
    struct cli cli = cli_run(
        NULL, ARGS("run", "deadlock", "--lock", "pg-row,zk-multi", LONG_ENOUGH, "--out", out));
    json_t *run = cli_result(out), *stage;
    size_t i;
    assert_int_equal(json_array_size(cli_get(run, "stages")), 2);
    json_array_foreach(cli_get(run, "stages"), i, stage) {
        bool finds = strcmp(cli_text_at(stage, "lock"), "pg-row") == 0;
        assert_string_equal(cli_text_at(stage, "key_order"), "opposite");
        assert_true((cli_number_at(stage, "deadlocks.found") > 0) == finds);
        if (finds) {
            assert_true(cli_number_at(stage, "outcomes.ok") > 0);
            /* It looks when a wait has lasted for deadlock_timeout, a second. */
            assert_true(cli_number_at(stage, "deadlocks.mean_ns") > 9e8);
        } else {
            assert_true(cli_number_at(stage, "outcomes.timeout") > 0);
        }
    }
    assert_has(cli.out, "2 keys at once in");
}

TEST(in_one_order_there_is_no_deadlock) {
    cli_need("postgres");
    char *out = cli_path("same");
    cli_ends(0, ARGS("run", "deadlock", "--lock", "pg-row,pg-advisory-xact", "--set",
                     "acquire.key_order=same", LONG_ENOUGH, "--out", out));
    json_t *run = cli_result(out), *stage;
    size_t i;
    json_array_foreach(cli_get(run, "stages"), i, stage) {
        assert_true(cli_number_at(stage, "outcomes.ok") > 0);
        assert_true(cli_number_at(stage, "deadlocks.found") == 0);
    }
}

TEST_MAIN(cli_setup, cli_teardown)
