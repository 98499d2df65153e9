/* Ways to leave: Ctrl-C once finishes and saves, twice leaves at once, SIGTERM and a closed
 * terminal are as Ctrl-C, SIGKILL leaves the servers to the janitor. After each of them nothing is
 * left running, and the measurements are saved.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"
#include "bench/tests/loopback.h"

/* Fails unless the result of an interrupted run has its first stage, partial, with counts. */
static void assert_saved(const char *out, const char *lock) {
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    assert_has(cli_text_at(run, "partial_reason"), "interrupted");
    assert_true(json_is_string(cli_get(run, "ended_at")));
    assert_int_equal(json_array_size(cli_get(run, "stages")), 1);
    assert_string_equal(cli_text_at(run, "stages.0.lock"), lock);
    assert_string_equal(cli_text_at(run, "stages.0.status"), "partial");
    assert_string_equal(cli_text_at(run, "stages.0.error"), "interrupted");
    assert_true(cli_number_at(run, "stages.0.outcomes.ok") > 0);
    assert_true(cli_number_at(run, "stages.0.duration_s") > 0);
    assert_true(cli_number_at(run, "stages.0.latency_ns.acquire.count") ==
                cli_number_at(run, "stages.0.grants"));
    assert_true(cli_number_at(run, "stages.0.exclusion.grants") > 0);
    assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "clean");
}

static void interrupted_once(const char *lock, const char *processes, int signal_number) {
    char *out = cli_path("once-%s-%d", lock, signal_number);
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", lock, "--set", "load.clients=2,4", "--set", processes,
                   "--set", "run.duration=10m", "--out", out));
    cli_until(&cli, cli_has_second,
              cli_path("once-%s-%d/000-%s-c2-r0.hlog", lock, signal_number, lock),
              "a first second");
    kill(cli.pid, signal_number);
    cli_wait(&cli);
    assert_code(&cli, 130);
    assert_saved(out, lock);
    /* The interruption is reported once, and the table of the measured stages is printed. */
    assert_has(cli.err, "lockbench: interrupted");
    assert_has(cli.err,
               "interrupted: what is in progress ends first; a second Ctrl-C ends at once");
    assert_has(cli.err, out);
    assert_int_equal(cli_problems(&cli), 1);
    assert_has(cli.out, "Incomplete");
    assert_has(cli.out, lock);
    cli_assert_nothing_left();
}

TEST(once_finishes_and_saves) {
    interrupted_once("sim", "load.processes=1", SIGINT);
    interrupted_once("mem-mutex", "load.processes=2", SIGTERM);
    interrupted_once("file-flock", "load.processes=1", SIGHUP);
}

#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) /* which have words of their own */
/* A crash in a driver ends the program; the last line says whose it was, and where to look. */
TEST(a_crash_names_the_lock_and_the_stage) {
    char *out = cli_path("crash");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "sim", "--set", "load.clients=2", "--set",
                   "run.duration=10m", "--out", out));
    cli_until(&cli, cli_has_second, cli_path("crash/000-sim-c2-r0.hlog"), "a first second");
    cli_signal(&cli, SIGSEGV, CLI_KILLED + SIGSEGV);
    assert_has(cli.err, "ERROR: sim: stage 000-sim-c2-r0: SIGSEGV ended this process");
    assert_has(cli.err, out);
    cli_assert_nothing_left();
}

/* So does a crash outside of a stage. */
TEST(a_crash_names_the_command) {
    char url[64];
    int port, listener = loopback_listen(&port);
    struct cli cli;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    cli_start(&cli, NULL, ARGS("clean", "--url", url));
    int asks = accept(listener, NULL, NULL); /* it waits for an answer now */
    kill(cli.pid, SIGSEGV);
    cli_wait(&cli);
    close(asks);
    close(listener);
    assert_code(&cli, CLI_KILLED + SIGSEGV);
    assert_has(cli.err, "ERROR: clean: SIGSEGV ended this process");
}
#endif

/* Whether a process with this argument runs. */
static bool runs_with(const char *argument) {
    char command[100];
    snprintf(command, sizeof command, "pgrep -f 'sleep %s$' >/dev/null", argument);
    return system(command) == 0;
}

/* A client program may start others, which leave its group and its tree. */
TEST(what_a_client_program_started_ends_with_the_run) {
    need_program("pgrep", "procps");
    static const int signals[] = {0, SIGINT, SIGKILL};
    for (int i = 0; i < 3; i++) {
        char program[500], *out = cli_path("exec%d", i), number[40];
        snprintf(number, sizeof number, "86%d.%d", i, (int)getpid());
        snprintf(program, sizeof program,
                 "(setsid sleep %s </dev/null >/dev/null 2>&1 &)\n"
                 "while read a; do echo '{\"outcome\":\"ok\",\"lease\":9000}'; done\n",
                 number);
        cli_write(cli_path("client"), program);
        snprintf(program, sizeof program, "exec.program=sh %s", cli_path("client"));
        struct cli cli;
        cli_start(&cli, NULL,
                  ARGS("run", "smoke", "--lock", "exec", "--url", "exec=redis://127.0.0.1:1",
                       "--set", program, "--set", "load.clients=1", "--set",
                       i ? "run.duration=10m" : "run.duration=1s", "--no-page", "--out", out));
        cli_until(&cli, (bool (*)(void *))runs_with, number, "the program's own child");
        if (signals[i]) kill(cli.pid, signals[i]);
        cli_wait(&cli);
        cli_assert_nothing_left();
        for (int64_t until_ns = lb_now() + 20 * LB_S_NS; runs_with(number) && lb_now() < until_ns;)
            cli_nap_ms(20);
        if (runs_with(number)) fail_msg("signal %d: it runs on", signals[i]);
    }
}

static void own_session(void *arg) {
    (void)arg;
    setsid();
}

/* Ctrl-C in a terminal goes to every process of the group, workers and all. */
TEST(a_whole_group_is_interrupted) {
    char *out = cli_path("group");
    struct cli cli;
    cli_start(&cli, &(struct cli_how){.prepare = own_session},
              ARGS("run", "smoke", "--lock", "sim", "--set", "load.clients=2,4", "--set",
                   "load.processes=2", "--set", "run.duration=10m", "--out", out));
    cli_until(&cli, cli_has_second, cli_path("group/000-sim-c2-r0.hlog"), "a first second");
    kill(-cli.pid, SIGINT);
    cli_wait(&cli);
    assert_code(&cli, 130);
    assert_saved(out, "sim");
    cli_assert_nothing_left();
}

static bool file_is_there(void *path) {
    return access(path, F_OK) == 0;
}

/* In the warm-up nothing is measured yet: still saved, still 130. */
TEST(in_the_warm_up_it_ends_at_once) {
    char *out = cli_path("warm-up");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "sim", "--set", "load.clients=2,4", "--set",
                   "run.warmup=10m", "--out", out));
    cli_until(&cli, file_is_there, cli_path("warm-up/000-sim-c2-r0.hlog"), "the first stage");
    cli_signal(&cli, SIGINT, 130);
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    assert_int_equal(json_array_size(cli_get(run, "stages")), 1);
    assert_true(cli_number_at(run, "stages.0.attempts") == 0);
    cli_assert_nothing_left();
}

static bool server_is_there(void *cli) {
    return cli_find("redis-server", ((struct cli *)cli)->pid, true) > 0;
}

/* Ctrl-C in a terminal while the server starts, or just after its start: its script is in a group of its own. */
TEST(while_a_server_starts_it_is_stopped) {
    cli_need("redis");
    char *out = cli_path("starting");
    struct cli cli;
    cli_start(
        &cli, &(struct cli_how){.prepare = own_session},
        ARGS("run", "smoke", "--lock", "redis-setnx", "--set", "run.duration=10m", "--out", out));
    cli_until(&cli, server_is_there, &cli, "the server");
    kill(-cli.pid, SIGINT);
    cli_wait(&cli);
    assert_code(&cli, 130);
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    cli_assert_nothing_left();
}

/* The server does not answer and the drain would take ten minutes: only the second Ctrl-C ends it
 * so soon. */
TEST(twice_leaves_at_once) {
    cli_need("redis");
    char *out = cli_path("twice");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "redis-setnx", "--set", "load.clients=2", "--set",
                   "redis.command_timeout=10m", "--set", "run.duration=10m", "--set",
                   "run.drain=10m", "--out", out));
    cli_until(&cli, cli_has_second, cli_path("twice/000-redis-setnx-c2-r0.hlog"), "a first second");
    pid_t server = cli_find("redis-server", cli.pid, true);
    assert_true(server > 0);
    kill(server, SIGSTOP);
    kill(cli.pid, SIGINT);
    cli_nap_ms(300);
    siginfo_t ended = {0};
    assert_int_equal(waitid(P_PID, (id_t)cli.pid, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(ended.si_pid, 0); /* it drains */
    cli_signal(&cli, SIGINT, 130);
    assert_int_equal(cli_find("redis-server", 0, true), 0); /* gone before lockbench itself */
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    cli_assert_nothing_left();
}

/* Between two stages there is no worker. */
static bool worker_is_there(void *cli) {
    return cli_find_worker(cli) > 0;
}

/* kill -9: nothing is printed, but servers and workers end too, and the earlier stages are on disk,
 * marked as partial. */
TEST(a_killed_run_leaves_no_server) {
    cli_need("redis");
    char *out = cli_path("killed");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "redis-setnx", "--set", "load.clients=2,4", "--set",
                   "load.processes=2", "--set", "run.duration=2s", "--set", "run.repeat=1000",
                   "--out", out));
    cli_until(&cli, cli_has_second, cli_path("killed/001-redis-setnx-c4-r0.hlog"),
              "the second stage");
    assert_true(cli_find("redis-server", cli.pid, true) > 0);
    cli_until(&cli, worker_is_there, &cli, "a worker");
    cli_signal(&cli, SIGKILL, CLI_KILLED + SIGKILL);
    cli_assert_nothing_left();
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    assert_has(cli_text_at(run, "partial_reason"), "cut off");
    assert_true(json_is_null(cli_get(run, "ended_at")));
    assert_true(json_array_size(cli_get(run, "stages")) >= 1);
    assert_string_equal(cli_text_at(run, "stages.0.status"), "complete");
    cli = cli_ends(0, ARGS("report", out));
    assert_has(cli.out, "Incomplete");
}

TEST_MAIN(cli_setup, cli_teardown)
