/* Servers and workers that die or can't be reached: the stages that they hit are marked with the
 * reason, the others go on, and nothing is lost.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#include "bench/servers/ports.h"

/* A Redis of the test's own, with further arguments; on ret_port. */
static pid_t start_redis(int *ret_port, const char *const *more) {
    struct lb_err err = {0};
    char port[16];
    assert_int_equal(ports_pick(ret_port, 1, &err), 0);
    snprintf(port, sizeof port, "%d", *ret_port);
    const char *argv[24] = {"redis-server", "--bind",   "127.0.0.1",   "--port", port, "--save", "",
                            "--dir",        cli_folder, "--daemonize", "no"};
    for (int i = 11, m = 0; more && more[m]; m++) argv[i++] = more[m];
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int fd = 0; fd < 3; fd++) dup2(null, fd);
        execvp("redis-server", (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; !port_answers(*ret_port);) {
        assert_true(lb_now() < until_ns);
        cli_nap_ms(10);
    }
    return pid;
}

static void stop_redis(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void assert_stage(const json_t *run, int index, const char *status, const char *error) {
    char path[40];
    snprintf(path, sizeof path, "stages.%d.status", index);
    assert_string_equal(cli_text_at(run, path), status);
    snprintf(path, sizeof path, "stages.%d.error", index);
    if (error) assert_has(cli_text_at(run, path), error);
}

/* kill -9 of the server that lockbench started: its stage is partial, the next has a fresh
 * server. */
TEST(a_server_killed_in_mid_run_costs_its_stage_only) {
    cli_need("redis");
    char *out = cli_path("server-killed");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "redis-setnx,sim", "--set", "load.clients=2,4",
                   "--set", "load.think=5ms", "--set", "run.duration=2s", "--out", out));
    cli_until(&cli, cli_has_second, cli_path("server-killed/000-redis-setnx-c2-r0.hlog"),
              "a first second");
    pid_t server = cli_find("redis-server", cli.pid, true);
    assert_true(server > 0);
    kill(server, SIGKILL);
    cli_wait(&cli);
    assert_code(&cli, 2);
    assert_has(cli.err, "lockbench: 000-redis-setnx-c2-r0: ");
    assert_has(cli.err, "signal 9");
    assert_has(cli.out, "Incomplete");
    json_t *run = cli_result(out);
    assert_true(json_is_true(cli_get(run, "partial")));
    assert_has(cli_text_at(run, "partial_reason"), "000-redis-setnx-c2-r0");
    assert_string_equal(cli_text_at(run, "verdict"), "clean");
    assert_int_equal(json_array_size(cli_get(run, "stages")), 4);
    assert_stage(run, 0, "partial", "signal 9");
    assert_true(cli_number_at(run, "stages.0.outcomes.ok") > 0);
    for (int i = 1; i < 4; i++) assert_stage(run, i, "complete", NULL);
    assert_true(cli_number_at(run, "stages.1.outcomes.ok") > 0);
    assert_string_equal(cli_text_at(run, "stages.1.lock"), "redis-setnx");
    assert_int_equal(json_array_size(cli_get(run, "servers")), 3); /* two of Redis, and sim */
    cli_assert_nothing_left();
}

/* A server at a URL, which lockbench does not watch. */
TEST(a_url_that_dies_in_mid_run_marks_its_stages) {
    cli_need("redis");
    int port;
    pid_t server = start_redis(&port, NULL);
    char *out = cli_path("url-killed"), url[64];
    snprintf(url, sizeof url, "redis=redis://127.0.0.1:%d", port);
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "redis-setnx,sim", "--url", url, "--set",
                   "load.clients=2,3", "--set", "load.think=5ms", "--set", "run.duration=2s",
                   "--set", "run.drain=500ms", "--out", out));
    cli_until(&cli, cli_has_second, cli_path("url-killed/000-redis-setnx-c2-r0.hlog"),
              "a first second");
    stop_redis(server);
    cli_wait(&cli);
    assert_code(&cli, 2);
    json_t *run = cli_result(out);
    assert_int_equal(json_array_size(cli_get(run, "stages")), 4);
    assert_stage(run, 0, "partial", "lost the server");
    assert_true(cli_number_at(run, "stages.0.outcomes.ok") > 0);
    assert_stage(run, 1, "failed", "could not connect");
    assert_stage(run, 2, "complete", NULL);
    assert_true(json_is_true(cli_get(run, "partial")));
}

/* SIGKILL of worker processes: the stage is partial, the lock is not accused, and a mutex that died
 * with its holder holds up no other stage. A worker that is killed alone holds the lock only now
 * and then, hence the two runs of sim; if both workers are killed, one of them holds the lock for
 * sure. */
TEST(a_killed_worker_costs_its_stage_only) {
    static const char *const locks[] = {"sim", "sim", "mem-mutex"};
    for (int i = 0; i < 3; i++) {
        char *out = cli_path("worker-killed-%d", i);
        struct cli cli;
        cli_start(&cli, NULL,
                  ARGS("run", "smoke", "--lock", locks[i], "--set", "load.clients=4,2", "--set",
                       "load.processes=2", "--set", "load.hold=5ms", "--set", "acquire.lease=300ms",
                       "--set", "run.duration=3s", "--set", "run.drain=1s", "--out", out));
        cli_until(&cli, cli_has_second, cli_path("worker-killed-%d/000-%s-c4-r0.hlog", i, locks[i]),
                  "a first second");
        bool both = strcmp(locks[i], "mem-mutex") == 0;
        pid_t worker = cli_find_worker(&cli);
        assert_true(worker > 0);
        kill(worker, SIGKILL);
        if (both && (worker = cli_find_worker(&cli)) > 0) kill(worker, SIGKILL);
        cli_wait(&cli);
        assert_code(&cli, 2);
        assert_has(cli.err, "killed by signal 9");
        json_t *run = cli_result(out);
        assert_int_equal(json_array_size(cli_get(run, "stages")), 2);
        assert_stage(run, 0, "partial", "killed by signal 9");
        assert_true(cli_number_at(run, "stages.0.outcomes.ok") > 0);
        assert_string_equal(cli_text_at(run, "stages.0.exclusion.verdict"), "clean");
        assert_stage(run, 1, "complete", NULL);
        assert_true(cli_number_at(run, "stages.1.outcomes.ok") > 0);
        assert_string_equal(cli_text_at(run, "verdict"), "clean");
    }
    cli_assert_nothing_left();
}

/* More clients than the server takes: that stage failed, says how many and why; the others are
 * there. */
TEST(clients_that_cannot_connect_fail_their_stage) {
    cli_need("redis");
    int port;
    pid_t server = start_redis(&port, ARGS("--maxclients", "6"));
    char *out = cli_path("too-many"), url[64];
    snprintf(url, sizeof url, "redis=redis://127.0.0.1:%d", port);
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx", "--url", url,
                                        "--set", "load.clients=2,20", "--out", out));
    stop_redis(server);
    assert_true(cli.code == 1 || cli.code == 2);
    json_t *run = cli_result(out);
    assert_stage(run, 0, "complete", NULL);
    assert_stage(run, 1, "failed", "of 20 clients could not connect: ");
    assert_has(cli_text_at(run, "stages.1.error"), "max number of clients");
    assert_has(cli.err, "of 20 clients could not connect: ");
    assert_true(json_is_true(cli_get(run, "partial")));
}

TEST_MAIN(cli_setup, cli_teardown)
