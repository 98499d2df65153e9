/* test_mpi: lockbench-hosts under mpirun, on three hosts that are network namespaces with clocks of their own
 * (bench/tests/hosts_net).
 *
 * Needs: servers, 2 minutes. */
#define _GNU_SOURCE
/* hosts_net ends the job after 150 s, looks for 60 s for what is left, and cleans up. */
#define CLI_LIMIT_S 250
#include <math.h>

#include "bench/tests/cli_help.h"

#define HOSTS 3

static char hosts_program[PATH_MAX + 8], net_script[PATH_MAX + 40];

/* Fails in CI without the programs that hosts are made with. Without root it skips there, too: nothing that CI could
 * install helps. */
static void need_hosts(void) {
    snprintf(hosts_program, sizeof hosts_program, "%s-hosts", cli_program);
    snprintf(net_script, sizeof net_script, "%s/bench/tests/hosts_net", cli_root);
    need_program("mpirun", "openmpi-bin");
    need_program("ip", "iproute2");
    if (access(hosts_program, X_OK) != 0) fail_msg("no %s: run make hosts", hosts_program);
    if (geteuid() == 0) return;
    print_message("[ SKIPPED ] network namespaces need root\n");
    skip();
}

/* A run on the hosts, and what must come of it. */
struct net_run {
    const char *const *words;          /* after `lockbench-hosts` */
    const char *hurt, *ranks, *left_s; /* HOSTS_HURT, HOSTS_RANKS, HOSTS_LEFT; NULL = as usual */
    int code;
    const char *err;    /* what it says; NULL = nothing special */
    const char *reason; /* why its result in `out` is partial; NULL = it is not, or there is none */
    char *out;          /* NULL = no result */
    struct cli cli;
    char env[3][60];
    struct cli_how how;
    const char *args[CLI_ARGS_MAX];
};

/* Nothing may be left on the hosts afterwards: the script then exits with 99. */
static void start_on_hosts(struct net_run *run) {
    static char home[PATH_MAX + 20];
    int count = 0;
    snprintf(home, sizeof home, "LOCKBENCH_HOME=%s", cli_root);
    snprintf(run->env[0], sizeof run->env[0], "HOSTS_HURT=%s", run->hurt ? run->hurt : "");
    snprintf(run->env[1], sizeof run->env[1], "HOSTS_RANKS=%s", run->ranks ? run->ranks : "4");
    snprintf(run->env[2], sizeof run->env[2], "HOSTS_LEFT=%s", run->left_s ? run->left_s : "10");
    run->how = (struct cli_how){.program = net_script,
                                .env = {home, run->env[0], run->env[1], run->env[2]}};
    run->args[count++] = hosts_program;
    for (int i = 0; run->words[i]; i++) run->args[count++] = run->words[i];
    if (run->out) {
        run->args[count++] = "--out";
        run->args[count++] = run->out;
    }
    cli_start(&run->cli, &run->how, run->args);
}

static void check_on_hosts(struct net_run *run) {
    const char *hurt = run->hurt ? run->hurt : "no harm", *err = run->cli.err;
    if (run->cli.code != run->code)
        fail_msg("%s: exit code %d, not %d; it said: %.400s\n...\n%s", hurt, run->cli.code,
                 run->code, err, cli_end(err));
    if (run->err) assert_has(err, run->err);
    if (run->code == 1) assert_lacks(err, "saved in");
    if (run->out && access(run->out, F_OK) != 0)
        fail_msg("%s: no result; it said: %.400s\n...\n%s", hurt, err, cli_end(err));
    json_t *json = run->out ? cli_result(run->out) : NULL;
    if (run->reason) {
        assert_true(json_is_true(cli_get(json, "partial")));
        assert_has(cli_text_at(json, "partial_reason"), run->reason);
        assert_true(cli_number_at(json, "stages.0.grants") > 0);
    } else if (json) {
        assert_true(json_is_false(cli_get(json, "partial")));
    }
    json_decref(json);
}

/* All at the same time, each on hosts of its own, since most of a run is waiting. */
static void run_on_hosts(struct net_run *runs, int count) {
    need_hosts();
    for (int i = 0; i < count; i++) start_on_hosts(&runs[i]);
    for (int i = 0; i < count; i++) cli_wait_granted(&runs[i].cli, &runs[i].how, runs[i].args);
    for (int i = 0; i < count; i++) check_on_hosts(&runs[i]);
}

/* Each host's clock is ahead by as much as it was set, within the error that is told. */
static void check_clocks(const json_t *stage) {
    for (int i = 0; i < HOSTS; i++) {
        const json_t *host = json_array_get(json_object_get(stage, "hosts"), (size_t)i);
        double truth_ns = i * 1e12, offset_ns = cli_number_at(host, "clock_offset_ns");
        double error_ns = cli_number_at(host, "clock_error_ns");
        if (fabs(offset_ns - truth_ns) > error_ns)
            fail_msg("host %d: its clock is %.0f ns ahead, and found was %.0f +- %.0f", i + 1,
                     truth_ns, offset_ns, error_ns);
        assert_true(cli_number_at(host, "clients") == 2);
        assert_true(cli_number_at(host, "grants") > 0);
    }
}

TEST(locks_of_real_servers_run_on_three_hosts) {
    struct net_run one = {ARGS("run", "contended", "--lock",
                               "redis-setnx,etcd-mutex,pg-advisory,zk-lock,null", "--set",
                               "load.clients=6", "--set", "run.duration=3s", "--set",
                               "servers.listen=%LISTEN%", "--no-page"),
                          .out = cli_path("locks")};
    run_on_hosts(&one, 1);
    assert_has(one.cli.out, "Between hosts, overlaps shorter than");
    assert_lacks(one.cli.out, "\x1b"); /* mpirun gives rank 0 a terminal, but this is none */
    json_t *run = cli_result(one.out);
    assert_has(
        cli_text_at(run, "command"),
        "lockbench-hosts launch mpirun --enable-recovery --hostfile HOSTS -np 4 lockbench-hosts run contended");
    const json_t *stages = cli_get(run, "stages"), *stage;
    size_t i;
    assert_int_equal(json_array_size(cli_get(run, "hosts")), HOSTS);
    assert_true(cli_number_at(run, "hosts.2.environment.cpus") > 0);
    assert_int_equal(json_array_size(stages), 5);
    json_array_foreach(stages, i, stage) {
        check_clocks(stage);
        if (strcmp(cli_text_at(stage, "lock"), "null") == 0) continue;
        assert_string_equal(cli_text_at(stage, "exclusion.verdict"), "clean");
        assert_true(cli_number_at(stage, "history.ops") > 10);
    }
}

#define CONTENDED(...)                                                                             \
    ARGS("run", "contended", "--lock", "redis-setnx", "--no-page", "--set", __VA_ARGS__)
#define SMOKE(...) ARGS("run", "smoke", "--no-page", "--lock", __VA_ARGS__)

/* Each host would use a server of its own, or none; and rank 0 would show only zeros during a stage. The ladder of
 * `contended` begins with one client. Where the machines do not matter, one load host is enough. */
TEST(what_hosts_can_not_do_is_refused_before_a_server_starts) {
    struct net_run runs[] = {
        {CONTENDED("load.clients=6", "--url", "redis=redis://127.0.0.1:6399"), .code = 1,
         .err = "redis://127.0.0.1:6399"},
        {CONTENDED("load.clients=6"), .code = 1, .err = "servers.listen=ADDRESS"},
        {CONTENDED("servers.listen=%LISTEN%"), .code = 1,
         .err = "1 for 3 load hosts: each host needs a client: --set load.clients=3"},
        {SMOKE("redis-setnx", "--set", "load.clients=6", "--set", "servers.tls=yes"), .ranks = "2",
         .code = 1, .err = "leave out servers.tls, or use --url"},
        {SMOKE("no-such-lock"), .ranks = "2", .code = 1, .err = "no-such-lock"},
        {SMOKE("mem-mutex", "--set", "load.clients=6"), .ranks = "2", .code = 2,
         .err = "it lives in the memory or the files of one host"},
        {SMOKE("null"), .ranks = "9", .code = 2, .err = "not enough slots"},
    };
    int count = sizeof runs / sizeof *runs;
    run_on_hosts(runs, count);
    assert_has(runs[0].cli.err, "the clients are on several machines");
    /* No host is lost: then MPI has nothing to say. */
    assert_lacks(runs[4].cli.err, "MPI_ABORT");
    assert_lacks(runs[4].cli.err, "non-zero");
    assert_lacks(runs[4].cli.err, "mpirun");
    assert_has(runs[6].cli.err, "mpirun ended with its own code 1");
}

/* The window of an hour is ended, and not waited for. */
#define FOR(duration)                                                                              \
    CONTENDED("load.clients=6", "--set", "load.think=20ms", "--set", "run.duration=" duration,     \
              "--set", "run.drain=2s", "--set", "servers.listen=%LISTEN%")

#define EARLY(name)                                                                                \
    SMOKE("null", "--set", "load.clients=6", "--set", "run.duration=60s", "--out", cli_path(name))

/* A link that is down: the host that is cut off ends by itself. Without rank 0 nobody is left to save anything, but
 * nobody waits for ever either. What the hosts said while rank 0 stood still was not heard, and no host is lost. Ctrl-C
 * may come while the launcher starts its daemons, or while the hosts still connect. */
TEST(a_rank_that_is_lost_is_named_the_figures_of_the_others_are_saved_and_every_job_ends) {
    static const char lost[] = "host 3 (host3) is lost";
    const char *const *hour = FOR("1h");
    struct net_run runs[] = {
        {hour, .hurt = "1 coordinator-KILL", .code = 2, .err = "rank 0 died"},
        {hour, .hurt = "2 down", .left_s = "60", .code = 2, .reason = lost,
         .out = cli_path("down")},
        {FOR("18s"), .hurt = "1 coordinator-pause", .out = cli_path("paused")},
        {EARLY("a"), .hurt = "0.3 early-INT", .left_s = "40", .code = 130},
        {hour, .hurt = "2 KILL", .code = 2, .reason = lost, .out = cli_path("killed")},
        {hour, .hurt = "2 STOP", .code = 2,
         .reason = "host 3 (host3) is lost: nothing came from it for 10 s",
         .out = cli_path("stopped")},
        {hour, .hurt = "2 daemon", .code = 2, .reason = lost, .out = cli_path("daemon")},
        {hour, .hurt = "2 INT", .code = 130, .reason = "interrupted", .out = cli_path("ended")},
        {EARLY("b"), .hurt = "1 early-INT", .left_s = "40", .code = 130},
        {EARLY("c"), .hurt = "2 early-INT", .left_s = "40", .code = 130},
    };
    int count = sizeof runs / sizeof *runs;
    run_on_hosts(runs, count);
}

TEST_MAIN(cli_setup, cli_teardown)
