/* test_server_use: the cost of a lock on its server: fsyncs and written bytes for each grant, memory and disk for each
 * held lock. Only counts are asserted, and no time.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/check_help.h"

static int runs;

/* Runs the locks by the smoke workload with these further arguments; the result is the caller's. */
static json_t *run_with(const char *locks, const char *const *more) {
    char *out = cli_path("use-%d", runs++);
    const char *args[CLI_ARGS_MAX] = {"run",   "smoke",       "--lock", locks,
                                      "--out", out,           "--set",  "run.duration=300ms",
                                      "--set", "run.warmup=0"};
    int count = 10;
    while (*more) args[count++] = *more++;
    cli_ends(0, args);
    return cli_result(out);
}

/* The stage of a lock; fails where it was left out. */
static const json_t *stage_of(const json_t *run, const char *lock) {
    size_t i;
    json_t *stage;
    json_array_foreach(json_object_get(run, "stages"), i, stage) {
        if (strcmp(cli_text_at(stage, "lock"), lock) == 0) return stage;
    }
    fail_msg("%s was not run", lock);
    return NULL;
}

#define ALONE "--set", "load.clients=1", "--set", "load.keys=own"

static void need_all(void) {
    static const char *const all[] = {"redis", "zookeeper", "etcd", "postgres", "mariadb", NULL};
    for (int i = 0; all[i]; i++) cli_need(all[i]);
}

/* On a server that writes to disk before each answer a grant costs at least one fsync; on a server that never does so
 * it costs none. This holds for the counts of the preloaded library and for etcd's own counts. */
TEST(fsyncs_are_there_with_sync_and_absent_without) {
    static const char locks[] = "redis-setnx,zk-lock,etcd-mutex,pg-lease,mysql-lease";
    static const char *const each[] = {"redis-setnx", "zk-lock",     "etcd-mutex",
                                       "pg-lease",    "mysql-lease", NULL};
    need_all();
    json_t *sync = run_with(locks, ARGS("--set", "servers.durability=sync", ALONE));
    json_t *none = run_with(locks, ARGS("--set", "servers.durability=none", ALONE));
    for (int i = 0; each[i]; i++) {
        const json_t *stage = stage_of(sync, each[i]);
        double fsyncs = cli_number_at(stage, "cost.fsyncs_per_grant");
        double bytes = cli_number_at(stage, "cost.written_bytes_per_grant");
        double without = cli_number_at(stage_of(none, each[i]), "cost.fsyncs_per_grant");
        print_message("%s: %.2f fsyncs and %.0f bytes a grant with sync, %.2f without\n", each[i],
                      fsyncs, bytes, without);
        if (fsyncs < 1) fail_msg("%s: %.3f fsyncs a grant", each[i], fsyncs);
        /* MariaDB makes some for a checkpoint now and then, and a slow machine has few grants in the window. */
        assert_true(without < 0.5);
        assert_true(bytes >= 4096); /* a page at least was changed between two of them */
    }
}

TEST(a_server_in_memory_writes_nothing) {
    cli_need("memcached");
    cli_need("redis");
    json_t *run = run_with("memcached-add,redis-setnx", ARGS(ALONE));
    static const char *const each[] = {"memcached-add", "redis-setnx"};
    for (int i = 0; i < 2; i++) {
        const json_t *stage = stage_of(run, each[i]);
        assert_true(cli_number_at(stage, "cost.fsyncs_per_grant") == 0);
        assert_true(cli_number_at(stage, "cost.written_bytes_per_grant") < 100);
        assert_true(cli_number_at(stage, "cost.server_memory_bytes") > 100000);
        assert_true(json_is_null(cli_get(stage, "held"))); /* one lock is not many */
    }
}

/* Not known are the fsyncs of NATS and those of servers at a URL; a lock in memory has no
 * server. */
TEST(what_is_not_known_is_null) {
    cli_need("nats");
    json_t *run = run_with("nats-kv,mem-mutex", ARGS(ALONE));
    assert_true(json_is_null(cli_get(stage_of(run, "nats-kv"), "cost.fsyncs_per_grant")));
    assert_true(cli_number_at(stage_of(run, "nats-kv"), "cost.server_memory_bytes") > 0);
    static const char *const figures[] = {"cost.fsyncs_per_grant", "cost.written_bytes_per_grant",
                                          "cost.server_memory_bytes"};
    for (int i = 0; i < 3; i++)
        assert_true(json_is_null(cli_get(stage_of(run, "mem-mutex"), figures[i])));
}

#define HELD "--set", "load.hold=window", "--set", "load.keys=own", "--set", "servers.fresh=yes"

/* Whether a figure of what the servers need for each lock that is held is known, and above 0. */
static bool is_told(const json_t *stage, const char *path) {
    return !json_is_null(cli_get(stage, path)) && cli_number_at(stage, path) > 0;
}

/* All clients hold at once, the window ends then, and all release. */
TEST(all_clients_hold_when_the_window_ends) {
    cli_need("redis");
    cli_need("postgres");
    json_t *run =
        run_with("redis-setnx,pg-table", ARGS(HELD, "--set", "load.clients=20,120", "--set",
                                              "run.duration=1h", "--set", "acquire.lease=2h"));
    size_t i;
    int told = 0;
    json_t *stage;
    assert_int_equal(json_array_size(json_object_get(run, "stages")), 4);
    /* Each stage had servers of its own, on ports of their own. */
    assert_int_equal(json_array_size(json_object_get(run, "servers")), 4);
    json_array_foreach(json_object_get(run, "stages"), i, stage) {
        double clients = cli_number_at(stage, "clients");
        assert_true(cli_number_at(stage, "grants") == clients);
        assert_true(cli_number_at(stage, "outcomes.ok") == clients);
        if (clients < 100) {
            assert_true(json_is_null(cli_get(stage, "held")));
            continue;
        }
        assert_true(cli_number_at(stage, "held.count") == clients);
        /* A figure is null if its server gave memory back meanwhile, as on a machine that is short of memory; not all
         * of them do. */
        told += is_told(stage, "held.memory_bytes_per_lock");
        told += is_told(stage, "held.disk_bytes_per_lock");
    }
    assert_true(told > 0);
    /* A backend of PostgreSQL is a process. */
    assert_true(cli_number_at(stage_of(run, "pg-table"), "cost.memory_bytes_per_session") > 100000);
    json_decref(run);
}

TEST(what_needs_more_connections_than_there_are_is_left_out) {
    cli_need("postgres");
    json_t *run =
        run_with("pg-advisory", ARGS("--set", "load.clients=1,2501", "--set", "load.keys=own"));
    assert_int_equal(json_array_size(json_object_get(run, "stages")), 1);
    assert_has(cli_text_at(run, "skipped.0.reason"),
               "with 2501 clients: they need 2501 connections, and postgres takes 2500");
    json_decref(run);
}

/* What servers write is counted at a disk, so their folders are not in memory. */
FIXTURE(on_disk) {
    setenv("TMPDIR", "/tmp", 1);
    return cli_setup(state);
}

TEST_MAIN(on_disk, cli_teardown)
