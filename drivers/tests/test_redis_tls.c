/* test_redis_tls: the topologies of several Redis servers over TLS with a password: locks take them for what they are,
 * and `check --url` says that they are locks there.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/check_help.h"
#include "drivers/tests/live_help.h"

static const char *const encrypted[] = {"servers.tls=yes", NULL};

/* Redisson asks a primary's replicas whether they have the lock, encrypted or not. */
static void no_replica_acknowledges(void *arg) {
    struct live_place *live = arg;
    struct live_client ours;
    live_come(&ours, live, "key");
    for (int i = 1; i < topo_about(live->place->topo)->nodes; i++)
        CHECK(topo_signal(live->place->topo, i, SIGSTOP) == 0, "replica %d can't be stopped", i);
    CHECK(live_acquire(&ours, 0) == LB_BROKEN, "it was granted");
    CHECK(strstr(ours.session.err.text, "no replica"), "says '%s'", ours.session.err.text);
    for (int i = 1; i < topo_about(live->place->topo)->nodes; i++)
        topo_signal(live->place->topo, i, SIGCONT);
    live_client_done(&ours);
}

TEST(replicas_are_asked_over_tls) {
    struct live_place live = live_open_at("redis-replicas", "redis-reentrant", encrypted);
    LIVE_NEEDS(&live);
    live_run(no_replica_acknowledges, &live);
    live_close(&live);
}

static void verified(const char *topology, const char *lock) {
    char url[600], ca[600];
    struct live_place live = live_open_at(topology, lock, encrypted);
    LIVE_NEEDS(&live);
    snprintf(url, sizeof url, "redis=%s", topo_url(live.place->topo, 0));
    snprintf(ca, sizeof ca, "redis.tls_ca=%s", topo_ca(live.place->topo));
    /* without the authority each connection is refused: that is the reason, and not that time was over at last */
    struct cli refused =
        cli_run(NULL, ARGS("run", "smoke", "--lock", lock, "--url", url, "--no-page"));
    assert_code(&refused, 2);
    assert_has(refused.err, "certificate");
    folder_remove(cli_path("verified"));
    struct cli cli = cli_run(NULL, ARGS("check", lock, "--url", url, "--set", ca, "--fault",
                                        "conformance,none", "--out", cli_path("verified")));
    assert_code(&cli, 0);
    json_t *check = check_result(cli_path("verified"));
    check_assert(check, lock, "conformance", "safe");
    check_assert(check, lock, "none", "safe");
    json_decref(check);
    live_close(&live);
}

TEST(a_cluster_is_verified) {
    verified("redis-cluster", "redis-setnx");
}

TEST(a_primary_behind_sentinels_is_verified) {
    verified("redis-sentinel", "redis-setnx");
}

TEST(a_majority_of_servers_is_verified) {
    verified("redis-independents", "redis-redlock");
}

TEST_MAIN(cli_setup, cli_teardown)
