/* A machine that is too small or closed: results that can't be written are told before the run, or
 * saved elsewhere after it; too few file descriptors are raised, or clients are spread over processes. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#include <linux/capability.h>
#include <sys/resource.h>

/* Fails unless the run ends with code 2 and one line with these words, before anything is
 * measured. */
static void refused(const struct cli_how *how, const char *const *args, const char *words) {
    struct cli cli = cli_ends_with(2, how, args);
    assert_has(cli.err, "lockbench: ");
    assert_has(cli.err, words);
    assert_int_equal(cli_lines(cli.err), 1);
    assert_string_equal(cli.out, "");
}

/* The result of a run that could not be saved in its folder: the path is read from the run's
 * message. */
static json_t *rescued(const struct cli *cli) {
    const char *before = "the result was saved to ", *at = strstr(cli->err, before);
    if (!at) fail_msg("no rescue in: %s", cli->err);
    char path[400];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(at + strlen(before), " \n"),
             at + strlen(before));
    assert_has(path, cli_temp);
    /* `saved in` names the same path, and the table was made from this result. */
    assert_has(strstr(cli->err, "saved in "), path);
    assert_has(cli->out, "sim");
    json_t *run = cli_json(path);
    unlink(path);
    return run;
}

static bool file_is_there(void *path) {
    return access(path, F_OK) == 0;
}

/* Somebody removes the folder in the first of two stages and puts a file there. */
TEST(a_folder_that_vanishes_loses_nothing) {
    char *out = cli_path("vanishes");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "sim", "--set", "load.clients=1,2", "--set",
                   "run.duration=2s", "--out", out));
    cli_until(&cli, file_is_there, cli_path("vanishes/000-sim-c1-r0.hlog"), "the first stage");
    folder_remove(out);
    cli_write(out, "in the way\n");
    cli_wait(&cli);
    assert_code(&cli, 2);
    assert_has(cli.err, "001-sim-c2-r0.hlog: Not a directory");
    json_t *run = rescued(&cli);
    assert_int_equal(json_array_size(cli_get(run, "stages")), 2);
    assert_string_equal(cli_text_at(run, "stages.1.status"), "complete");
    /* the log is missing, and says so */
    assert_has(cli_text_at(run, "warnings.0"), "001-sim-c2-r0.hlog");
    cli_assert_nothing_left();
}

/* Descriptors: soft and hard limit; and no right to raise the hard one, as most users are. */
struct files {
    rlim_t soft, hard;
};

static void limit_files(void *arg) {
    const struct files *files = arg;
    prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){files->soft, files->hard});
}

/* Of 100 clients each needs three descriptors. A soft limit is raised, or it is told that this would not help. */
TEST(too_few_descriptors_are_raised_or_told) {
    for (int i = 0; i < 2; i++) {
        struct files files = {.soft = 64, .hard = i == 0 ? 4096 : 64};
        const struct cli_how how = {.prepare = limit_files, .arg = &files};
        char *out = cli_path("descriptors-%d", i);
        struct cli cli =
            cli_ends_with(i == 0 ? 0 : 2, &how,
                          ARGS("run", "smoke", "--lock", "file-flock", "--set", "load.clients=100",
                               "--set", "load.keys=own", "--out", out));
        if (i == 0) {
            assert_string_equal(cli_text_at(cli_result(out), "stages.0.status"), "complete");
            continue;
        }
        assert_has(cli.err, "with 100 clients each of 1 processes needs 556 file descriptors");
        assert_has(cli.err, "ulimit -n 556");
    }
}

/* No further process may be started; root always may, so the program runs as another account. */
static void forbid_processes(void *arg) {
    (void)arg;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(125);
    if (access(cli_program, X_OK) != 0) _exit(125); /* below /root, for example */
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);    /* the leak check starts a process of its own */
    setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0});
}

TEST(a_limit_of_processes_is_told_with_its_remedy) {
    const struct cli_how how = {.prepare = forbid_processes};
    const char *const *args =
        ARGS("run", "smoke", "--lock", "redis-setnx", "--out", cli_path("temp/few"));
    struct cli cli = cli_run(&how, args);
    bool away = cli.code == 125;
    if (away) skip();
    refused(&how, args, "raise the limit of processes (ulimit -u, or the cgroup's pids.max)");
}

TEST_MAIN(cli_setup, cli_teardown)
