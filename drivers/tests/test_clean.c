/* test_clean: whatever way a run at --url ends, `lockbench clean` afterwards leaves the server with exactly
 * what it held before, things of other people with similar names among it; a run that could tidy up itself
 * needs no clean. RANDOM_KILLS=50 ends so many runs of each backend, at random moments.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"
#include "drivers/tests/live_help.h"

#define KILLS 3        /* the first run is whole, the others get SIGKILL and Ctrl-C in turn */
#define LATEST_MS 2500 /* after its start a run is ended */
#define QUIET_S 10     /* for sessions of killed clients to end */

/* A server, what others keep there, and how to list all that it holds. */
struct guest_case {
    const char *lock; /* whose server is started */
    const char *backend;
    const char *locks; /* of the runs */
    const char *workload;
    const char *keep; /* a script that makes things of other people's */
    const char *list; /* a script that lists everything */
};

/* Speaks to the server's port by hand: sends these lines and prints the answer of one second. */
#define TALK(lines)                                                                                \
    "exec 3<>/dev/tcp/127.0.0.1/$PORT; printf '" lines "' >&3; timeout 1 cat <&3 | tr -d '\\r'"

static const struct guest_case cases[] = {
    {"redis-setnx", "redis", "redis-setnx,redis-fenced,redis-fair", "contended",
     "redis-cli -p $PORT mset lockbench-mine 1 orders/7 2 lockbench-1234567-0 3 "
     "'redisson_lock_token:{orders}' 4",
     "redis-cli -p $PORT --scan | sort"},
    {"redis-setnx", "redis", "redis-semaphore,redis-permit", "semaphore",
     "redis-cli -p $PORT set '{orders}:timeout' 1", "redis-cli -p $PORT --scan | sort"},
    {"etcd-mutex", "etcd", "etcd-mutex,etcd-chubby", "contended",
     "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT put lockbench-mine 1; "
     "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT put chubby/mine 1",
     "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT get --prefix --keys-only ''; "
     "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT lease list"},
    {"pg-advisory", "postgres", "pg-row,pg-lease,pg-table,pg-optimistic", "guarded-update",
     "psql -q $URL -c 'create table lockbench_mine (name text); create table other (name text); "
     "create sequence lockbench_seq'",
     "psql -XAtq $URL -c \"select relkind, relname from pg_class where relnamespace = "
     "'public'::regnamespace order by 1, 2\""},
    {"mysql-getlock", "mariadb", "mysql-row,mysql-lease,mysql-getlock", "contended",
     "mariadb --no-defaults --protocol=tcp -h 127.0.0.1 -P $PORT -u root -e "
     "'create database mine; create table mine.lockbench_row (name int)'",
     "mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u root -e "
     "'show databases; select table_schema, table_name from information_schema.tables "
     "where table_schema not in (\"information_schema\", \"sys\", \"mysql\")'"},
    {"zk-lock", "zookeeper", "zk-lock,zk-recipe,zk-semaphore", "contended", ":",
     TALK("mntr") " | grep -e znode_count -e ephemerals_count"},
    {
        "nats-kv",
        "nats",
        "nats-kv",
        "contended",
        TALK(
            "CONNECT {\"verbose\":false,\"user\":\"lockbench\",\"pass\":\"'$SECRET'\"}\\r\\nSUB me 1\\r\\nPUB $JS.API.STREAM.CREATE.KV_lockbench_mine "
            "me 64\\r\\n{\"name\":\"KV_lockbench_mine\",\"subjects\":[\"$KV.lockbench_mine.>\"]}\\r\\n"),
        TALK(
            "CONNECT {\"verbose\":false,\"user\":\"lockbench\",\"pass\":\"'$SECRET'\"}\\r\\nSUB me 1\\r\\nPUB $JS.API.STREAM.NAMES me 0\\r\\n\\r\\n") " | grep -o '\"streams\":.*'",
    },
    /* Of what it can't list, all must have an end of its own. */
    {"memcached-add", "memcached", "memcached-add", "contended",
     TALK("set mine 0 0 1\\r\\n1\\r\\n"),
     TALK("lru_crawler metadump all\\r\\n") " | grep exp=-1 | grep -o 'key=[^ ]*'"},
};

static unsigned long long dice = 0x9e3779b97f4a7c15u;

/* A number below the limit. */
static int roll(int limit) {
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (int)(dice % (unsigned long long)limit);
}

/* What bash prints for a script that knows the server's $PORT and $URL. To be freed. */
static char *shell(const struct live_place *live, const char *script) {
    char port[16];
    static char room[1 << 16];
    snprintf(port, sizeof port, "%d", topo_port(live->place->topo, 0, 0));
    setenv("PORT", port, 1);
    setenv("URL", live->place->urls[0], 1);
    setenv("SECRET", topo_about(live->place->topo)->secret, 1);
    topo_login(live->place->topo);
    setenv("SCRIPT", script, 1);
    FILE *out = popen("bash -c \"$SCRIPT\" 2>&1", "r");
    assert_non_null(out);
    size_t len = fread(room, 1, sizeof room - 1, out);
    pclose(out);
    room[len] = '\0';
    return strdup(room);
}

static char *backend_url(const struct guest_case *at, const struct live_place *live) {
    static char text[600];
    snprintf(text, sizeof text, "%s=%s", at->backend, live->place->urls[0]);
    return text;
}

/* The janitor says it, a moment after the program has ended. */
static bool is_told(void *path) {
    char *text = cli_read(path);
    bool told = strstr(text, "left on ") && strstr(text, "`lockbench clean --url ");
    free(text);
    return told;
}

static bool waits_to_be_told(struct cli *cli) {
    int64_t until_ns = lb_now() + QUIET_S * LB_S_NS;
    while (!is_told(cli->err_path) && lb_now() < until_ns) cli_nap_ms(5);
    return is_told(cli->err_path);
}

/* Whether what keys share stays, and is told: another run's keys could not be told from this one's. */
static bool stays(const struct guest_case *at) {
    return strcmp(at->backend, "nats") == 0;
}

/* Runs until a random moment, and ends it by the signal; 0: lets it end by itself. *ret_told: what it left
 * was told, with the command that removes it. */
static int run_and_end(const struct guest_case *at, const struct live_place *live, int signal,
                       bool *ret_told) {
    int after_ms = signal ? 50 + roll(LATEST_MS) : 0;
    struct cli cli;
    char *out = cli_path("run");
    cli_start(&cli, NULL,
              ARGS("run", at->workload, "--lock", at->locks, "--url", backend_url(at, live),
                   "--set", "run.duration=300ms", "--set", "run.warmup=50ms", "--set",
                   "load.clients=4", "--set", "check.store=backend", "--no-page", "--out", out));
    int64_t until_ns = lb_now() + after_ms * LB_MS_NS;
    while (lb_now() < until_ns) cli_nap_ms(2);
    if (signal) kill(cli.pid, signal);
    cli_wait(&cli);
    bool began = strstr(cli.err, ": will be made there: ") != NULL;
    bool cut_off = cli.code == CLI_KILLED + SIGKILL && began;
    *ret_told = cut_off && waits_to_be_told(&cli);
    if (!signal) assert_code(&cli, 0);
    if (!signal) assert_true(began);
    if (!signal && stays(at)) assert_has(cli.err, "left on ");
    cli_free(&cli);
    folder_remove(out);
    return after_ms;
}

static void clean_up(const struct guest_case *at, const struct live_place *live) {
    struct cli cli = cli_run(NULL, ARGS("clean", "--url", backend_url(at, live)));
    assert_code(&cli, 0);
    cli_free(&cli);
}

/* Fails unless the server holds that, or will soon: it notices the end of a killed client in its own
 * time. */
static void assert_holds(const struct guest_case *at, const struct live_place *live,
                         const char *before, const char *what) {
    int64_t until_ns = lb_now() + QUIET_S * LB_S_NS;
    char *now = shell(live, at->list);
    while (strcmp(now, before) != 0 && lb_now() < until_ns) {
        free(now);
        cli_nap_ms(200);
        now = shell(live, at->list);
    }
    if (strcmp(now, before) != 0)
        fail_msg("%s, %s: the server held\n%s\nand holds\n%s", at->backend, what, before, now);
    free(now);
}

static void end_runs_of(const struct guest_case *at) {
    static const char *const no_sets[] = {NULL};
    const char *wish = getenv("RANDOM_KILLS");
    int kills = wish ? atoi(wish) : KILLS;
    struct live_place live = live_open(at->lock, no_sets);
    LIVE_NEEDS(&live);
    clean_up(at, &live); /* what made the server ready for this test */
    free(shell(&live, at->keep));
    char *before = shell(&live, at->list);
    assert_true(strlen(before) > 0);
    for (int i = 0; i < kills; i++) {
        char what[80];
        int signal = i == 0 ? 0 : i % 2 ? SIGKILL : SIGINT;
        bool told = false;
        int after_ms = run_and_end(at, &live, signal, &told);
        if (told || stays(at)) clean_up(at, &live); /* all others tidy up themselves */
        snprintf(what, sizeof what, "ended by signal %d after %d ms", signal, after_ms);
        assert_holds(at, &live, before, what);
    }
    free(before);
    live_close(&live);
}

static void end_runs_on(const char *backend) {
    dice ^= (unsigned long long)lb_now();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].backend, backend) == 0) end_runs_of(&cases[i]);
    }
}

TEST(redis_holds_what_it_held_before) {
    end_runs_on("redis");
}

TEST(etcd_holds_what_it_held_before) {
    end_runs_on("etcd");
}

TEST(postgres_holds_what_it_held_before) {
    end_runs_on("postgres");
}

TEST(mariadb_holds_what_it_held_before) {
    end_runs_on("mariadb");
}

TEST(zookeeper_holds_what_it_held_before) {
    end_runs_on("zookeeper");
}

TEST(nats_holds_what_it_held_before) {
    end_runs_on("nats");
}

TEST(memcached_holds_what_it_held_before) {
    end_runs_on("memcached");
}

/* ---- what people own ---- */

TEST(a_table_and_a_sequence_of_other_people_are_not_used) {
    static const char *const no_sets[] = {NULL};
    struct live_place live = live_open("pg-advisory", no_sets);
    LIVE_NEEDS(&live);
    const struct guest_case postgres = {.backend = "postgres"};
    free(shell(&live, "psql -q $URL -c 'create sequence lockbench_fence'"));
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "pg-row", "--url",
                                        backend_url(&postgres, &live), "--out", cli_path("mine")));
    assert_true(cli.code != 0);
    assert_has(cli.err, "SEQUENCE lockbench_fence that lockbench did not make");
    cli_free(&cli);
    char *used =
        shell(&live, "psql -XAtq $URL -c 'select last_value, is_called from lockbench_fence'");
    assert_string_equal(used, "1|f\n");
    free(used);
    clean_up(&postgres, &live);
    used = shell(&live, "psql -XAtq $URL -c \"select relname from pg_class where relname like "
                        "'lockbench%'\"");
    assert_string_equal(used, "lockbench_fence\n");
    free(used);
    live_close(&live);
}

TEST(a_key_that_people_named_is_removed_by_its_name) {
    static const char *const no_sets[] = {NULL};
    static const struct {
        const char *lock, *backend, *keep, *list;
    } named[] = {
        {"redis-setnx", "redis",
         "redis-cli -p $PORT mset orders/7 1 '{orders/7}:guarded' 2 orders/77 3",
         "redis-cli -p $PORT --scan"},
        {"etcd-mutex", "etcd",
         "E='etcdctl --endpoints=127.0.0.1:'$PORT; export ETCDCTL_API=3; $E put orders/7/12ab 1; "
         "$E put orders/7:guarded 1; $E put orders/77 1",
         "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT get --prefix --keys-only '' | grep ."},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const struct guest_case at = {.backend = named[i].backend};
        struct live_place live = live_open(named[i].lock, no_sets);
        LIVE_NEEDS(&live);
        free(shell(&live, named[i].keep));
        struct cli cli = cli_run(NULL, ARGS("clean", "--url", backend_url(&at, &live), "--key",
                                            "orders/7", "--dry-run"));
        assert_code(&cli, 0);
        assert_int_equal(cli_lines(cli.out), 2);
        cli_free(&cli);
        cli = cli_run(NULL, ARGS("clean", "--url", backend_url(&at, &live), "--key", "orders/7"));
        assert_code(&cli, 0);
        assert_int_equal(cli_lines(cli.out), 2);
        cli_free(&cli);
        char *left = shell(&live, named[i].list);
        assert_string_equal(left, "orders/77\n");
        free(left);
        live_close(&live);
    }
}

/* ---- an account that may use some names only ---- */

TEST(a_tenant_uses_names_with_its_prefix) {
    static const char *const no_sets[] = {NULL};
    struct live_place live = live_open("redis-setnx", no_sets);
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
    static const char *const no_sets[] = {NULL};
    const struct guest_case at = {.backend = "etcd"};
    struct live_place live = live_open("etcd-mutex", no_sets);
    LIVE_NEEDS(&live);
    free(shell(&live, "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT put "
                      "team1/lockbench-01234567-0:guarded 1"));
    struct cli cli =
        cli_run(NULL, ARGS("clean", "--url", backend_url(&at, &live), "--key-prefix", "team1/"));
    assert_code(&cli, 0);
    assert_has(cli.out, "key team1/lockbench-01234567-0:guarded: removed");
    cli_free(&cli);
    live_close(&live);
}

/* ---- many keys ---- */

/* More than could be made ready one by one in the time that clients have to connect. */
TEST(many_keys_are_made_ready_and_removed) {
    static const char *const no_sets[] = {NULL};
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
        const struct guest_case at = {.backend = many[i].backend};
        struct live_place live = live_open(many[i].lock, no_sets);
        LIVE_NEEDS(&live);
        struct cli cli =
            cli_run(NULL, ARGS("run", many[i].workload, "--lock", many[i].run, "--url",
                               backend_url(&at, &live), "--set", "load.keys=200000", "--set",
                               "load.clients=2", "--set", "run.duration=200ms", "--no-page",
                               "--out", cli_path("many-%s", many[i].backend)));
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
    static const char *const no_sets[] = {NULL};
    const struct guest_case at = {.backend = "redis"};
    struct live_place live = live_open("redis-setnx", no_sets);
    LIVE_NEEDS(&live);
    const char *const residue[] = {"check.residue=names", "check.residue=scan"};
    const char *const scans[] = {"0\n", "1\n"};
    for (int i = 0; i < 2; i++) {
        struct cli cli =
            cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-fair", "--set", residue[i], "--url",
                               backend_url(&at, &live), "--out", cli_path("asks-%d", i)));
        assert_code(&cli, 0);
        cli_free(&cli);
        char *said = scans_of(&live);
        assert_string_equal(said, scans[i]);
        free(said);
    }
    live_close(&live);
}

/* Asks a lock what is left of two keys, of which the second has something. */
static void look_for_left(void *arg) {
    const struct live_place *live = arg;
    const struct lb_own_keys own = {.count = 2, .bound = 3};
    for (int i = 0; i < live->plan->lock_count; i++) {
        struct lb_residue left = {0};
        struct lb_err err = {0};
        struct live_client client;
        live_client_init_as(&client, live, i, "unused");
        live_connect(&client);
        client.session.only = &own;
        const struct lb_lock *lock = client.session.lock;
        CHECK(lock->algorithm->residue(&client.session, "lockbench-00000000-", &left, &err) == 0,
              "%s", err.text);
        CHECK(left.count == 1, "%s: %llu are left", lock->name, (unsigned long long)left.count);
        live_client_done(&client);
    }
}

TEST(what_is_left_of_own_names_is_found) {
    static const char *const no_sets[] = {NULL};
    static const struct {
        const char *lock, *keep;
    } left[] = {
        {"redis-setnx", "redis-cli -p $PORT mset lockbench-00000000-1 1 lockbench-00000000-2 1"},
        {"redis-fair", "redis-cli -p $PORT mset 'redisson_lock_queue:{lockbench-00000000-1}' 1"},
        {"redis-permit", "redis-cli -p $PORT set '{lockbench-00000000-1}:timeout' 1"},
        {"redis-segmented", "redis-cli -p $PORT set '{lockbench-00000000-1}:seg:2' 1"},
        {"memcached-add", TALK("set lockbench-00000000-1 0 9 1\r\n1\r\n")},
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        struct live_place live = live_open(left[i].lock, no_sets);
        LIVE_NEEDS(&live);
        free(shell(&live, left[i].keep));
        live_run(look_for_left, &live);
        live_close(&live);
    }
}

TEST(a_server_must_be_named) {
    struct cli cli = cli_run(NULL, ARGS("clean"));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "which server?");
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
