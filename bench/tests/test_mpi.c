/* test_mpi: lockbench-hosts under mpirun, on three hosts that are network namespaces with clocks of their own
 * (bench/tests/hosts_net).
 *
 * Needs: servers, 6 minutes. */
#define _GNU_SOURCE
/* hosts_net ends the job after 100 s, looks for 60 s for what is left, and cleans up. */
#define CLI_LIMIT_S 200
#include <math.h>
#include <spawn.h>
#include <stdio.h>

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

/* What a test asks of bench/tests/hosts_net, in its variables; zeroed = nothing. */
struct net_wish {
    const char *hurt, *ranks, *left_s; /* HOSTS_HURT, HOSTS_RANKS, HOSTS_LEFT */
};

/* Runs the words after `lockbench-hosts` on the hosts. Nothing may be left there afterwards: the script then exits with
 * 99. */
static struct cli run_on_hosts(const struct net_wish *wish, const char *const *words) {
    static char hurting[60], ranks[30], left_s[30], home[PATH_MAX + 20];
    const char *args[CLI_ARGS_MAX] = {hosts_program};
    int count = 1;
    snprintf(home, sizeof home, "LOCKBENCH_HOME=%s", cli_root);
    snprintf(hurting, sizeof hurting, "HOSTS_HURT=%s", wish->hurt ? wish->hurt : "");
    snprintf(ranks, sizeof ranks, "HOSTS_RANKS=%s", wish->ranks ? wish->ranks : "4");
    snprintf(left_s, sizeof left_s, "HOSTS_LEFT=%s", wish->left_s ? wish->left_s : "10");
    const struct cli_how how = {.program = net_script, .env = {home, hurting, ranks, left_s}};
    for (int i = 0; words[i]; i++) args[count++] = words[i];
    args[count] = NULL;
    return cli_run(&how, args);
}

static bool has_net(int owner) {
    char command[100];
    snprintf(command, sizeof command, "ip netns list | grep -q '^lb%d-2'", owner);
    return system(command) == 0;
}

/* With true, its command line is that of a run on three hosts. */
static int start_owner(bool of_hosts) {
    char *args[] = {of_hosts ? "hosts_net" : "sleep", "600", NULL};
    pid_t pid = -1;
    assert_int_equal(posix_spawnp(&pid, "sleep", NULL, NULL, args, environ), 0);
    return pid;
}

static void add_net(int owner) {
    char command[200];
    snprintf(command, sizeof command, "ip netns add lb%d-2 && ip link add lb%d-b type bridge",
             owner, owner);
    assert_int_equal(system(command), 0);
}

/* A number of a process may be in use again. */
TEST(what_killed_runs_on_hosts_left_is_removed_and_nothing_else) {
    need_hosts();
    const int owners[] = {start_owner(true), start_owner(false), start_owner(true)};
    const struct cli_how how = {.program = net_script};
    for (int i = 0; i < 3; i++) add_net(owners[i]);
    kill(owners[0], SIGKILL);
    waitpid(owners[0], NULL, 0);
    struct cli cli = cli_run(&how, ARGS("true"));
    bool has[3];
    for (int i = 0; i < 3; i++) has[i] = has_net(owners[i]);
    for (int i = 1; i < 3; i++) {
        kill(owners[i], SIGKILL);
        waitpid(owners[i], NULL, 0);
    }
    cli_free(&cli);
    cli = cli_run(&how, ARGS("true")); /* removes the last one */
    assert_code(&cli, 0);
    cli_free(&cli);
    assert_false(has[0]);
    assert_false(has[1]);
    assert_true(has[2]);
    assert_false(has_net(owners[2]));
}

static const struct net_wish no_wish = {.hurt = NULL};

/* Each host's clock is ahead by as much as it was set, within the error that is told. */
static void check_clocks(const json_t *stage) {
    for (int i = 0; i < HOSTS; i++) {
        const json_t *host = json_array_get(json_object_get(stage, "hosts"), (size_t)i);
        double truth_ns = i * 1e12, offset_ns = cli_number_at(host, "clock_offset_ns");
        double error_ns = cli_number_at(host, "clock_error_ns");
        if (fabs(offset_ns - truth_ns) > error_ns)
            fail_msg("host %d: its clock is %.0f ns ahead, and found was %.0f +- %.0f", i + 1,
                     truth_ns, offset_ns, error_ns);
        /* A host may begin too early by the error of its first clock measurement, but not by the whole offset of its
         * clock. */
        assert_true(fabs(cli_number_at(host, "start_ns")) < 10e9);
        assert_true(cli_number_at(host, "clients") == 2);
    }
}

TEST(locks_of_real_servers_run_on_three_hosts) {
    need_hosts();
    static const char locks[] = "redis-setnx,etcd-mutex,pg-advisory,zk-lock,null";
    char *out = cli_path("locks");
    struct cli cli =
        run_on_hosts(&no_wish, ARGS("run", "contended", "--lock", locks, "--set", "load.clients=6",
                                    "--set", "run.duration=1s", "--set", "servers.listen=%LISTEN%",
                                    "--no-page", "--out", out));
    assert_code(&cli, 0);
    assert_has(cli.out, "Between hosts, overlaps shorter than");
    assert_lacks(cli.out, "\x1b"); /* mpirun gives rank 0 a terminal, but this is none */
    json_t *run = cli_result(out);
    assert_true(json_is_false(cli_get(run, "partial")));
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
        assert_string_equal(cli_text_at(stage, "history.verdict"), "clean");
        assert_true(cli_number_at(stage, "history.ops") > 10);
    }
    json_decref(run);
    cli_free(&cli);
}

/* Each host would use a server of its own, or none; and rank 0 would show only zeros during a stage. */
TEST(a_server_that_not_all_hosts_reach_is_refused_and_so_are_tls_of_ours_and_live_figures) {
    need_hosts();
    struct cli cli = run_on_hosts(&no_wish, ARGS("run", "contended", "--lock", "redis-setnx",
                                                 "--url", "redis=redis://127.0.0.1:6399", "--set",
                                                 "load.clients=6", "--no-page"));
    assert_code(&cli, 1);
    assert_has(cli.err, "the clients are on several machines");
    assert_has(cli.err, "redis://127.0.0.1:6399");
    cli_free(&cli);
    cli = run_on_hosts(&no_wish, ARGS("run", "contended", "--lock", "redis-setnx", "--set",
                                      "load.clients=6", "--no-page"));
    assert_code(&cli, 1);
    assert_has(cli.err, "servers.listen=ADDRESS");
    cli_free(&cli);
    cli = run_on_hosts(&no_wish, ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=6",
                                      "--no-page", "--prometheus", cli_path("metrics")));
    assert_code(&cli, 1);
    assert_has(cli.err, "leave out --prometheus");
    cli_free(&cli);
    cli = run_on_hosts(&no_wish, ARGS("run", "smoke", "--lock", "redis-setnx", "--set",
                                      "load.clients=6", "--set", "servers.tls=yes", "--no-page"));
    assert_code(&cli, 1);
    assert_has(cli.err, "leave out servers.tls, or use --url");
    cli_free(&cli);
}

/* The window of an hour is ended, and not waited for: else cli_wait's time limit ends the test. */
static void check_hurt(const struct net_wish *wish, int code, const char *reason) {
    need_hosts();
    char *out = cli_path("%s", strchr(wish->hurt, ' ') + 1);
    struct cli cli = run_on_hosts(wish, ARGS("run", "contended", "--lock", "redis-setnx", "--set",
                                             "load.clients=6", "--set", "run.duration=1h", "--set",
                                             "run.drain=2s", "--set", "servers.listen=%LISTEN%",
                                             "--no-page", "--out", out));
    assert_code(&cli, code);
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    assert_has(cli_text_at(run, "partial_reason"), reason);
    assert_true(cli_number_at(run, "stages.0.grants") > 0);
    json_decref(run);
    cli_free(&cli);
}

TEST(a_killed_rank_leaves_a_partial_result_that_names_it) {
    check_hurt(&(struct net_wish){.hurt = "2 KILL"}, 2, "host 3 (host3) is lost");
}

TEST(a_rank_that_stands_still_does_too) {
    check_hurt(&(struct net_wish){.hurt = "2 STOP"}, 2,
               "host 3 (host3) is lost: nothing came from it for 10 s");
}

/* The host that is cut off ends by itself. */
TEST(so_does_a_link_that_is_down) {
    check_hurt(&(struct net_wish){.hurt = "2 down", .left_s = "60"}, 2, "host 3 (host3) is lost");
}

TEST(so_does_a_killed_daemon_of_the_launcher) {
    check_hurt(&(struct net_wish){.hurt = "2 daemon"}, 2, "host 3 (host3) is lost");
}

/* Nobody is left to save anything, but nobody waits for ever either. */
TEST(a_killed_coordinator_ends_the_job) {
    need_hosts();
    struct cli cli = run_on_hosts(&(struct net_wish){.hurt = "1 coordinator-KILL"},
                                  ARGS("run", "contended", "--lock", "redis-setnx", "--set",
                                       "load.clients=6", "--set", "run.duration=1h", "--set",
                                       "servers.listen=%LISTEN%", "--no-page"));
    assert_code(&cli, 2);
    assert_has(cli.err, "rank 0 died");
    cli_free(&cli);
}

/* What the hosts said meanwhile was not heard. */
TEST(a_coordinator_that_was_stopped_for_a_while_loses_no_host) {
    need_hosts();
    struct cli cli =
        run_on_hosts(&(struct net_wish){.hurt = "1 coordinator-pause"},
                     ARGS("run", "contended", "--lock", "redis-setnx", "--set", "load.clients=6",
                          "--set", "run.duration=18s", "--set", "servers.listen=%LISTEN%",
                          "--no-page", "--out", cli_path("paused")));
    assert_code(&cli, 0);
    json_t *run = cli_result(cli_path("paused"));
    assert_true(json_is_false(cli_get(run, "partial")));
    json_decref(run);
    cli_free(&cli);
}

TEST(ctrl_c_saves_what_was_measured) {
    check_hurt(&(struct net_wish){.hurt = "2 INT"}, 130, "interrupted");
}

TEST(other_commands_and_too_few_processes_are_refused) {
    need_hosts();
    const struct cli_how how = {.program = hosts_program};
    struct cli cli = cli_run(&how, ARGS("check", "--lock", "null"));
    assert_code(&cli, 1);
    assert_has(cli.err, "only `run` works on several hosts");
    cli_free(&cli);
    cli = cli_run(&how, ARGS("run", "smoke", "--lock", "null"));
    assert_code(&cli, 1);
    assert_has(cli.err, "processes: 1, but there must be 2 to 257");
    assert_has(cli.err, "the launcher is not that of "); /* as after mpirun of another MPI */
    assert_lacks(cli.err, "MPI_ABORT");
    cli_free(&cli);
}

/* Before MPI starts. */
TEST(questions_are_answered_without_a_launcher) {
    need_hosts();
    const struct cli_how how = {.program = hosts_program};
    const struct {
        const char *const *words;
        int code;
        const char *out, *err;
    } cases[] = {{ARGS("--help"), 0, "lockbench-hosts launch mpirun", ""},
                 {ARGS("help"), 0, "lockbench-hosts launch mpirun", ""},
                 {ARGS("launch", "--help"), 0, "lockbench-hosts launch mpirun", ""},
                 {ARGS("run", "--help"), 0, "--lock", ""},
                 {ARGS("--version"), 0, "\n  hosts: ", ""},
                 {ARGS("launch"), 1, "", "lockbench-hosts launch mpirun"},
                 {ARGS(NULL), 1, "", "lockbench-hosts launch mpirun"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cli cli = cli_run(&how, cases[i].words);
        assert_code(&cli, cases[i].code);
        assert_has(cli.out, cases[i].out);
        assert_has(cli.err, cases[i].err);
        cli_free(&cli);
    }
}

/* Before the servers start: the ladder of `contended` begins with one client. */
TEST(a_host_without_a_client_is_refused) {
    need_hosts();
    struct cli cli = run_on_hosts(&no_wish, ARGS("run", "contended", "--lock", "redis-setnx",
                                                 "--set", "servers.listen=%LISTEN%", "--no-page"));
    assert_code(&cli, 1);
    assert_has(cli.err, "1 for 3 load hosts: each host needs a client: --set load.clients=3");
    assert_lacks(cli.err, "saved in");
    cli_free(&cli);
}

/* No host is lost: then MPI has nothing to say. */
TEST(a_mistake_is_told_in_one_line) {
    need_hosts();
    struct cli cli = run_on_hosts(&no_wish, ARGS("run", "smoke", "--lock", "no-such-lock"));
    assert_code(&cli, 1);
    assert_has(cli.err, "no-such-lock");
    assert_lacks(cli.err, "MPI_ABORT");
    assert_lacks(cli.err, "non-zero");
    assert_lacks(cli.err, "mpirun");
    cli_free(&cli);
}

/* Ctrl-C while the launcher starts its daemons, and while the hosts still connect: nothing is saved, and no process may
 * wait for ever. */
TEST(ctrl_c_at_the_beginning_ends_the_job) {
    static const char *const moments[] = {"0.3 early-INT", "1 early-INT", "2 early-INT"};
    need_hosts();
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct cli cli =
            run_on_hosts(&(struct net_wish){.hurt = moments[i], .left_s = "40"},
                         ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=6", "--set",
                              "run.duration=60s", "--no-page"));
        assert_code(&cli, 130);
        cli_free(&cli);
    }
}

/* The program with a script of a shell in the place of mpirun. */
static struct cli launch(const char *script) {
    need_hosts();
    const struct cli_how how = {.program = hosts_program};
    return cli_run(&how, ARGS("launch", "sh", "-c", script));
}

/* The same, with a signal when the script has made the file $0. */
static struct cli launch_and_signal(const char *script, int signal, void (*prepare)(void *unused)) {
    need_hosts();
    const struct cli_how how = {.program = hosts_program, .prepare = prepare};
    const char *began = cli_path("launched");
    struct cli cli;
    cli_start(&cli, &how, ARGS("launch", "sh", "-c", script, began));
    for (int i = 0; i < 600 && access(began, F_OK) != 0; i++) cli_nap_ms(100);
    kill(cli.pid, signal);
    cli_wait(&cli);
    unlink(began);
    return cli;
}

/* Here the launcher exits with 0, as mpirun does that could not start its daemons. */
TEST(a_job_that_was_interrupted_is_no_success) {
    struct cli cli = launch_and_signal(
        "trap 'exit 0' USR1; touch \"$0\"; while :; do sleep 0.1; done", SIGINT, NULL);
    assert_code(&cli, 130);
    cli_free(&cli);
}

/* As mpirun does while it starts the ranks. */
TEST(an_interrupt_that_the_launcher_dropped_is_passed_on_again) {
    struct cli cli = launch_and_signal(
        "n=0; trap 'n=$((n + 1)); [ $n -lt 2 ] || { echo \"lockbench-hosts: the job is ended; exit code 130\" >&2; exit; }' "
        "USR1; touch \"$0\"; while :; do sleep 0.1; done",
        SIGINT, NULL);
    assert_code(&cli, 130);
    cli_free(&cli);
}

/* What the launcher prints right before it ends is passed on, and the code in the last words counts. */
TEST(the_last_words_are_never_lost) {
    struct cli cli = launch(
        "printf '%060000d\\n' 0 >&2; echo 'lockbench-hosts: the job is ended; exit code 3' >&2");
    assert_code(&cli, 3);
    assert_true(strlen(cli.err) > 60000);
    cli_free(&cli);
}

/* The launcher is killed: it waits for the rank that died. One load host alone may be cut off. */
TEST(load_hosts_tell_that_the_coordinator_is_gone) {
    struct cli cli = launch(
        "for rank in 1 2; do echo \"lockbench-hosts: rank 0 is lost to load host $rank of 2\" >&2; done; "
        "exec sleep 1000");
    assert_code(&cli, 2);
    assert_has(cli.err, "rank 0 died");
    cli_free(&cli);
    cli = launch("echo 'lockbench-hosts: rank 0 is lost to load host 1 of 2' >&2; sleep 8; exit 0");
    assert_code(&cli, 0);
    cli_free(&cli);
}

static void ignore_hangup(void *unused) {
    (void)unused;
    signal(SIGHUP, SIG_IGN);
}

TEST(under_nohup_a_closed_terminal_ends_nothing) {
    struct cli cli = launch_and_signal("trap 'exit 9' USR1; touch \"$0\"; n=0; "
                                       "while [ $n -lt 20 ]; do sleep 0.1; n=$((n + 1)); done",
                                       SIGHUP, ignore_hangup);
    assert_code(&cli, 0);
    cli_free(&cli);
}

/* The launcher says so itself. */
TEST(too_few_slots_are_told_and_nothing_is_left) {
    need_hosts();
    struct cli cli = run_on_hosts(&(struct net_wish){.ranks = "9"},
                                  ARGS("run", "smoke", "--lock", "null", "--no-page"));
    assert_code(&cli, 2);
    assert_has(cli.err, "not enough slots");
    assert_has(cli.err, "mpirun ended with its own code 1");
    cli_free(&cli);
}

/* mpirun ends with 255 where a host is not reached: no code of lockbench. */
TEST(the_code_of_a_launcher_that_failed_is_not_passed_on) {
    struct cli cli = launch("exit 255");
    assert_code(&cli, 2);
    assert_has(cli.err, "sh ended with its own code 255, and no rank told how the run ended");
    cli_free(&cli);
    cli = launch("kill -TERM $$");
    assert_code(&cli, 2);
    assert_has(cli.err, "sh was ended by signal 15");
    cli_free(&cli);
}

TEST(a_launcher_that_is_not_there_is_told) {
    need_hosts();
    const struct cli_how how = {.program = hosts_program};
    struct cli cli = cli_run(&how, ARGS("launch", "no-such-mpirun", "-np", "4", hosts_program));
    assert_code(&cli, 2);
    assert_has(cli.err, "lockbench-hosts: can't start no-such-mpirun: No such file or directory");
    cli_free(&cli);
}

/* Open MPI would bind each of two processes to one core, and all worker processes of a load host with it. */
TEST(ranks_may_use_all_processors) {
    need_hosts();
    static const char script[] = "echo bound to $OMPI_MCA_hwloc_base_binding_policy, "
                                 "$PRTE_MCA_hwloc_default_binding_policy";
    struct cli_how how = {.program = hosts_program};
    struct cli cli = cli_run(&how, ARGS("launch", "sh", "-c", script));
    assert_has(cli.out, "bound to none, none");
    cli_free(&cli);
    how.env[0] = "OMPI_MCA_hwloc_base_binding_policy=socket";
    cli = cli_run(&how, ARGS("launch", "sh", "-c", script));
    assert_has(cli.out, "bound to socket, none");
    cli_free(&cli);
}

/* mpirun --enable-recovery would look for a program "run", and wait for ever. */
TEST(a_command_without_the_program_is_refused) {
    need_hosts();
    const struct cli_how how = {.program = hosts_program};
    struct cli cli =
        cli_run(&how, ARGS("launch", "mpirun", "--enable-recovery", "-np", "2", "run", "smoke"));
    assert_code(&cli, 1);
    assert_has(cli.err, "does not say what mpirun shall start: mpirun [OPTIONS] lockbench run ...");
    cli_free(&cli);
}

/* mpirun --enable-recovery would wait for ever, and say nothing. The launcher here ends at once with another code. */
TEST(a_program_that_is_not_there_is_told_before_the_launch) {
    need_hosts();
    const struct cli_how how = {.program = hosts_program};
    /* A test calls the program "lockbench". */
    struct cli cli = cli_run(
        &how, ARGS("launch", "sh", "-c", "exit 9", cli_path("none/lockbench"), "run", "smoke"));
    assert_code(&cli, 1);
    assert_has(cli.err, "none/lockbench: No such file or directory");
    assert_has(cli.err, "on every host");
    cli_free(&cli);
    cli = cli_run(&how, ARGS("launch", "sh", "-c", "exit 9", cli_program, "run", "smoke"));
    assert_has(cli.err, "sh ended with its own code 9");
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
