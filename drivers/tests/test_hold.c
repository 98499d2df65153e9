/* test_hold: `lockbench hold` and `run --key` on real servers, beside clients that are not ours: while the command runs
 * they meet the lock under the name that `lockbench list LOCK --key` tells, and after its end the lock is free.
 * Needs: servers. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "bench/tests/cli_help.h"
#include "drivers/key_names.h"
#include "drivers/tests/live_help.h"

#define KEY "orders/7"

/* For scripts: $PORT is the server's, $SECRET its password. */
static void set_port(const struct live_place *live) {
    char port[16];
    snprintf(port, sizeof port, "%d", topo_port(live->place->topo, 0, 0));
    setenv("PORT", port, 1);
    setenv("SECRET", topo_about(live->place->topo)->secret, 1);
    topo_login(live->place->topo);
}

/* What sh prints for a script, without the newline at its end. */
static const char *ask(const struct live_place *live, const char *script) {
    static char said[4096];
    set_port(live);
    FILE *out = popen(script, "r");
    size_t len = out ? fread(said, 1, sizeof said - 1, out) : 0;
    if (out) pclose(out);
    said[len] = '\0';
    if (len > 0 && said[len - 1] == '\n') said[len - 1] = '\0';
    return said;
}

/* "lockbench hold LOCK KEY --url URL", then these words. */
static struct cli hold_on(const struct live_place *live, const char *lock,
                          const char *const *words) {
    const char *args[CLI_ARGS_MAX] = {"hold", lock, KEY, "--url", live->place->urls[0]};
    int count = 5;
    set_port(live);
    for (; words[count - 5]; count++) args[count] = words[count - 5];
    return cli_run(NULL, args);
}

/* A foreign client on a lock's server: a script, and what it prints while the lock is held and while it
 * is not. */
struct stranger {
    const char *lock, *script, *held, *free;
};

/* The script, run by `hold` as its command and then alone. */
static void meet(const struct live_place *live, const struct stranger *stranger) {
    const char *before = ask(live, stranger->script);
    if (strcmp(before, stranger->free) != 0)
        fail_msg("%s: before, the stranger says '%s'", stranger->lock, before);
    struct cli cli = hold_on(live, stranger->lock, ARGS("--", "sh", "-c", stranger->script));
    assert_code(&cli, 0);
    cli.out[strcspn(cli.out, "\n")] = '\0';
    if (strcmp(cli.out, stranger->held) != 0)
        fail_msg("%s: while it is held, the stranger says '%s', not '%s'", stranger->lock, cli.out,
                 stranger->held);
    cli_free(&cli);
    const char *after = ask(live, stranger->script);
    if (strcmp(after, stranger->free) != 0)
        fail_msg("%s: afterwards, the stranger says '%s'", stranger->lock, after);
}

static void meet_all(const char *lock, const struct stranger *strangers, int count) {
    struct live_place live = live_open(lock, NULL);
    LIVE_NEEDS(&live);
    for (int i = 0; i < count; i++) meet(&live, &strangers[i]);
    live_close(&live);
}
#define MEET(lock, ...)                                                                            \
    do {                                                                                           \
        static const struct stranger strangers[] = {__VA_ARGS__};                                  \
        meet_all(lock, strangers, sizeof strangers / sizeof *strangers);                           \
    } while (0)

/* Prints the first line, then lets go of what it may have taken. */
#define REDIS_SET "redis-cli --raw -p $PORT set " KEY " by-hand NX; "
#define REDIS_UNDO                                                                                 \
    "[ \"$(redis-cli --raw -p $PORT get " KEY                                                      \
    " 2>&1)\" = by-hand ] && redis-cli -p $PORT del " KEY " >/dev/null; :"

TEST(a_redis_client_meets_it) {
    MEET("redis-setnx", {"redis-setnx", REDIS_SET REDIS_UNDO, "", "OK"},
         {"redis-fenced", "redis-cli --raw -p $PORT type " KEY, "hash", "none"},
         {"redis-fair", "redis-cli --raw -p $PORT exists " KEY, "1", "0"},
         {"redis-segmented", "redis-cli --raw -p $PORT keys '{" KEY "}:seg:?' | grep -c seg", "1",
          "0"});
}

#define PSQL "psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c "

TEST(psql_meets_it) {
    char script[300];
    unsigned long long number = lb_key_number(KEY, strlen(KEY));
    struct stranger advisory = {.lock = "pg-advisory", .script = script, .held = "f", .free = "t"};
    struct live_place live = live_open("pg-advisory", NULL);
    LIVE_NEEDS(&live);
    /* `list` prints the number that the lock uses. */
    struct cli list = cli_run(NULL, ARGS("list", "pg-advisory", "--key", KEY));
    assert_code(&list, 0);
    snprintf(script, sizeof script, "%llu", number);
    assert_has(list.out, script);
    cli_free(&list);
    snprintf(script, sizeof script, PSQL "'select pg_try_advisory_lock(%llu)'", number);
    meet(&live, &advisory);
    advisory.lock = "pg-advisory-xact";
    meet(&live, &advisory);
    /* The row stays, since others may wait for it; so it is there from the first hold on. */
    struct cli first = hold_on(&live, "pg-row", ARGS("--", "true"));
    assert_code(&first, 0);
    cli_free(&first);
    meet(&live, &(struct stranger){.lock = "pg-row",
                                   .script = PSQL "\"select count(*) from (select 1 from "
                                                  "lockbench_row where name='" KEY
                                                  "' for update skip locked) as l\"",
                                   .held = "0",
                                   .free = "1"});
    live_close(&live);
}

/* A host of the URL that takes the connection and says nothing: the next one is tried after its share of the time. */
TEST(a_silent_first_host) {
    struct live_place live = live_open("pg-advisory", NULL);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    char url[400];
    LIVE_NEEDS(&live);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(bind(fd, (struct sockaddr *)&at, len) == 0 && listen(fd, 20) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    const char *host = strchr(live.place->urls[0], '@') + 1;
    snprintf(url, sizeof url, "%.*s127.0.0.1:%d,%s?connect_timeout=1",
             (int)(host - live.place->urls[0]), live.place->urls[0], ntohs(at.sin_port), host);
    struct cli cli = cli_run(NULL, ARGS("hold", "pg-advisory", KEY, "--url", url, "--", "true"));
    assert_code(&cli, 0);
    cli_free(&cli);
    close(fd);
    live_close(&live);
}

/* A server that closes idle connections keeps no lock of one that it closed, and a lease outlives it: it is renewed and
 * released over another one, also at the first try after a rest. */
static void rest_longer_than(const char *lock, const char *limit, const char *unlimit) {
    struct live_place live = live_open(lock, NULL);
    char option[300];
    LIVE_NEEDS(&live);
    ask(&live, limit);
    struct cli cli = hold_on(&live, lock, ARGS("--lease", "9s", "--", "sleep", "5"));
    assert_code(&cli, 0);
    assert_null(strstr(cli.err, "lost"));
    cli_free(&cli);
    snprintf(option, sizeof option, "%s=%s", live.place->server.backend->name, live.place->urls[0]);
    cli = cli_run(NULL, ARGS("run", "smoke", "--lock", lock, "--url", option, "--no-page", "--set",
                             "load.think=3s", "--set", "load.clients=2", "--set", "run.duration=8s",
                             "--out", cli_path("rest-%s", lock)));
    assert_code(&cli, 0);
    char *run = cli_read(cli_path("rest-%s/run.json", lock));
    assert_has(run, "\"unknown\": 0");
    assert_has(run, "\"broken\": 0");
    free(run);
    cli_free(&cli);
    ask(&live, unlimit);
    live_close(&live);
}

TEST(a_server_that_closes_idle_connections) {
    rest_longer_than("redis-setnx", "redis-cli -p $PORT config set timeout 1",
                     "redis-cli -p $PORT config set timeout 0");
    rest_longer_than("pg-lease",
                     PSQL "'alter system set idle_session_timeout = 1000' -c "
                          "'select pg_reload_conf()'",
                     PSQL "'alter system reset idle_session_timeout' -c 'select pg_reload_conf()'");
}

#define ETCDCTL "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT "

/* Runs the transaction by which npm's etcd3 takes a lock, prints its result, and removes the key if it was made. */
#define NPM_ETCD3                                                                                  \
    "printf 'create(\"" KEY "\") = \"0\"\\n\\nput " KEY " theirs\\n\\n\\n' | " ETCDCTL             \
    "txn | head -1; [ \"$(" ETCDCTL "get --print-value-only " KEY ")\" = theirs ] && " ETCDCTL     \
    "del " KEY " >/dev/null; :"

TEST(etcdctl_meets_it) {
    MEET("etcd-mutex",
         {"etcd-mutex", ETCDCTL "get --prefix --keys-only " KEY "/ | grep -c '^" KEY "/[0-9a-f]'",
          "1", "0"},
         /* npm's etcd3 takes its lock while ours is held: .incompatible of the lock says so. */
         {"etcd-mutex", NPM_ETCD3, "SUCCESS", "SUCCESS"},
         {"etcd-key", NPM_ETCD3, "FAILURE", "SUCCESS"},
         {"etcd-lock", ETCDCTL "get --prefix --keys-only " KEY "/ | grep -c '^" KEY "/[0-9a-f]'",
          "1", "0"});
}

/* The programs of drivers/exec/examples log in with the account of a URL, whose user and password may be escaped there. */
TEST(examples_log_in_with_an_escaped_account) {
    /* Only this account may make nodes below the lock's root. */
    static const char script[] = "/usr/bin/python3 -c \"\n"
                                 "import os\n"
                                 "from kazoo.client import KazooClient\n"
                                 "from kazoo.security import make_digest_acl\n"
                                 "zk = KazooClient('127.0.0.1:' + os.environ['PORT'])\n"
                                 "zk.start()\n"
                                 "acl = [make_digest_acl('us@er', 'p@ss+', all=True)]\n"
                                 "print(zk.create('/lockbench-exec', b'', acl=acl))\n"
                                 "zk.stop()\" && drivers/exec/examples/compile_curator.sh";
    static const char *const programs[] = {
        "exec-session.program=/usr/bin/python3 drivers/exec/examples/kazoo_lock.py",
        "exec-session.program=java @.build/exec/curator"};
    need(system("/usr/bin/python3 -c 'import kazoo' 2>/dev/null") == 0, "kazoo", "python3-kazoo");
    need(access("/usr/share/java/curator-recipes.jar", R_OK) == 0, "curator",
         "libcurator-recipes-java");
    need_program("javac", "default-jdk");
    struct live_place live = live_open("zk-lock", NULL);
    LIVE_NEEDS(&live);
    assert_string_equal(ask(&live, script), "/lockbench-exec");
    for (int i = 0; i < 2; i++) {
        char url[200], key[16];
        snprintf(key, sizeof key, "key%d", i); /* of its own: the node of a key is free for all */
        snprintf(url, sizeof url, "exec=zookeeper://us%%40er:p%%40ss+@127.0.0.1:%d",
                 topo_port(live.place->topo, 0, 0));
        struct cli cli = cli_run(NULL, ARGS("hold", "exec-session", key, "--url", url, "--set",
                                            programs[i], "--", "true"));
        assert_code(&cli, 0);
        cli_free(&cli);
    }
    live_close(&live);
}

/* A few lines over TCP by bash alone; prints the answer up to a line. */
#define SAY(lines, until)                                                                          \
    "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$PORT; printf '" lines                                   \
    "' >&3; timeout 10 sed -E '/" until "/q' <&3\""

TEST(a_memcached_client_meets_it) {
    MEET("memcached-add", {"memcached-add",
                           SAY("set login 0 0 42\\r\\nlockbench $SECRET\\r\\nget " KEY "\\r\\n",
                               "END") " | grep -c VALUE",
                           "1", "0"});
}

/* ---- what the command gets, and what becomes of it ---- */

static struct live_place redis;

static int open_redis(void **state) {
    if (cli_setup(state) != 0) return -1;
    redis = live_open("redis-setnx", NULL);
    return 0;
}

static int close_redis(void **state) {
    if (!redis.missing) live_close(&redis);
    return cli_teardown(state);
}

/* The server's key, as redis-cli prints it. */
static const char *value_of(const char *key) {
    char script[200];
    snprintf(script, sizeof script, "redis-cli --raw -p $PORT get %s", key);
    return ask(&redis, script);
}

static bool is_held(void *unused) {
    (void)unused;
    return *value_of(KEY) != '\0';
}

static bool has_file(void *path) {
    return access(path, F_OK) == 0;
}

static struct cli start_on_redis(const char *const *words) {
    const char *args[CLI_ARGS_MAX] = {"hold", "redis-setnx", KEY, "--url", redis.place->urls[0]};
    struct cli cli;
    for (int i = 0; words[i]; i++) args[5 + i] = words[i];
    cli_start(&cli, NULL, args);
    return cli;
}

/* One line of ours, with this in it; a shell may tell how its child ended. */
static void assert_says(const struct cli *cli, const char *part) {
    assert_has(cli->err, part);
    assert_int_equal(cli_problems(cli), 1);
}

TEST(the_command_sees_the_key_and_its_exit_code_is_passed_on) {
    LIVE_NEEDS(&redis);
    struct cli cli = hold_on(&redis, "redis-setnx",
                             ARGS("--lease", "7s", "--", "sh", "-c",
                                  "echo $LOCKBENCH_LOCK $LOCKBENCH_KEY $LOCKBENCH_LEASE_MS "
                                  "${LOCKBENCH_TOKEN-none} $0; exit 77",
                                  "--help"));
    assert_code(&cli, 77);
    assert_string_equal(cli.out, "redis-setnx " KEY " 7000 none --help\n");
    assert_string_equal(cli.err, "");
    cli_free(&cli);
    assert_string_equal(value_of(KEY), "");
}

TEST(the_token_grows) {
    LIVE_NEEDS(&redis);
    long token[2];
    for (int i = 0; i < 2; i++) {
        struct cli cli =
            hold_on(&redis, "redis-fenced", ARGS("--", "sh", "-c", "echo $LOCKBENCH_TOKEN"));
        assert_code(&cli, 0);
        token[i] = atol(cli.out);
        cli_free(&cli);
    }
    assert_true(token[0] > 0 && token[1] > token[0]);
}

TEST(the_command_inherits_no_connection_and_no_ignored_signal) {
    LIVE_NEEDS(&redis);
    /* ls has 0, 1, 2 and the folder that it reads. */
    struct cli cli =
        hold_on(&redis, "redis-setnx",
                ARGS("--", "sh", "-c", "ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status"));
    assert_code(&cli, 0);
    assert_has(cli.out, "4\n");
    const char *ignored = strstr(cli.out, "SigIgn:");
    assert_non_null(ignored);
    assert_int_equal(strtoull(ignored + 7, NULL, 16) & (1ull << (SIGPIPE - 1)), 0);
    cli_free(&cli);
}

TEST(a_lock_that_another_holds_is_not_granted_in_time) {
    LIVE_NEEDS(&redis);
    struct stat unused;
    char *made = cli_path("made");
    ask(&redis, "redis-cli -p $PORT set " KEY " by-hand");
    struct cli once = hold_on(&redis, "redis-setnx", ARGS("--wait", "0", "--", "touch", made));
    assert_code(&once, 124);
    assert_says(&once, "not granted in time");
    struct cli timed = hold_on(&redis, "redis-setnx", ARGS("--wait", "50ms", "--", "touch", made));
    assert_code(&timed, 124);
    assert_int_not_equal(stat(made, &unused), 0);
    /* SIGTERM ends the wait. */
    struct cli waits = start_on_redis(ARGS("--", "touch", made));
    cli_nap_ms(300);
    kill(waits.pid, SIGTERM);
    cli_wait(&waits);
    assert_true(waits.code == 130 || waits.code == CLI_KILLED + SIGTERM);
    assert_int_not_equal(stat(made, &unused), 0);
    assert_string_equal(value_of(KEY), "by-hand");
    ask(&redis, "redis-cli -p $PORT del " KEY);
    cli_free(&once);
    cli_free(&timed);
    cli_free(&waits);
}

TEST(a_lease_is_renewed_while_the_command_runs) {
    LIVE_NEEDS(&redis);
    /* Three leases long; the key is the same one all the time. */
    struct cli cli = hold_on(&redis, "redis-setnx",
                             ARGS("--lease", "2s", "--", "sh", "-c",
                                  "a=$(redis-cli --raw -p $PORT get " KEY "); sleep 6; "
                                  "b=$(redis-cli --raw -p $PORT get " KEY
                                  "); [ -n \"$a\" ] && [ \"$a\" = \"$b\" ]"));
    assert_code(&cli, 0);
    cli_free(&cli);
}

TEST(a_lost_lock_ends_the_command) {
    LIVE_NEEDS(&redis);
    char *told = cli_path("told");
    setenv("TOLD", told, 1);
    struct cli cli =
        start_on_redis(ARGS("--lease", "3s", "--", "sh", "-c",
                            "trap 'touch $TOLD; exit 5' TERM; while :; do sleep 0.05; done"));
    cli_until(&cli, is_held, NULL, "the key");
    ask(&redis, "redis-cli -p $PORT del " KEY);
    cli_wait(&cli);
    assert_code(&cli, 123);
    assert_says(&cli, "the lock is lost: the server had it no more as ours");
    assert_true(has_file(told));
    cli_free(&cli);
    /* A loss that is noticed only at the release, because the command is too fast. */
    struct cli late = hold_on(&redis, "redis-setnx",
                              ARGS("--", "sh", "-c", "redis-cli -p $PORT del " KEY " >/dev/null"));
    assert_code(&late, 123);
    assert_says(&late, "lost before the command ended");
    cli_free(&late);
}

/* Our connection ends, and the server keeps the key. */
#define CUT_OFF "redis-cli -p $PORT client kill type normal skipme yes >/dev/null"

TEST(a_lost_connection_leaves_no_key) {
    LIVE_NEEDS(&redis);
    /* The next renewals go over another one, and the command ends after the lease of the first. */
    struct cli renews = hold_on(&redis, "redis-setnx",
                                ARGS("--lease", "6s", "--", "sh", "-c", CUT_OFF "; sleep 7"));
    assert_string_equal(value_of(KEY), "");
    assert_code(&renews, 0);
    cli_free(&renews);
    struct cli releases =
        hold_on(&redis, "redis-setnx", ARGS("--lease", "60s", "--", "sh", "-c", CUT_OFF));
    assert_string_equal(value_of(KEY), "");
    assert_code(&releases, 0);
    cli_free(&releases);
}

TEST(signals_are_handed_on_and_the_lock_is_released) {
    LIVE_NEEDS(&redis);
    char *ready = cli_path("ready");
    setenv("READY", ready, 1);
    struct cli cli = start_on_redis(
        ARGS("--", "sh", "-c",
             "trap 'echo told; exit 9' TERM; touch $READY; while :; do sleep 0.05; done"));
    cli_until(&cli, has_file, ready, "the command");
    kill(cli.pid, SIGTERM);
    cli_wait(&cli);
    assert_code(&cli, 9);
    assert_string_equal(cli.out, "told\n");
    assert_string_equal(value_of(KEY), "");
    cli_free(&cli);
    /* A command that the signal ends. */
    unlink(ready);
    cli = start_on_redis(ARGS("--", "sh", "-c", "touch $READY; exec sleep 100"));
    cli_until(&cli, has_file, ready, "the command");
    kill(cli.pid, SIGTERM);
    cli_wait(&cli);
    assert_code(&cli, 128 + SIGTERM);
    assert_string_equal(value_of(KEY), "");
    cli_free(&cli);
}

TEST(the_lock_is_kept_until_all_of_the_command_has_ended) {
    LIVE_NEEDS(&redis);
    char *ready = cli_path("all-ready"), *seen = cli_path("seen");
    setenv("READY", ready, 1);
    setenv("SEEN", seen, 1);
    /* SIGTERM reaches the shell's child, too. */
    struct cli cli =
        start_on_redis(ARGS("--", "sh", "-c", "sleep 100 & echo $!; touch $READY; sleep 100; :"));
    cli_until(&cli, has_file, ready, "the command");
    kill(cli.pid, SIGTERM);
    cli_wait(&cli);
    assert_code(&cli, 128 + SIGTERM);
    assert_int_equal(kill(atoi(cli.out), 0), -1);
    assert_string_equal(value_of(KEY), "");
    cli_free(&cli);
    /* A child that outlives its shell works on under the lock. */
    cli = hold_on(&redis, "redis-setnx",
                  ARGS("--", "sh", "-c", "(sleep 1; redis-cli -p $PORT exists " KEY ") & exit 6"));
    assert_code(&cli, 6);
    assert_string_equal(cli.out, "1\n");
    assert_string_equal(value_of(KEY), "");
    cli_free(&cli);
    /* What does not end by SIGTERM is killed. */
    unlink(ready);
    cli = start_on_redis(
        ARGS("--", "sh", "-c", "trap '' TERM; touch $READY; while :; do sleep 0.1; done"));
    cli_until(&cli, has_file, ready, "the command");
    kill(cli.pid, SIGTERM);
    cli_wait(&cli);
    assert_code(&cli, 128 + SIGKILL);
    assert_says(&cli, "SIGKILL");
    assert_string_equal(value_of(KEY), "");
    cli_free(&cli);
}

/* Reads what the program shows until it has shown the text. */
static void until_shown(int terminal, const char *wanted) {
    char text[4096] = "";
    size_t used = 0;
    while (!strstr(text, wanted)) {
        ssize_t got = read(terminal, text + used, sizeof text - 1 - used);
        if (got <= 0) fail_msg("never shown: %s; but: %s", wanted, text);
        used += (size_t)got;
        text[used] = '\0';
    }
}

static void own_terminal(void *unused) {
    (void)unused;
    setsid();
    ioctl(0, TIOCSCTTY, 0);
}

/* The command reads the terminal, Ctrl-Z does not stop what no shell could go on with, and Ctrl-C reaches it. */
TEST(a_terminal_is_the_commands) {
    LIVE_NEEDS(&redis);
    int terminal, slave;
    struct cli cli;
    set_port(&redis);
    assert_int_equal(openpty(&terminal, &slave, NULL, NULL, NULL), 0);
    cli_start(&cli, &(struct cli_how){.terminal = slave, .prepare = own_terminal},
              ARGS("hold", "redis-setnx", KEY, "--url", redis.place->urls[0], "--", "sh", "-c",
                   "echo rea''dy; while read x; do echo got.$x; done"));
    close(slave);
    until_shown(terminal, "ready");
    assert_int_equal(write(terminal, "one\n", 4), 4);
    until_shown(terminal, "got.one");
    assert_int_equal(write(terminal, "\032", 1), 1);
    cli_nap_ms(100);
    assert_int_equal(write(terminal, "two\n", 4), 4);
    until_shown(terminal, "got.two");
    assert_int_equal(write(terminal, "\003", 1), 1);
    cli_wait(&cli);
    close(terminal);
    assert_code(&cli, 128 + SIGINT);
    assert_string_equal(value_of(KEY), "");
    cli_free(&cli);
}

TEST(a_command_that_cannot_run_is_said_so) {
    LIVE_NEEDS(&redis);
    struct cli none = hold_on(&redis, "redis-setnx", ARGS("--", "/no/such/command"));
    assert_code(&none, 127);
    assert_says(&none, "/no/such/command: No such file");
    struct cli folder = hold_on(&redis, "redis-setnx", ARGS("--", "/"));
    assert_code(&folder, 126);
    assert_string_equal(value_of(KEY), "");
    cli_free(&none);
    cli_free(&folder);
}

TEST(a_server_that_is_not_there_is_said_so) {
    struct cli cli = cli_run(
        NULL, ARGS("hold", "redis-setnx", KEY, "--url", "redis://127.0.0.1:1", "--", "true"));
    assert_code(&cli, 125);
    assert_says(&cli, "127.0.0.1:1");
    cli_free(&cli);
}

/* A lock that is held by its connection: nothing is renewed, but the holder still learns of the
 * loss. */
TEST(a_killed_server_ends_the_command) {
    char *ready = cli_path("ready-too");
    struct live_place live = live_open("pg-advisory", NULL);
    struct lb_err err = {0};
    struct cli cli;
    LIVE_NEEDS(&live);
    setenv("READY", ready, 1);
    cli_start(&cli, NULL,
              ARGS("hold", "pg-advisory", KEY, "--url", live.place->urls[0], "--", "sh", "-c",
                   "touch $READY; exec sleep 100"));
    cli_until(&cli, has_file, ready, "the command");
    assert_int_equal(topo_kill(live.place->topo, 0, &err), 0);
    cli_wait(&cli);
    assert_code(&cli, 123);
    assert_says(&cli, "the lock is lost");
    cli_free(&cli);
    live_close(&live);
}

/* ---- run --key ---- */

TEST(a_run_locks_exactly_the_keys_that_are_named) {
    LIVE_NEEDS(&redis);
    char url[300];
    snprintf(url, sizeof url, "redis=%s", redis.place->urls[0]);
    const char *const *args = ARGS("run", "smoke", "--lock", "redis-setnx", "--url", url, "--key",
                                   KEY, "--set", "acquire.mode=try", "--set", "load.think=1ms");
    ask(&redis, "redis-cli -p $PORT set " KEY " by-hand");
    struct cli kept_out = cli_run(NULL, args);
    assert_code(&kept_out, 2); /* a run without a grant */
    assert_string_equal(value_of(KEY), "by-hand");
    ask(&redis, "redis-cli -p $PORT del " KEY);
    struct cli alone = cli_run(NULL, args);
    assert_code(&alone, 0);
    assert_string_equal(value_of(KEY), "");
    cli_free(&kept_out);
    cli_free(&alone);
}

TEST_MAIN(open_redis, close_redis)
