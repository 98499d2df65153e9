/* test_clean_names: what a guest on a server may touch, and what it removes: its own names only, the keys that people
 * named, names behind a prefix, and what is left of a stage.
 * Needs: servers. */
#define _GNU_SOURCE
#include "drivers/clean.h"
#include "drivers/tests/clean_help.h"

TEST(a_table_and_a_sequence_of_other_people_are_not_used) {
    struct live_place live = live_open("pg-advisory", NULL);
    LIVE_NEEDS(&live);
    free(shell(&live, "psql -q $URL -c 'create sequence lockbench_fence'"));
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "pg-row", "--url",
                                        backend_url("postgres", &live), "--out", cli_path("mine")));
    assert_true(cli.code != 0);
    assert_has(cli.err, "SEQUENCE lockbench_fence that lockbench did not make");
    cli_free(&cli);
    char *used =
        shell(&live, "psql -XAtq $URL -c 'select last_value, is_called from lockbench_fence'");
    assert_string_equal(used, "1|f\n");
    free(used);
    clean_url(backend_url("postgres", &live));
    used = shell(&live, "psql -XAtq $URL -c \"select relname from pg_class where relname like "
                        "'lockbench%'\"");
    assert_string_equal(used, "lockbench_fence\n");
    free(used);
    live_close(&live);
}

/* Tables of lockbench's names and with its mark that another version, or somebody, made or changed. The last one is as it
 * must be. */
TEST(a_table_that_is_not_as_a_lock_of_mariadb_needs_it_is_refused) {
    static const struct {
        const char *lock, *table, *differs; /* "" = taken */
    } cases[] = {
        {"mysql-row", "row (name varbinary(1024) primary key) engine=Aria", "it is Aria: "},
        {"mysql-lease", "lease (name varbinary(1024) primary key)", "owner varchar(64), fence"},
        {"mysql-lease",
         "lease (name varbinary(1024) not null, owner varchar(64), fence bigint, expire_at datetime(6))",
         "it is InnoDB: name varbinary(1024), owner"},
        {"mysql-flag", "flag (name varbinary(1024) primary key, locked int, owner varchar(64))",
         "locked int(11)"},
        {"mysql-flag", "flag (name varbinary(1024) primary key, locked boolean, owner varchar(64))",
         ""},
    };
    struct live_place live = live_open("mysql-getlock", NULL);
    LIVE_NEEDS(&live);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("TABLE", cases[i].table, 1);
        free(shell(&live,
                   "mariadb --no-defaults --protocol=tcp -h 127.0.0.1 -P $PORT -u root -e \""
                   "drop database if exists lockbench; create database lockbench; grant all on "
                   "lockbench.* to lockbench@'127.0.0.1'; create table lockbench.lockbench_$TABLE "
                   "comment='" LB_MADE_BY "'\" 2>&1"));
        struct cli cli = cli_run(NULL, ARGS("hold", cases[i].lock, "k", "--url",
                                            backend_url("mariadb", &live), "--", "echo", "held"));
        assert_true(*cases[i].differs ? cli.code != 0 : cli.code == 0);
        if (*cases[i].differs) assert_has(cli.err, "is not as this lockbench makes it");
        if (*cases[i].differs) assert_has(cli.err, cases[i].differs);
        cli_free(&cli);
    }
    live_close(&live);
}

/* Its name is a key that people named, of the lock that counts up sequences. */
TEST(a_sequence_of_other_people_is_not_counted_up) {
    struct live_place live = live_open("pg-advisory", NULL);
    LIVE_NEEDS(&live);
    free(shell(&live, "psql -q $URL -c 'create sequence orders'"));
    const char *url = backend_url("postgres", &live);
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "pg-sequence", "--url", url,
                                        "--key", "orders", "--out", cli_path("orders")));
    assert_true(cli.code != 0);
    assert_has(cli.err, "SEQUENCE orders that lockbench did not make");
    cli_free(&cli);
    cli = cli_run(NULL, ARGS("clean", "--url", url, "--key", "orders"));
    assert_code(&cli, 0);
    cli_free(&cli);
    char *used = shell(&live, "psql -XAtq $URL -c 'select last_value, is_called from orders'");
    assert_string_equal(used, "1|f\n");
    free(used);
    live_close(&live);
}

TEST(a_key_that_people_named_is_removed_by_its_name) {
    static const struct {
        const char *lock, *backend, *keep, *list;
        int removed;
        const char *left;
    } named[] = {
        {"redis-setnx", "redis",
         "redis-cli -p $PORT mset orders/7 1 '{orders/7}:guarded' 2 orders/77 3",
         "redis-cli -p $PORT --scan", 2, "orders/77\n"},
        {"etcd-mutex", "etcd",
         "E='etcdctl --endpoints=127.0.0.1:'$PORT; export ETCDCTL_API=3; $E put orders/7/12ab 1; "
         "$E put orders/7 1; $E put orders/77 1",
         "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT get --prefix --keys-only '' | grep .",
         2, "orders/77\n"},
        {"pg-sequence", "postgres",
         "psql -q $URL -c 'create table lockbench_version (name text); create sequence \"orders/7\"; "
         "create sequence \"orders/77\"' -c \"insert into lockbench_version values ('orders/7'); "
         "comment on table lockbench_version is 'made by lockbench'; "
         "comment on sequence \\\"orders/7\\\" is 'made by lockbench'; "
         "comment on sequence \\\"orders/77\\\" is 'made by lockbench'\"",
         "psql -XAtq $URL -c \"select relname from pg_class where relkind = 'S'\"", 2,
         "orders/77\n"},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct live_place live = live_open(named[i].lock, NULL);
        LIVE_NEEDS(&live);
        free(shell(&live, named[i].keep));
        struct cli cli = cli_run(NULL, ARGS("clean", "--url", backend_url(named[i].backend, &live),
                                            "--key", "orders/7", "--dry-run"));
        assert_code(&cli, 0);
        assert_int_equal(cli_lines(cli.out), named[i].removed);
        cli_free(&cli);
        cli = cli_run(NULL, ARGS("clean", "--url", backend_url(named[i].backend, &live), "--key",
                                 "orders/7"));
        assert_code(&cli, 0);
        assert_int_equal(cli_lines(cli.out), named[i].removed);
        cli_free(&cli);
        char *left = shell(&live, named[i].list);
        assert_string_equal(left, named[i].left);
        free(left);
        live_close(&live);
    }
}

/* ---- an account that may use some names only ---- */

TEST(a_tenant_uses_names_with_its_prefix) {
    struct live_place live = live_open("redis-setnx", NULL);
    LIVE_NEEDS(&live);
    free(shell(&live, "redis-cli -p $PORT acl setuser tenant on '>pass' '~team1:*' '+@all'"));
    char url[300];
    snprintf(url, sizeof url, "redis=redis://tenant:pass@127.0.0.1:%d",
             topo_port(live.place->topo, 0, 0));
    /* Without the prefix the server refuses each key. */
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx", "--url", url,
                                        "--out", cli_path("no-prefix")));
    assert_true(cli.code != 0);
    cli_free(&cli);
    cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx", "--url", url, "--set",
                             "load.key_prefix=team1:", "--out", cli_path("prefix")));
    assert_code(&cli, 0);
    assert_has(cli.err, "team1:lockbench-XXXXXXXX-N");
    assert_lacks(cli.err, "left on ");
    cli_free(&cli);
    cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-fair", "--url", url, "--set",
                             "load.key_prefix=team1:", "--out", cli_path("other-names")));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "redis-fair: load.key_prefix = team1: can't be kept");
    cli_free(&cli);
    live_close(&live);
}

/* etcd lists keys by their beginning, so clean is told it. */
TEST(keys_behind_a_prefix_are_found_on_etcd) {
    struct live_place live = live_open("etcd-mutex", NULL);
    LIVE_NEEDS(&live);
    free(shell(&live, "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT put "
                      "team1/lockbench-01234567-0 1"));
    struct cli cli =
        cli_run(NULL, ARGS("clean", "--url", backend_url("etcd", &live), "--key-prefix", "team1/"));
    assert_code(&cli, 0);
    assert_has(cli.out, "key team1/lockbench-01234567-0: removed");
    cli_free(&cli);
    live_close(&live);
}

/* ---- many keys ---- */

/* More keys than could be prepared one by one in the time that clients have to connect. */
TEST(many_keys_are_made_ready_and_removed) {
    static const struct {
        const char *lock, *backend, *run, *workload, *list, *left;
    } many[] = {
        {"pg-advisory", "postgres", "pg-row,pg-optimistic", "smoke",
         "psql -XAtq $URL -c \"select count(*) from pg_class where relname like 'lockbench%'\"",
         "0\n"},
        {"mysql-getlock", "mariadb", "mysql-row,mysql-optimistic", "smoke",
         "mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u root -e 'show "
         "databases' | grep -c lockbench",
         "0\n"},
        {"redis-setnx", "redis", "redis-semaphore,redis-permit", "semaphore",
         "redis-cli -p $PORT dbsize", "0\n"},
    };
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        struct live_place live = live_open(many[i].lock, NULL);
        LIVE_NEEDS(&live);
        struct cli cli =
            cli_run(NULL, ARGS("run", many[i].workload, "--lock", many[i].run, "--url",
                               backend_url(many[i].backend, &live), "--set", "load.keys=200000",
                               "--set", "load.clients=2", "--set", "run.duration=200ms",
                               "--no-page", "--out", cli_path("many-%s", many[i].backend)));
        assert_code(&cli, 0);
        assert_lacks(cli.err, "left on ");
        cli_free(&cli);
        char *left = shell(&live, many[i].list);
        assert_string_equal(left, many[i].left);
        free(left);
        live_close(&live);
    }
}

/* ---- what a server is asked when a stage has ended ---- */

/* How often the server has been asked to SCAN. */
static char *scans_of(const struct live_place *live) {
    return shell(live, "redis-cli -p $PORT info commandstats | grep -c cmdstat_scan");
}

TEST(a_guest_asks_for_its_own_names_only) {
    struct live_place live = live_open("redis-setnx", NULL);
    LIVE_NEEDS(&live);
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-fair", "--url",
                                        backend_url("redis", &live), "--out", cli_path("asks")));
    assert_code(&cli, 0);
    cli_free(&cli);
    char *said = scans_of(&live);
    assert_string_equal(said, "0\n");
    free(said);
    live_close(&live);
}

/* Asks a lock for the residue of two keys, of which only the second one has left something. */
static void look_for_left(void *arg) {
    const struct live_place *live = arg;
    const struct lb_own_keys own = {.count = 2, .bound = 3};
    for (int i = 0; i < live->plan->lock_count; i++) {
        struct lb_residue left = {0};
        struct lb_err err = {0};
        struct live_client client;
        live_come_as(&client, live, i, "unused");
        client.session.only = &own;
        const struct lb_lock *lock = client.session.lock;
        CHECK(lock->algorithm->residue(&client.session, "lockbench-00000000-", &left, &err) == 0,
              "%s", err.text);
        CHECK(left.count == 1, "%s: %llu are left", lock->name, (unsigned long long)left.count);
        live_client_done(&client);
    }
}

TEST(what_is_left_of_own_names_is_found) {
    static const struct {
        const char *lock, *keep;
    } left[] = {
        {"redis-setnx", "redis-cli -p $PORT mset lockbench-00000000-1 1 lockbench-00000000-2 1"},
        {"redis-fair", "redis-cli -p $PORT mset 'redisson_lock_queue:{lockbench-00000000-1}' 1"},
        {"redis-permit", "redis-cli -p $PORT set '{lockbench-00000000-1}:timeout' 1"},
        {"redis-segmented", "redis-cli -p $PORT set '{lockbench-00000000-1}:seg:2' 1"},
        {"memcached-add", MEMCACHED("set lockbench-00000000-1 0 9 1\\r\\n1\\r\\n", "STORED")},
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        struct live_place live = live_open(left[i].lock, NULL);
        LIVE_NEEDS(&live);
        free(shell(&live, left[i].keep));
        live_run(look_for_left, &live);
        live_close(&live);
    }
}

/* The segments of a stage's key that are left, as the lock counts them on the whole server. */
static int segments_left(struct live_client *client) {
    struct lb_residue left = {0};
    struct lb_err err = {0};
    CHECK(client->session.lock->algorithm->residue(&client->session, "lockbench-00000000-", &left,
                                                   &err) == 0,
          "%s", err.text);
    return (int)left.count;
}

/* All segments of the second one of two keys are held, and nobody releases them. */
static void clear_segments(void *arg) {
    enum { SEGMENTS = 24 };
    struct live_client client;
    struct lb_err err = {0};
    struct lb_cleaning cleaning = {
        .scope = LB_CLEAN_STAGE, .name = "lockbench-00000000-", .count = 2, .bound = SEGMENTS};
    live_come(&client, arg, "lockbench-00000000-1");
    client.request.bound = SEGMENTS;
    client.request.lease_ns = 600 * LB_S_NS;
    for (int i = 0; i < SEGMENTS; i++)
        CHECK(live_acquire(&client, 0) == LB_OK, "%s", client.session.err.text);
    CHECK(segments_left(&client) == SEGMENTS, "%d are held", segments_left(&client));
    int failed = client.session.lock->backend->connector->clean(&client.session, &cleaning, &err);
    CHECK(failed == 0, "%s", err.text);
    CHECK(segments_left(&client) == 0, "%d are left", segments_left(&client));
    live_client_done(&client);
}

TEST(all_segments_of_a_stage_are_removed) {
    static const char *const at[] = {"redis", "redis-cluster"};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct live_place live = live_open_at(at[i], "redis-segmented", NULL);
        LIVE_NEEDS(&live);
        live_run(clear_segments, &live);
        live_close(&live);
    }
}

/* Its tables would be gone, and all that it then measures wrong. */
TEST(a_run_that_goes_on_is_not_cleaned_away) {
    struct live_place live = live_open("pg-advisory", NULL);
    LIVE_NEEDS(&live);
    const char *url = backend_url("postgres", &live);
    struct cli run;
    cli_start(&run, NULL,
              ARGS("run", "smoke", "--lock", "pg-lease", "--url", url, "--set", "load.clients=2",
                   "--set", "run.duration=10m", "--no-page", "--out", cli_path("goes-on")));
    cli_until(&run, cli_has_second, cli_path("goes-on/000-pg-lease-c2-r0.hlog"), "a first second");
    struct cli cli = cli_run(NULL, ARGS("clean", "--url", url));
    assert_code(&cli, LB_EXIT_MACHINE);
    assert_has(cli.err, "postgres: sessions of lockbench that work on this server: ");
    cli_free(&cli);
    kill(run.pid, SIGINT);
    cli_wait(&run);
    assert_code(&run, 130);
    cli_free(&run);
    clean_url(url);
    live_close(&live);
}

TEST_MAIN(cli_setup, cli_teardown)
