/* test_fault_injected: renewals that drivers make by themselves are held back, and clients' wall
 * clocks are off, with real servers: the behaviour of each lock, and that the checks see it.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/fault_help.h"

/* A holder is alive for longer than its session, whose renewals are held back. */
#define STARVED(hold, duration, fault_for)                                                         \
    FAULT_LOAD("2", "2", "1", hold, "2s", duration)                                                \
    "[fault]\nkind = starve\ntarget = holder\nfirst = 500ms\nfor = " fault_for "\n"

/* etcd's client looks at its own clock, and leaves before the next holder comes. */
TEST(an_etcd_client_whose_keepalive_is_held_back_gives_up_in_time) {
    static const char *const locks[] = {"etcd-mutex", "etcd-key"};
    cli_need("etcd");
    for (int i = 0; i < 2; i++) {
        json_t *run = fault_run(locks[i], STARVED("6s", "5s", "5s"), 0);
        assert_fault(run, 0, "starve", true, "renewals of its session held back");
        assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "clean");
        /* It learned of the end while it held. */
        assert_true(stage_number(run, "outcomes.lost") >= 1);
        json_decref(run);
    }
}

/* ZooKeeper's client pings and learns of the session's end on the same thread, so it still holds
 * when the next client gets the lock. */
TEST(a_zookeeper_client_whose_pings_are_held_back_outlives_its_session) {
    cli_need("zookeeper");
    json_t *run = fault_run("zk-lock", STARVED("9s", "8s", "8s"), 3);
    assert_fault(run, 0, "starve", true, "renewals of its session held back");
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "expired");
    json_decref(run);
}

/* One client's clock is ahead of the others'. A lease that this client writes lasts a minute for the others, and
 * without think time it would take the key again and again, so that they would never hold. */
#define AHEAD(hold, lease, duration)                                                               \
    "[load]\nthink = 5ms\n[acquire]\nbound = 1\n" FAULT_LOAD(                                      \
        "4", "4", "1", hold, lease,                                                                \
        duration) "[fault]\nkind = client-clock\ntarget = any\nfirst = 500ms\nfor = 0\nby = 60s\n"

/* A client that compares a lease's end with its own clock takes over a lease that has not ended. */
TEST(leases_that_end_by_the_clients_clocks_end_too_early) {
    static const char *const locks[] = {"redis-permit", "unsafe-redis-getset-repaired"};
    cli_need("redis");
    for (int i = 0; i < 2; i++) {
        json_t *run = fault_run(locks[i], AHEAD("100ms", "2s", "3s"), 3);
        assert_fault(run, 0, "client-clock", true, "times while it was 60.000 s ahead");
        assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "violated");
        json_decref(run);
    }
}

/* A lease whose time the server counts does not depend on the clients' clocks, and the log says
 * that no client's clock was read. */
TEST(a_lease_of_the_servers_does_not_know_the_clients_clocks) {
    cli_need("redis");
    json_t *run = fault_run("redis-setnx", AHEAD("20ms", "2s", "2s"), 2);
    assert_fault(run, 0, "client-clock", false, "was read 0 times");
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "clean");
    assert_has(cli_text_at(run, "warnings.0"), "never acted");
    json_decref(run);
}

/* The fair lock's waiters are dropped from its queue, and sleep on: in the end the key is free and
 * nobody takes it. */
TEST(a_fair_locks_waiters_are_taken_for_dead) {
    cli_need("redis");
    json_t *run = fault_run(
        "redis-fair",
        FAULT_LOAD(
            "8", "8", "1", "100ms", "1s",
            "3s") "[fault]\nkind = client-clock\ntarget = holder\nfirst = 200ms\nfor = 0\nby = 1h\n",
        2);
    assert_fault(run, 0, "client-clock", true, "times while it was 3600.000 s ahead");
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "stuck");
    json_decref(run);
}

TEST_MAIN(cli_setup, cli_teardown)
