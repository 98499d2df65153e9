/* test_fault_servers: faults of real servers, of the bytes on the way to them, of renewals that drivers make by
 * themselves and of clients' wall clocks: they act on the right clients, which the clients' figures show, not only the
 * sign in the log.
 * Needs: servers, minutes. */
#define _GNU_SOURCE
#include "bench/tests/fault_help.h"

TEST(a_server_stands_still) {
    cli_need("redis");
    json_t *run =
        fault_run("redis-setnx",
                  FAULT_LOAD("2", "1", "own", "0", "10s",
                             "2s") "[fault]\nkind = server-pause\nfirst = 300ms\nfor = 900ms\n",
                  0);
    assert_stage_is(run, "complete", "clean");
    assert_fault(run, 0, "server-pause", true, "all threads of the server stood still for");
    assert_true(cli_number_at(fault_at(run, 0), "node") == 0);
    /* Each client had asked it something. */
    assert_true(stage_number(run, "fairness.max_wait_ns") +
                    stage_number(run, "latency_ns.release.max") >
                5e8);
}

TEST(a_killed_server_comes_back) {
    cli_need("redis");
    json_t *run =
        fault_run("redis-setnx",
                  FAULT_LOAD("2", "1", "own", "0", "10s",
                             "4s") "[fault]\nkind = server-kill\nfirst = 300ms\nfor = 100ms\n",
                  0);
    assert_stage_is(run, "complete", "clean");
    assert_fault(run, 0, "server-kill", true, "it listened again after");
    assert_true(cli_number_at(fault_at(run, 0), "to_s") >
                cli_number_at(fault_at(run, 0), "from_s"));
    assert_true(stage_number(run, "outcomes.broken") + stage_number(run, "outcomes.unknown") > 0);
    assert_true(granted_from(run, 1.9) > 0); /* clients found it again */
}

/* A fault that never acted shows nothing about the lock under it, whatever the verdict. */
TEST(a_fault_that_never_acted_is_told) {
    cli_need("redis");
    json_t *run = fault_run(
        "redis-setnx",
        FAULT_LOAD(
            "2", "1", "1", "0", "10s",
            "1s") "[fault]\nkind = wire-cut\ntarget = replication\nfirst = 300ms\nfor = 100ms\n",
        2);
    assert_stage_is(run, "complete", "clean");
    assert_has(cli_text_at(run, "warnings.0"), "the fault wire-cut of [fault] never acted");
    assert_has(cli_text_at(run, "warnings.0"), "lockbench has no wire for this target");
}

/* For good: the stage is whole, and the next one has fresh servers. */
TEST(a_server_that_is_gone_is_no_failure) {
    cli_need("redis");
    json_t *run =
        fault_run("redis-setnx",
                  FAULT_LOAD("2,3", "1", "own", "0", "10s",
                             "1s") "[fault]\nkind = server-kill\nfirst = 500ms\nfor = 0\n",
                  0);
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "stages.%d", i);
        const json_t *stage = cli_get(run, path);
        assert_string_equal(cli_text_at(stage, "status"), "complete");
        assert_true(cli_number_at(stage, "grants") > 0);
        assert_true(json_is_null(cli_get(stage, "faults.0.to_s")));
        assert_true(json_is_true(cli_get(stage, "faults.0.acted")));
        assert_true(json_is_null(cli_get(stage, "residue")));
    }
    assert_false(json_is_true(cli_get(run, "partial")));
    assert_true(json_array_size(cli_get(run, "servers")) == 2);
}

#define HELD FAULT_LOAD("4", "1", "1", "1500ms", "30s", "3s")

/* A server that writes each lock to its disk keeps the lock over a restart, and loses it only with
 * its data. The holder is still inside when a server that starts slowly lets the next one in. */
TEST(data_is_kept_or_thrown_away) {
    cli_need("redis");
    static const char durable[] = "[servers]\ndurability = sync\n";
    char text[900];
    for (int empty = 0; empty < 2; empty++) {
        snprintf(text, sizeof text,
                 "%s%s[fault]\nkind = %s\nfirst = 100ms\nafter = holder\nfor = 50ms\n",
                 FAULT_LOAD("4", "1", "1", "3s", "30s", "3s"), durable,
                 empty ? "server-empty" : "server-kill");
        json_t *run = fault_run("redis-setnx", text, empty ? 3 : 0);
        assert_stage_is(run, "complete", empty ? "violated" : "clean");
        assert_fault(run, 0, empty ? "server-empty" : "server-kill", true,
                     empty ? "and its data" : "gone;");
    }
}

/* A clock that jumps past each lease, and a server that throws keys away, give the lock to two. */
TEST(a_clock_ahead_and_an_eviction_free_held_keys) {
    static const struct {
        const char *lock, *kind, *sign;
    } cases[] = {{"redis-setnx", "clock", "jumped by 60.000 s"},
                 {"redis-setnx", "evict", ""},
                 {"memcached-add", "evict", ""}};
    cli_need("redis");
    cli_need("memcached");
    for (int i = 0; i < 3; i++) {
        char text[900];
        snprintf(text, sizeof text,
                 "%s[fault]\nkind = %s\nby = 60s\nfirst = 100ms\nafter = holder\n", HELD,
                 cases[i].kind);
        json_t *run = fault_run(cases[i].lock, text, 3);
        assert_stage_is(run, "complete", "violated");
        assert_fault(run, 0, cases[i].kind, true, cases[i].sign);
        /* the server's clock, and not this machine's */
        assert_true(cli_number_at(run, "stages.0.executor.wall_step_ns") == 0);
    }
}

/* The client that holds when the primary is killed got its grant after the cut. The replica knows
 * only the grant before it, whose lease ends while this client still holds. */
TEST(a_replica_becomes_primary) {
    cli_need("redis-replicas");
    json_t *run = fault_run("redis-setnx",
                            FAULT_LOAD("4", "1", "1", "3s", "4s",
                                       "9s") "[servers]\ntopology = redis-replicas\n"
                                             "[fault]\nkind = wire-cut\ntarget = replication\n"
                                             "first = 0\nfor = 0\n"
                                             "[fault.2]\nkind = server-kill\ntarget = primary\n"
                                             "first = 2s\nafter = holder\nfor = 0\n"
                                             "[fault.3]\nkind = promote\nfirst = 2010ms\n",
                            3);
    assert_stage_is(run, "complete", "violated");
    assert_fault(run, 0, "wire-cut", true, "struck");
    assert_fault(run, 1, "server-kill", true, "killed");
    assert_true(cli_number_at(fault_at(run, 1), "node") == 0);
    assert_fault(run, 2, "promote", true, "primary");
    assert_true(cli_number_at(fault_at(run, 2), "node") > 0);
}

/* A grant that ended with its connection is no second holder's fault. The hold outlasts what ending a connection
 * takes on a busy machine, during which the holder stands still. */
TEST(a_server_ends_a_holders_connection) {
    static const char *const locks[] = {"pg-advisory", "mysql-getlock"};
    cli_need("postgres");
    cli_need("mariadb");
    for (int i = 0; i < 2; i++) {
        json_t *run = fault_run(
            locks[i],
            FAULT_LOAD("2", "2", "1", "4s", "10s",
                       "2s") "[fault]\nkind = terminate\ntarget = holder\nfirst = 200ms\n",
            3);
        assert_stage_is(run, "complete", "expired");
        assert_fault(run, 0, "terminate", true, "1 of its connections ended");
        assert_true(cli_number_at(fault_at(run, 0), "client") ==
                    cli_number_at(fault_at(run, 0), "process"));
        assert_true(stage_number(run, "exclusion.double_holders") == 0);
    }
}

static int nodes_of(const json_t *run, const char *section, bool *seen) {
    int count = 0;
    size_t i;
    json_t *fault;
    json_array_foreach(cli_get(run, "stages.0.faults"), i, fault) {
        if (strcmp(cli_text_at(fault, "section"), section) != 0) continue;
        assert_true(json_is_true(cli_get(fault, "acted")));
        int node = (int)cli_number_at(fault, "node");
        assert_false(seen[node]); /* each once */
        seen[node] = true;
        count++;
    }
    return count;
}

TEST(several_servers_are_hit) {
    cli_need("redis-independents");
    json_t *run = fault_run("redis-redlock",
                            FAULT_LOAD("2", "1", "own", "0", "10s",
                                       "4s") "[fault]\nkind = server-pause\ntarget = minority\n"
                                             "first = 100ms\nfor = 100ms\n"
                                             "[fault.2]\nkind = server-pause\ntarget = majority\n"
                                             "first = 500ms\nfor = 100ms\n"
                                             "[fault.3]\nkind = server-pause\ntarget = 4\n"
                                             "first = 900ms\nfor = 100ms\n"
                                             "[fault.4]\nkind = server-pause\ntarget = all\n"
                                             "first = 1300ms\nfor = 100ms\n"
                                             "[fault.5]\nkind = server-pause\ntarget = 9\n"
                                             "first = 1700ms\nfor = 100ms\n",
                            2); /* the last one has no server */
    assert_stage_is(run, "complete", "clean");
    static const int counts[] = {2, 3, 1, 5};
    static const char *const sections[] = {"fault", "fault.2", "fault.3", "fault.4"};
    for (int i = 0; i < 4; i++) {
        bool seen[16] = {false};
        assert_int_equal(nodes_of(run, sections[i], seen), counts[i]);
        if (i == 2) assert_true(seen[4]);
    }
    assert_fault(run, 11, "server-pause", false, "only 5 servers");
}

TEST(the_leader_is_found) {
    cli_need("etcd-3");
    json_t *run =
        fault_run("etcd-mutex",
                  FAULT_LOAD("2", "1", "own", "0", "10s",
                             "6s") "[servers]\ntopology = etcd-3\n[fault]\nkind = server-kill\n"
                                   "target = leader\nfirst = 500ms\nfor = 0\n",
                  0);
    assert_stage_is(run, "complete", "clean");
    assert_fault(run, 0, "server-kill", true, "killed");
    assert_true(granted_from(run, 4.9) > 0); /* the others go on */
}

/* --- wires --- */

#define BUSY FAULT_LOAD("2", "1", "own", "0", "10s", "2s")

static json_t *clean_run(const char *faults) {
    char text[900];
    snprintf(text, sizeof text, "%s%s", BUSY, faults);
    json_t *run = fault_run("redis-setnx", text, 0);
    assert_stage_is(run, "complete", "clean");
    return run;
}

static double in_doubt(const json_t *run) {
    return stage_number(run, "outcomes.broken") + stage_number(run, "outcomes.unknown");
}

TEST(connections_are_reset) {
    cli_need("redis");
    json_t *run = clean_run(
        "[fault]\nkind = wire-reset\ntarget = all\nfirst = 200ms\nevery = 300ms\ntimes = 2\n");
    assert_fault(run, 0, "wire-reset", true, "of 2 connections");
    assert_fault(run, 1, "wire-reset", true, "of 2 connections");
    assert_true(json_array_size(cli_get(run, "stages.0.faults")) == 2);
    assert_true(in_doubt(run) > 0);
    assert_true(granted_from(run, 0.9) > 0);
}

TEST(answers_are_lost) {
    cli_need("redis");
    json_t *run = clean_run("[fault]\nkind = wire-drop\ntarget = all\nfirst = 500ms\n");
    assert_fault(run, 0, "wire-drop", true, "struck 1 times");
    assert_true(stage_number(run, "outcomes.unknown") > 0);
}

/* Both ways, so a round trip takes twice as long. */
TEST(bytes_come_late) {
    cli_need("redis");
    json_t *run =
        clean_run("[fault]\nkind = wire-delay\ntarget = all\nby = 60ms\nfirst = 0\nfor = 0\n");
    assert_fault(run, 0, "wire-delay", true, "of 2 connections");
    assert_true(stage_number(run, "latency_ns.acquire.max") >= 110e6);
    assert_true(json_is_real(cli_get(fault_at(run, 0), "to_s"))); /* lifted with the load's end */
}

/* A holder whose wire is dead outlives its lease; the others never notice. */
TEST(a_holder_is_cut_off) {
    cli_need("redis");
    static const char *const ways[] = {"both", "answers", "requests"};
    for (int i = 0; i < 3; i++) {
        char text[900];
        snprintf(
            text, sizeof text,
            "%s[fault]\nkind = wire-cut\ntarget = holder\nway = %s\nfirst = 1s\nfor = 1500ms\n",
            FAULT_LOAD("3", "3", "1", "100ms", "600ms", "4s"), ways[i]);
        json_t *run = fault_run("redis-setnx", text, 0);
        assert_stage_is(run, "complete", "clean");
        assert_fault(run, 0, "wire-cut", true, "of ");
        int client = (int)cli_number_at(fault_at(run, 0), "client");
        assert_true(cli_number_at(fault_at(run, 0), "process") == client);
        /* Its release stayed without an answer; the others went on when its lease was over. */
        assert_true(stage_number(run, "outcomes.unknown") + stage_number(run, "outcomes.broken") +
                        stage_number(run, "outcomes.lost") >
                    0);
        double others = 0;
        for (int c = 0; c < 3; c++) {
            char path[64];
            snprintf(path, sizeof path, "fairness.grants_per_client.%d", c);
            if (c != client) others += stage_number(run, path);
        }
        assert_true(others > 2);
    }
}

/* A session without any answer ends. A holder that is met in the cell after that is excused if it
 * learns of the end. */
TEST(a_session_runs_out) {
    cli_need("etcd");
    char text[900];
    snprintf(text, sizeof text,
             "%s[fault]\nkind = wire-cut\ntarget = holder\nfirst = 200ms\nfor = 5s\n",
             FAULT_LOAD("3", "3", "1", "300ms", "2s", "6s"));
    char *file = cli_path("session.ini"), *out = cli_path("session");
    cli_write(file, text);
    cli_run(NULL, ARGS("run", file, "--lock", "etcd-mutex", "--out", out));
    json_t *run = cli_result(out);
    assert_fault(run, 0, "wire-cut", true, "of ");
    assert_true(stage_number(run, "exclusion.double_holders") == 0);
    assert_true(stage_number(run, "grants") > 3);
}

/* --- renewals and clocks of clients --- */

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
    }
}

/* ZooKeeper's client pings and learns of the session's end on the same thread, so it still holds
 * when the next client gets the lock. */
TEST(a_zookeeper_client_whose_pings_are_held_back_outlives_its_session) {
    cli_need("zookeeper");
    json_t *run = fault_run("zk-lock", STARVED("9s", "8s", "8s"), 3);
    assert_fault(run, 0, "starve", true, "renewals of its session held back");
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "expired");
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
    }
}

TEST_MAIN(cli_setup, cli_teardown)
