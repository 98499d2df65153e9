/* test_flavour: servers that differ from those that a topology's script starts by itself: Valkey in the place of Redis,
 * or listen elsewhere (servers.program, servers.listen).
 * Needs: servers, a minute. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/unpack_help.h"

#define SMALL                                                                                      \
    "--no-page", "--set", "load.think=5ms", "--set", "run.warmup=0", "--set", "load.clients=2"

static int flavours; /* runs so far: flavour-0, ... */

/* One lock on one topology with another program. Its version, which the caller frees, as the facts have it. */
static char *run_flavour(const char *lock, const char *topology, const char *program) {
    char *out = cli_path("flavour-%d", flavours++), own[80], other[600], name[120];
    snprintf(own, sizeof own, "servers.topology=%s", topology);
    snprintf(other, sizeof other, "servers.program=%s", program);
    struct cli cli = cli_ends(
        0, ARGS("run", "smoke", "--lock", lock, SMALL, "--set", own, "--set", other, "--out", out));
    json_t *run = cli_result(out);
    char *version = strdup(cli_text_at(run, "servers.0.facts.version"));
    bool named = version[0] < '0' || version[0] > '9';
    snprintf(name, sizeof name, "%s+%s%s", topology, named ? "" : "redis-", version);
    for (char *c = name; *c; c++) *c = *c == ' ' ? '-' : *c;
    assert_string_equal(cli_text_at(run, "stages.0.topology"), name);
    assert_string_equal(cli_text_at(run, "servers.0.topology"), name);
    assert_has(cli.out, name);
    assert_true(cli_number_at(run, "stages.0.grants") > 0);
    return version;
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

/* A program that is given by its path is another flavour than the topology's own, even if it is a second installation
 * of the same server. */
TEST(two_flavours_are_not_compared_as_the_same) {
    cli_need("redis");
    char *link = cli_path("another-server"), *base = cli_path("base"), where[400];
    snprintf(where, sizeof where, "ln -s \"$(command -v redis-server)\" %s", link);
    assert_int_equal(system(where), 0);
    struct cli cli =
        cli_ends(0, ARGS("run", "smoke", "--lock", "redis-setnx", SMALL, "--out", base));
    free(run_flavour("redis-setnx", "redis", link));
    cli = cli_run(NULL, ARGS("compare", base, cli_path("flavour-%d", flavours - 1)));
    assert_has(cli.out, "redis-setnx: topology");
    assert_has(cli.out, "redis+redis-");
}

TEST_MAIN(cli_setup, cli_teardown)
