/* test_taken: grants that are taken from their holders while a load runs, by a stranger on the same server: the verdict, the
 * sentence and the exit code say that, and not that the lock let two clients in.
 * Needs: servers, a minute. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"
#include "drivers/tests/live_help.h"

#define KEY "taken"

struct stranger {
    const char *lock;
    const char *script; /* run again and again beside the load; $PORT is the server's */
    const char *said;   /* in the report, beside that */
    const char *clients;
};

static pid_t start_stranger(const struct live_place *live, const char *script) {
    char port[16], loop[1200];
    snprintf(port, sizeof port, "%d", topo_port(live->place->topo, 0, 0));
    setenv("PORT", port, 1);
    setenv("SECRET", topo_about(live->place->topo)->secret, 1);
    topo_login(live->place->topo);
    snprintf(loop, sizeof loop, "while sleep 0.4; do %s; done >/dev/null 2>&1", script);
    pid_t pid = fork();
    if (pid != 0) return pid;
    setpgid(0, 0);
    execl("/bin/sh", "sh", "-c", loop, (char *)NULL);
    _exit(127);
}

static void take(const struct stranger *stranger) {
    struct live_place live = live_open(stranger->lock, NULL);
    LIVE_NEEDS(&live);
    pid_t pid = start_stranger(&live, stranger->script);
    char url[400];
    snprintf(url, sizeof url, "%s=%s", registry_lock(stranger->lock)->backend->name,
             live.place->urls[0]);
    struct cli cli =
        cli_run(NULL, ARGS("run", "contended", stranger->lock, "--url", url, "--key", KEY, "-c",
                           stranger->clients, "--hold", "50ms", "-d", "2s", "--no-page"));
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (cli.code != LB_EXIT_VIOLATED || !strstr(cli.out, stranger->said))
        fail_msg("%s: exit code %d, printed:\n%s\n%s", stranger->lock, cli.code, cli.out, cli.err);
    assert_lacks(cli.out, "not a lock here");
    if (*stranger->clients == '1') assert_has(cli.err, "grants were taken from their holders");
    live_close(&live);
}

#define REVOKED " lost grants while their lease and session lasted"
#define ENDED " lost grants because the server ended the sessions of their holders"
#define ETCDCTL "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT "
#define PSQL "psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c "
#define TELL(lines)                                                                                \
    "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$PORT; printf '" lines "' >&3; sleep 0.1\""

static const struct stranger strangers[] = {
    {"redis-setnx", "redis-cli -p $PORT set " KEY " me XX PX 150", REVOKED, "4"},
    /* One client alone would never meet another: the grant that it lost says it. */
    {"redis-setnx", "redis-cli -p $PORT del " KEY, REVOKED, "1"},
    {"redis-fenced", "redis-cli -p $PORT flushall", REVOKED, "4"},
    {"memcached-add", TELL("set login 0 0 42\\r\\nlockbench $SECRET\\r\\nflush_all\\r\\n"), REVOKED,
     "4"},
    {"etcd-key", ETCDCTL "del --prefix " KEY, REVOKED, "4"},
    {"etcd-mutex",
     "for id in $(" ETCDCTL "lease list | sed 1d); do " ETCDCTL "lease revoke $id; done", ENDED,
     "4"},
    {"pg-advisory",
     PSQL
     "\"select pg_terminate_backend(pid) from pg_locks where locktype='advisory' and granted\"",
     ENDED, "4"},
    {"mysql-getlock",
     "mariadb -h 127.0.0.1 -P $PORT -e \"execute immediate concat('kill ', is_used_lock('" KEY
     "'))\"",
     ENDED, "4"},
    {"nats-kv",
     TELL("CONNECT {\\\"user\\\":\\\"lockbench\\\",\\\"pass\\\":\\\"$SECRET\\\"}\\r\\n"
          "PUB \\$JS.API.STREAM.PURGE.KV_lockbench_10000ms 0\\r\\n\\r\\n"),
     REVOKED, "4"},
    {"zk-lock",
     "/usr/bin/python3 -c \"\n"
     "import os, time\n"
     "from kazoo.client import KazooClient\n"
     "zk = KazooClient('127.0.0.1:' + os.environ['PORT'])\n"
     "zk.start()\n"
     "while True:\n"
     "    time.sleep(0.2)\n"
     "    for node in sorted(zk.get_children('/lockbench/" KEY
     "'), key=lambda name: name[-10:])[:1]:\n"
     "        zk.delete('/lockbench/" KEY "/' + node)\"",
     REVOKED, "4"},
};

/* A test for each, so that a missing server skips its own only. */
static void grants_are_taken(void **state) {
    const struct stranger *stranger = *state;
    if (strcmp(stranger->lock, "zk-lock") == 0)
        need(system("/usr/bin/python3 -c 'import kazoo' 2>/dev/null") == 0, "kazoo",
             "python3-kazoo");
    take(stranger);
}

__attribute__((constructor)) static void register_strangers(void) {
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        unit_tests[unit_test_count++] = (struct CMUnitTest){
            strangers[i].lock, grants_are_taken, NULL, NULL, (void *)(uintptr_t)&strangers[i]};
}

/* By the rules, for longer than the run waits; a shared lock, and clients that do not wait. */
TEST(a_key_that_somebody_else_holds_is_not_stuck) {
    static const struct {
        const char *lock, *mode, *out, *err;
    } cases[] = {
        {"redis-setnx", "wait", "redis-setnx was held by somebody else", "somebody else holds"},
        {"redis-rwlock", "wait", "redis-rwlock was held by somebody else", "somebody else holds"},
        {"redis-setnx", "try", "no request of the measured window was granted",
         "was granted: somebody else holds the key"},
    };
    struct live_place live = live_open("redis-setnx", NULL);
    LIVE_NEEDS(&live);
    char url[400], script[1000], mode[40];
    snprintf(url, sizeof url, "redis=%s", live.place->urls[0]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(script, sizeof script,
                 "\"$LOCKBENCH_PROGRAM\" run smoke --lock %s --key " KEY
                 " --url '%s' -c 1 --hold 60s -d 60s"
                 " --set acquire.lease=60s --no-page --quiet",
                 cases[i].lock, url);
        snprintf(mode, sizeof mode, "acquire.mode=%s", cases[i].mode);
        pid_t pid = start_stranger(&live, script);
        cli_nap_ms(1000);
        struct cli cli =
            cli_run(NULL, ARGS("run", "contended", cases[i].lock, "--url", url, "--key", KEY, "-c",
                               "4", "-d", "1s", "--no-page", "--set", "load.think=10ms", "--set",
                               "run.drain=5s", "--set", "acquire.lease=1s", "--set", mode));
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
        print_message("%s, %s\n", cases[i].lock, cases[i].mode);
        assert_code(&cli, LB_EXIT_MACHINE);
        assert_has(cli.out, cases[i].out);
        assert_has(cli.err, cases[i].err);
        assert_lacks(cli.err, "stuck:");
        assert_int_equal(system("redis-cli -p $PORT flushall >/dev/null"), 0); /* its lease lasts */
    }
    live_close(&live);
}

TEST_MAIN(cli_setup, cli_teardown)
