/* Acts on real servers by the servers' own means, ends of servers, and starts with empty data, each
 * with its sign that it took effect. A server that is not installed is skipped loudly, and is a
 * failure where CI is set.
 * Needs: servers, a minute. */
#include <sys/resource.h>

#include "bench/tests/acts_help.h"

/* --- ends --- */

/* A server that was killed on purpose is not reported as an accident; it comes back on its port,
 * and without its data if that was removed. */
static void killed_on_purpose(const char *name) {
    struct topo *topo = started(name, (struct topo_ask){0});
    struct lb_err err = {0};
    char marker[700];
    int port = topo_port(topo, 0, 0);
    for (int wiped = 0; wiped < 2; wiped++) {
        pid_t pid = topo_pid(topo, 0);
        snprintf(marker, sizeof marker, "%s/marker", topo_dir(topo, 0));
        fclose(fopen(marker, "w"));
        assert_int_equal(topo_wipe(topo, 0, &err), -1); /* it runs */
        err = (struct lb_err){0};
        if (wiped) topo_signal(topo, 0, SIGSTOP); /* a stopped one, too */
        must(topo_kill(topo, 0, &err), &err);
        assert_true(topo_killed(topo, 0));
        assert_int_equal(topo_pid(topo, 0), 0);
        assert_int_equal(kill(pid, 0), -1);
        assert_true(help_connect(port) < 0);
        assert_int_equal(topo_check(topo, &err), 0);
        must(topo_kill(topo, 0, &err), &err); /* again: nothing */
        if (wiped) must(topo_wipe(topo, 0, &err), &err);
        must(topo_restart(topo, 0, &err), &err);
        assert_false(topo_killed(topo, 0));
        until_ready(topo);
        assert_int_equal(topo_port(topo, 0, 0), port);
        assert_true(topo_open(topo, 0));
        assert_int_equal(access(marker, F_OK), wiped ? -1 : 0);
        snprintf(marker, sizeof marker, "%s.log", topo_dir(topo, 0));
        assert_int_equal(access(marker, F_OK), 0);
    }
    /* If the server ends by itself afterwards, that is an accident again. */
    topo_signal(topo, 0, SIGKILL);
    for (int i = 0; i < 1000 && topo_check(topo, NULL) == 0; i++) help_nap_ms(5);
    assert_int_equal(topo_check(topo, &err), -1);
    err = (struct lb_err){0};
    assert_int_equal(topo_kill(topo, 0, &err), -1);
    assert_non_null(strstr(err.text, "has ended by itself"));
    topo_stop(topo);
}

#define KILLED(name)                                                                               \
    TEST(name##_is_killed_on_purpose) {                                                            \
        killed_on_purpose(#name);                                                                  \
    }
KILLED(redis)
KILLED(memcached)
KILLED(etcd)
KILLED(nats)
KILLED(zookeeper)
KILLED(postgres)
KILLED(mariadb)

/* --- acts --- */

/* Where no pipe can be had the act fails, and no descriptor of anybody else is closed. */
TEST(an_act_without_a_descriptor_fails) {
    struct topo *topo = started("redis", (struct topo_ask){0});
    struct lb_err err = {0};
    struct rlimit old, none;
    int spare = dup(STDERR_FILENO), input = dup2(spare, STDIN_FILENO);
    getrlimit(RLIMIT_NOFILE, &old);
    none = old;
    none.rlim_cur = (rlim_t)spare;
    close(spare); /* all descriptors below are in use */
    setrlimit(RLIMIT_NOFILE, &none);
    int failed = topo_act(topo, "evict", NULL, NULL, 0, &err);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(failed, -1);
    assert_true(fcntl(input, F_GETFD) >= 0);
    topo_stop(topo);
}

TEST(sentinel_promotes) {
    need_program("redis-cli", "redis-tools");
    struct topo *topo = started("redis-sentinel", (struct topo_ask){0});
    struct lb_err err = {0};
    assert_int_equal(leader(topo, -1), 0);
    for (int n = 3; n < 6; n++) until_says(topo, n, "INFO sentinel\r\n", "slaves=2,sentinels=3");
    for (int n = 3; n < 6; n++) { /* a stranger can't name another primary */
        int port = topo_port(topo, n, 0);
        assert_memory_equal(help_ask(port, "PUBLISH __sentinel__:hello x\r\n", "\r\n"), "-NOPERM",
                            7);
        assert_memory_equal(help_ask(port, "SENTINEL REMOVE mymaster\r\n", "\r\n"), "-NOPERM", 7);
    }
    must(topo_kill(topo, 0, &err), &err);
    int next = leader(topo, 0);
    until_says(topo, next, "ROLE\r\n", "master");
    /* The old one is told whom to follow. */
    must(topo_restart(topo, 0, &err), &err);
    char port[40];
    snprintf(port, sizeof port, "master_port:%d\r\n", topo_port(topo, next, 0));
    until_says(topo, 0, "INFO replication\r\n", port);
    topo_stop(topo);
}

/* The leader is found. When it is killed, another node leads. A node that comes back without data
 * becomes a member again. */
static void a_leader_is_lost(struct topo *topo, const char *words, const char *sign) {
    struct lb_err err = {0};
    int first = leader(topo, -1);
    must(topo_kill(topo, first, &err), &err);
    int second = leader(topo, first);
    must(topo_wipe(topo, first, &err), &err);
    must(topo_restart(topo, first, &err), &err);
    until_says(topo, first, words, sign);
    int third = 3 - first - second;
    assert_int_equal(topo_check(topo, &err), 0);
    /* The node that came back counts as a member: with one of the others it is a majority of
     * three. */
    must(topo_kill(topo, third, &err), &err);
    leader(topo, third);
    until_says(topo, first, words, sign);
    topo_stop(topo);
}

TEST(etcd_loses_its_leader) {
    need_program("etcdctl", "etcd-client");
    a_leader_is_lost(started("etcd-3", (struct topo_ask){0}), "GET /health HTTP/1.0\r\n\r\n",
                     "\"true\"");
}

TEST(zookeeper_loses_its_leader) {
    a_leader_is_lost(started("zookeeper-3", (struct topo_ask){0}), "srvr", "Node count");
}

/* The leader is that of the servers themselves, since there is no stream. */
TEST(nats_loses_its_leader) {
    need_program("curl", "curl");
    a_leader_is_lost(started("nats-3", (struct topo_ask){0}), "", "\"jetstream\":true");
}

TEST_MAIN(NULL, NULL)
