/* `lockbench check` finds the known behaviour of these locks, from articles, analyses and their own
 * documentation, each over five seeds: pauses, failovers, lost servers, crashes, lost messages, and
 * locks that are broken on purpose.
 *
 * No time is asserted but lower bounds, orders, and a recovery beyond all reason, which the check
 * calls stuck.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 900
#include "bench/tests/check_help.h"

/* A holder that was paused past its lease or session goes on beside a second holder; with a token
 * its writes are rejected. */
TEST(a_pause_outlives_every_lease_and_fencing_saves_the_data) {
    static const char *const locks[] = {"redis-setnx", "redis-redlock", "redis-fenced",
                                        "etcd-mutex",  "etcd-lock",     "zk-lock"};
    cli_need("redis");
    cli_need("etcd");
    cli_need("zookeeper");
    json_t *check = check_five_seeds("pause", ARGS(locks[0], locks[1], locks[2], locks[3], locks[4],
                                                   locks[5], "--fault", "pause"));
    double attempted = 0, unfenced = 0;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        check_assert(check, locks[i], "pause", "expired");
        check_each_seed("pause", locks[i], "pause", "expired");
        const json_t *cell = check_cell(check, locks[i], "pause");
        if (!(registry_lock(locks[i])->caps & LB_CAP_FENCE)) {
            assert_true(json_is_null(cli_get(cell, "stale_rejected_fenced")));
            continue;
        }
        assert_true(cli_number_at(cell, "stale_accepted_fenced") == 0);
        assert_true(cli_number_at(cell, "stale_rejected_fenced") ==
                    cli_number_at(cell, "stale_attempted"));
        attempted += cli_number_at(cell, "stale_attempted");
        unfenced += cli_number_at(cell, "stale_accepted_unfenced");
    }
    assert_true(attempted > 0);
    assert_true(unfenced > 0); /* stale writes that a store without a fence accepted */
    /* Without tokens no store can reject the stale writes. */
    const json_t *cell = check_cell(check, "redis-setnx", "pause");
    assert_true(cli_number_at(cell, "stale_accepted_unfenced") > 0);
}

/* A lock that is held by its connection stays the paused client's. */
TEST(a_pause_does_not_end_what_lives_by_a_connection) {
    cli_need("postgres");
    cli_need("mariadb");
    json_t *check =
        check_five_seeds("pause-sql", ARGS("pg-advisory,mysql-getlock", "--fault", "pause"));
    check_assert(check, "pg-advisory", "pause", "safe");
    check_assert(check, "mysql-getlock", "pause", "safe");
}

TEST(a_promoted_replica_has_not_heard_of_the_lock) {
    cli_need("redis");
    json_t *check =
        check_five_seeds("primary-lost", ARGS("redis-setnx,redis-wait", "--fault", "primary-lost",
                                              "--set", "redis-wait.short=accept"));
    check_assert(check, "redis-setnx", "primary-lost", "violated");
    check_assert(check, "redis-wait", "primary-lost", "violated");
    check_each_seed("primary-lost", "redis-setnx", "primary-lost", "violated");
    check_each_seed("primary-lost", "redis-wait", "primary-lost", "violated");
}

/* A cluster's own failover keeps what the one replica has acknowledged, and nothing else. */
TEST(a_cluster_promotes_a_replica_that_has_not_heard_of_the_lock) {
    cli_need("redis");
    json_t *check =
        check_five_seeds("cluster", ARGS("redis-setnx,redis-wait", "--fault", "cluster-failover"));
    check_assert(check, "redis-setnx", "cluster-failover", "violated");
    check_assert(check, "redis-wait", "cluster-failover", "safe");
    check_each_seed("cluster", "redis-setnx", "cluster-failover", "violated");
}

TEST(redlock_survives_a_minority_and_not_a_node_that_forgets) {
    cli_need("redis");
    json_t *check =
        check_five_seeds("redlock", ARGS("redis-redlock", "--fault", "minority-lost,node-empty"));
    check_assert(check, "redis-redlock", "minority-lost", "safe");
    check_assert(check, "redis-redlock", "node-empty", "violated");
}

TEST(a_killed_leader_loses_no_lock) {
    static const char *const locks[] = {"etcd-mutex", "zk-lock"};
    cli_need("etcd");
    cli_need("zookeeper");
    json_t *check =
        check_five_seeds("leader-kill", ARGS(locks[0], locks[1], "--fault", "leader-kill"));
    for (int i = 0; i < 2; i++) {
        check_assert(check, locks[i], "leader-kill", "safe");
        const json_t *cell = check_cell(check, locks[i], "leader-kill");
        assert_true(cli_number_at(cell, "grants_lost") == 0);
        assert_true(cli_number_at(cell, "detected") == 0);
        assert_true(json_is_true(cli_get(cell, "recovered")));
    }
}

static double recovery(const json_t *check, const char *lock, const char *figure) {
    const json_t *cell = check_cell(check, lock, "holder-kill");
    char path[40];
    snprintf(path, sizeof path, "recovery_ns.%s", figure);
    return cli_number_at(cell, path);
}

/* After the death of a holder databases free the lock at once, Redis when the key expires, etcd
 * when the session's lease ends, ZooKeeper last. */
TEST(what_a_dead_holder_had_comes_free_as_the_theory_says) {
    static const char *const locks[] = {"pg-advisory", "mysql-getlock", "redis-setnx", "etcd-mutex",
                                        "zk-lock"};
    cli_need("redis");
    cli_need("etcd");
    cli_need("zookeeper");
    cli_need("postgres");
    cli_need("mariadb");
    json_t *check = check_five_seeds("holder-kill", ARGS(locks[0], locks[1], locks[2], locks[3],
                                                         locks[4], "--fault", "holder-kill"));
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        check_assert(check, locks[i], "holder-kill", "safe");
        assert_true(json_is_true(cli_get(check_cell(check, locks[i], "holder-kill"), "recovered")));
        assert_true(recovery(check, locks[i], "count") >= CHECK_SEEDS);
    }
    /* Killed within the first 200 ms of a lease of 2 s. */
    assert_true(recovery(check, "redis-setnx", "min") > 1.5e9);
    /* Its session's lease was renewed within the last third. */
    assert_true(recovery(check, "etcd-mutex", "min") > 1e9);
    /* A session of 4 s, by whose last third there was a ping. */
    assert_true(recovery(check, "zk-lock", "min") > 2e9);
    assert_true(recovery(check, "zk-lock", "p50") > recovery(check, "etcd-mutex", "p50"));
    assert_true(recovery(check, "zk-lock", "p50") > recovery(check, "redis-setnx", "p50"));
    for (int i = 0; i < 2; i++) {
        assert_true(recovery(check, locks[i], "p50") < recovery(check, "redis-setnx", "min"));
        assert_true(recovery(check, locks[i], "p50") < recovery(check, "etcd-mutex", "min"));
    }
}

/* A waiter stands still until its lease is over, and the lock service of etcd 3.4 grants it the
 * lock nevertheless: the waiter enters after its session has ended, and the verdict is
 * "expired". */
TEST(a_grant_after_the_end_of_its_lease_is_caught_by_looking_again) {
    cli_need("etcd");
    json_t *check = check_five_seeds("without-look",
                                     ARGS("etcd-lock", "--fault", "pause", "--set",
                                          "fault.target=waiter", "--set", "etcd-lock.recheck=no"));
    assert_has(cli_text_at(check_cell(check, "etcd-lock", "pause"), "server"), "etcd 3.4");
    check_assert(check, "etcd-lock", "pause", "expired");
    check = check_five_seeds("with-look",
                             ARGS("etcd-lock", "--fault", "pause", "--set", "fault.target=waiter"));
    check_assert(check, "etcd-lock", "pause", "safe");
}

/* A lease that Redis counts itself does not depend on the clients' clocks; a lease whose end clients write as a time of
 * day depends on all of them. */
TEST(locks_that_write_the_clients_time_need_clocks_that_agree) {
    static const struct {
        const char *lock, *verdict;
    } truths[] = {{"redis-fair", "stuck"},
                  {"redis-permit", "violated"},
                  {"unsafe-redis-getset-repaired", "violated"}};
    cli_need("redis");
    json_t *check =
        check_five_seeds("client-clock", ARGS(truths[0].lock, truths[1].lock, truths[2].lock,
                                              "--fault", "client-clock"));
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        check_assert(check, truths[i].lock, "client-clock", truths[i].verdict);
    }
    check_each_seed("client-clock", "redis-permit", "client-clock", "violated");
}

/* A client that compares the end of its session with its own clock leaves in time; a client that waits to be told does
 * not. */
TEST(a_session_that_nobody_renews_ends) {
    cli_need("etcd");
    cli_need("zookeeper");
    json_t *check =
        check_five_seeds("starved", ARGS("etcd-mutex,zk-lock,unsafe-zk-ignores-session-loss",
                                         "--fault", "starved-renewal"));
    check_assert(check, "etcd-mutex", "starved-renewal", "safe");
    check_assert(check, "zk-lock", "starved-renewal", "expired");
    check_assert(check, "unsafe-zk-ignores-session-loss", "starved-renewal", "violated");
    check_each_seed("starved", "zk-lock", "starved-renewal", "expired");
    check_each_seed("starved", "unsafe-zk-ignores-session-loss", "starved-renewal", "violated");
}

/* Each in the workload that is meant to expose it; shown by one of five seeds at least. */
TEST(every_broken_lock_is_caught) {
    cli_need("redis");
    cli_need("zookeeper");
    cli_need("postgres");
    /* `contended` goes up to 64 clients in seven stages; eight of them are enough for its one
     * control. */
    static const char *const ladder = "unsafe-sql-owner-is-host";
    char others[1000] = "";
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        size_t used = strlen(others);
        if (!(lock->caps & LB_CAP_CONTROL) || strcmp(lock->name, ladder) == 0) continue;
        snprintf(others + used, sizeof others - used, "%s%s", used ? "," : "", lock->name);
    }
    json_t *check = check_five_seeds("controls", ARGS(others, "--fault", "exposed"));
    json_t *more = check_five_seeds("ladder", ARGS(ladder, "--fault", "exposed", "--set",
                                                   "load.clients=8", "--set", "run.duration=2s"));
    json_array_extend(cli_get(check, "cells"), cli_get(more, "cells"));
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (!(lock->caps & LB_CAP_CONTROL)) continue;
        const json_t *cell = check_cell(check, lock->name, "exposed");
        if (json_is_true(cli_get(cell, "missed")) ||
            !check_stage_is(cell, "compared", "as expected"))
            fail_msg("%s: %s", lock->name, cli_text_at(cell, "verdict"));
    }
}

TEST(nothing_is_left) {
    cli_assert_nothing_left();
}

TEST_MAIN(cli_setup, cli_teardown)
