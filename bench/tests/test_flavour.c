/* test_flavour: servers that differ from those that a topology's script starts by itself: Valkey in the place of Redis,
 * and primaries that want replicas (servers.program, servers.min_replicas).
 * Needs: servers, minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/check_help.h"
#include "bench/tests/unpack_help.h"

#define SMALL "--set", "run.duration=300ms", "--set", "run.warmup=0", "--set", "load.clients=2"

static int flavours; /* runs so far: flavour-0, ... */

/* One lock on one topology with another program. Its version, which the caller frees, as the facts have it. */
static char *run_flavour(const char *lock, const char *topology, const char *program) {
    char *out = cli_path("flavour-%d", flavours++), own[80], other[600], name[120];
    snprintf(own, sizeof own, "servers.topology=%s", topology);
    snprintf(other, sizeof other, "servers.program=%s", program);
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", lock, SMALL, "--set", own,
                                        "--set", other, "--out", out));
    assert_code(&cli, 0);
    json_t *run = cli_result(out);
    char *version = strdup(cli_text_at(run, "servers.0.facts.version"));
    bool named = version[0] < '0' || version[0] > '9';
    snprintf(name, sizeof name, "%s+%s%s", topology, named ? "" : "redis-", version);
    for (char *c = name; *c; c++) *c = *c == ' ' ? '-' : *c;
    assert_string_equal(cli_text_at(run, "stages.0.topology"), name);
    assert_string_equal(cli_text_at(run, "servers.0.topology"), name);
    assert_has(cli.out, name);
    assert_true(cli_number_at(run, "stages.0.grants") > 0);
    json_decref(run);
    cli_free(&cli);
    return version;
}

/* Told before anything starts. */
TEST(an_address_of_another_machine_is_refused) {
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx", SMALL, "--set",
                                        "servers.listen=192.0.2.1"));
    assert_code(&cli, 2);
    assert_has(cli.err, "servers.listen: 192.0.2.1 is no address of this machine");
    cli_free(&cli);
}

static const char *need_valkey(void) {
    if (system("command -v valkey-server >/dev/null") == 0) return "valkey-server";
    return unpack_need("valkey");
}

TEST_WITH(valkey_runs_on_each_topology_of_redis, NULL, unpack_remove) {
    static const char *const on[][2] = {{"redis-setnx", "redis"},
                                        {"redis-wait", "redis-replicas"},
                                        {"redis-reentrant", "redis-sentinel"},
                                        {"redis-setnx", "redis-cluster"},
                                        {"redis-redlock", "redis-independents"}};
    cli_need("redis-sentinel");
    const char *valkey = need_valkey();
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        char *version = run_flavour(on[i][0], on[i][1], valkey);
        if (strncmp(version, "valkey ", 7) != 0) fail_msg("%s: it is %s", on[i][1], version);
        free(version);
    }
}

/* A release and a renewal by the servers' own comparisons: exclusive while they hold, and a loss when the lease has ended.
 * lasting: the server's leases never end early. */
static void check_comparisons(const char *program, const char *release, bool lasting) {
    char other[600], how[80];
    snprintf(other, sizeof other, "servers.program=%s", program);
    snprintf(how, sizeof how, "redis-setnx.release=%s", release);
#define COMPARING                                                                                  \
    "--lock", "redis-setnx", "--set", other, "--set", how, "--set", "redis-setnx.renew=ifeq"
    char *out = cli_path("renewed-%s", release);
    struct cli cli = cli_run(NULL, ARGS("run", "contended", COMPARING, "--set", "load.clients=4",
                                        "--set", "run.duration=6s", "--set", "run.warmup=0",
                                        "--set", "load.hold=2500ms", "--set", "acquire.lease=1s",
                                        "--set", "acquire.renew=yes", "--out", out));
    assert_code(&cli, 0);
    json_t *run = cli_result(out);
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "clean");
    assert_true(cli_number_at(run, "stages.0.grants") >= 2);
    assert_true(cli_number_at(run, "stages.0.outcomes.lost") == 0);
    json_decref(run);
    cli_free(&cli);
    out = cli_path("overstayed-%s", release);
    cli =
        cli_run(NULL, ARGS("run", "overstay", COMPARING, "--set", "run.duration=3s", "--out", out));
    run = cli_result(out);
    const char *verdict = cli_text_at(run, "stages.0.exclusion.verdict");
    if (lasting || strcmp(verdict, "violated") != 0) assert_string_equal(verdict, "expired");
    assert_true(cli_number_at(run, "stages.0.outcomes.lost") > 0);
    json_decref(run);
    cli_free(&cli);
}

TEST_WITH(valkey_9_compares_without_a_script, NULL, unpack_remove) {
    cli_need("redis");
    check_comparisons(unpack_need("valkey9"), "delifeq", true);
}

TEST_WITH(redis_8_compares_without_a_script, NULL, unpack_remove) {
    cli_need("redis");
    /* 8.6 counts a lease from a time that it has read before. */
    check_comparisons(unpack_need("redis8"), "delex", false);
}

/* A program that is given by its path is another flavour than the topology's own, even if it is a second installation
 * of the same server. */
TEST(two_flavours_are_not_compared_as_the_same) {
    cli_need("redis");
    char *link = cli_path("another-server"), *base = cli_path("base"), where[400];
    snprintf(where, sizeof where, "ln -s \"$(command -v redis-server)\" %s", link);
    assert_int_equal(system(where), 0);
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx", SMALL, "--out", base));
    assert_code(&cli, 0);
    cli_free(&cli);
    free(run_flavour("redis-setnx", "redis", link));
    cli = cli_run(NULL, ARGS("compare", base, cli_path("flavour-%d", flavours - 1)));
    assert_code(&cli, 1);
    assert_has(cli.err, "topology is 'redis' in the base and 'redis+redis-");
    assert_int_equal(cli_lines(cli.err), 1);
    cli_free(&cli);
}

static void assert_refused(const char *lock, const char *set, int code, const char *said) {
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", lock, "--set", set, "--set",
                                        "servers.topology=redis-replicas"));
    assert_code(&cli, code);
    assert_has(cli.err, said);
    assert_int_equal(cli_lines(cli.err), 1);
    cli_free(&cli);
}

TEST(what_a_topology_does_not_offer_is_refused) {
    cli_need("redis-replicas");
    cli_need("memcached");
    assert_refused("redis-setnx", "servers.program=/nowhere/valkey-server", 2,
                   "there is no program /nowhere/valkey-server");
    assert_refused("memcached-add", "servers.program=sh", 2,
                   "memcached can't be started with another program");
    assert_refused("memcached-add", "servers.min_replicas=1", 2,
                   "memcached has no primary that can be told to want replicas");
    assert_refused("redis-setnx", "servers.min_replicas=3", 2,
                   "redis-replicas has 2 replicas, so 3 are too many");
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx", "--url",
                                        "redis=redis://h:1", "--set", "servers.min_replicas=1"));
    assert_code(&cli, 1);
    assert_has(cli.err, "servers.min_replicas: the servers of redis are at --url");
    cli_free(&cli);
}

/* The client knows that nothing happened: the outcome is refused, never unknown. */
TEST(a_primary_without_its_replicas_refuses) {
    cli_need("redis-replicas");
    char *file = cli_path("alone.ini"), *out = cli_path("alone");
    cli_write(file, "[load]\nclients = 2\nkeys = own\nthink = 5ms\n[acquire]\nlease = 10s\n"
                    "[run]\nwarmup = 0\nduration = 5s\n"
                    "[fault]\nkind = server-kill\ntarget = 1\nfirst = 500ms\nfor = 0\n"
                    "[fault.2]\nkind = server-kill\ntarget = 2\nfirst = 500ms\nfor = 0\n"
                    "[servers]\ntopology = redis-replicas\nmin_replicas = 1\n");
    struct cli cli = cli_run(NULL, ARGS("run", file, "--lock", "redis-setnx", "--out", out));
    json_t *run = cli_result(out);
    assert_string_equal(cli_text_at(run, "stages.0.topology"), "redis-replicas+min-replicas-1-10s");
    assert_true(cli_number_at(run, "stages.0.outcomes.ok") > 0);
    assert_true(cli_number_at(run, "stages.0.outcomes.refused") > 0);
    assert_true(cli_number_at(run, "stages.0.outcomes.unknown") == 0);
    assert_true(cli_number_at(run, "stages.0.outcomes.broken") == 0);
    json_decref(run);
    cli_free(&cli);
}

/* The primary has its replicas when it grants, and does not wait for them: the promoted one has never heard of the lock,
 * and gives it away as soon as it has a replica of its own. (The reset ends the connections that the replica tried to make
 * while replication was cut, so that it makes another one.) */
TEST(a_primary_that_wants_replicas_loses_the_lock_all_the_same) {
    cli_need("redis-replicas");
    char *out = cli_path("lost");
    struct cli cli = cli_run(NULL, ARGS("check", "redis-setnx", "--fault", "primary-lost", "--set",
                                        "servers.min_replicas=1", "--set", "load.hold=8s", "--set",
                                        "acquire.lease=11s", "--set", "run.duration=15s", "--set",
                                        "fault.for=8s", "--set", "fault.2.first=7s", "--set",
                                        "fault.3.first=7100ms", "--set", "fault.4.kind=wire-reset",
                                        "--set", "fault.4.target=replication", "--set",
                                        "fault.4.first=9200ms", "--out", out));
    assert_code(&cli, 0); /* as its driver states */
    json_t *check = check_result(out);
    const json_t *cell = check_cell(check, "redis-setnx", "primary-lost");
    assert_string_equal(cli_text_at(cell, "topology"), "redis-replicas+min-replicas-1-10s");
    check_assert(check, "redis-setnx", "primary-lost", "violated");
    json_decref(check);
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
