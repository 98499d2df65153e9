/* test_fault_injected: renewals that drivers make by themselves are held back, and clients' wall
 * clocks are off, with real servers: what each lock then does, and that it is seen.
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

/* ZooKeeper's client pings and hears of the end on one thread: it holds on beside the next one. */
TEST(a_zookeeper_client_whose_pings_are_held_back_outlives_its_session) {
    cli_need("zookeeper");
    json_t *run = fault_run("zk-lock", STARVED("9s", "8s", "8s"), 3);
    assert_fault(run, 0, "starve", true, "renewals of its session held back");
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "expired");
    json_decref(run);
}

/* One client's clock is ahead of everybody else's. Clients think, so that the others hold too: what the one ahead writes
 * lasts a minute for them, and without a pause it would take the key again and again. */
#define AHEAD(hold, lease, duration)                                                               \
    "[load]\nthink = 5ms\n[acquire]\nbound = 1\n" FAULT_LOAD(                                      \
        "4", "4", "1", hold, lease,                                                                \
        duration) "[fault]\nkind = client-clock\ntarget = any\nfirst = 500ms\nfor = 0\nby = 60s\n"

/* Whoever compares moments by its own clock takes what has not ended. */
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

/* A lease that the server counts is nobody else's whatever the clients' clocks, and the log says
 * that nobody looked. */
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
