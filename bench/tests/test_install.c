/* `make install` into a folder of the test's. The installed program is run as its users run it: in another folder, with
 * an environment that has nothing of this project. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

static char dest[200], here[200];

static int install(void **state) {
    char command[PATH_MAX * 3];
    if (cli_setup(state)) return -1;
    snprintf(dest, sizeof dest, "%s/usr", cli_folder);
    snprintf(here, sizeof here, "%s/elsewhere", cli_folder);
    mkdir(here, 0755);
    snprintf(command, sizeof command, "umask 077; '%s/bench/install' '%s' '%s' >/dev/null",
             cli_root, dest, cli_program);
    /* Twice: the second time over itself. */
    return system(command) || system(command);
}

static void clear_environment(void *arg) {
    (void)arg;
    clearenv();
    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("TMPDIR", cli_temp, 1);
}

static struct cli run_installed(const char *const *args) {
    char program[220];
    snprintf(program, sizeof program, "%s/bin/lockbench", dest);
    const struct cli_how how = {.prepare = clear_environment, .cwd = here, .program = program};
    return cli_run(&how, args);
}

TEST(it_finds_its_own_folders) {
    struct cli list = run_installed(ARGS("list", "smoke"));
    assert_code(&list, 0);
    assert_has(list.out, dest);
}

TEST(it_saves_in_the_current_folder) {
    struct cli run = run_installed(ARGS("run", "smoke", "--lock", "sim"));
    assert_code(&run, 0);
    json_t *result = cli_result(cli_path("elsewhere/results/latest"));
    assert_string_equal(cli_text_at(result, "verdict"), "clean");
    struct cli report = run_installed(ARGS("report"));
    assert_code(&report, 0);
}

/* Files where each reader looks for them, and the same as in the project. */
TEST(man_pages_and_completion_come_with_it) {
    static const char *const files[] = {
        "share/man/man1/lockbench.1",
        "share/man/man1/lockbench-run.1",
        "share/bash-completion/completions/lockbench",
        "lib/lockbench/clock_shim.so",
        "lib/lockbench/fsync_shim.so",
        "share/lockbench/compose/local/redis",
        "share/lockbench/compose/certificates", /* run for each server with TLS that is started */
        "share/lockbench/workloads/check/pause.ini",
        "share/doc/lockbench/LICENSE",
        "share/doc/lockbench/bench/HOSTS.md",
        "share/doc/lockbench/bench/OWN-SERVERS.md", /* messages and help texts name such pages */
        "share/doc/lockbench/compose/README.md",
        "share/doc/lockbench/drivers/README.md",
        "share/doc/lockbench/drivers/exec/examples/redis_py.py",
        "share/doc/lockbench/drivers/exec/examples/package-lock.json",
        "share/doc/lockbench/results/FIELDS.md",
        "share/doc/lockbench/results/schema/run.schema.json",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct stat status;
        assert_int_equal(stat(cli_path("usr/%s", files[i]), &status), 0);
        /* for every account, whatever the installing one's umask is */
        assert_int_equal(status.st_mode & 0444, 0444);
    }
    assert_int_equal(access(cli_path("usr/share/lockbench/compose/local/redis"), X_OK), 0);
    assert_int_equal(access(cli_path("usr/share/lockbench/compose/certificates"), X_OK), 0);
    /* The program for several hosts must be installed on each of them; it needs MPI, so it may not have been built. */
    static const char *const of_hosts[] = {"bin/lockbench-hosts",
                                           "share/man/man1/lockbench-hosts.1"};
    int there = *cli_hosts_program() ? 0 : -1;
    for (size_t i = 0; i < sizeof of_hosts / sizeof *of_hosts; i++)
        assert_int_equal(access(cli_path("usr/%s", of_hosts[i]), R_OK), there);
}

static int remove_it(void) {
    char command[PATH_MAX * 3];
    snprintf(command, sizeof command, "'%s/bench/install' --remove '%s' '%s' >/dev/null 2>&1",
             cli_root, dest, cli_program);
    return system(command);
}

/* The last test: nothing of lockbench is left, and everything else is. */
TEST(removing_it_leaves_the_files_of_others) {
    static const char *const others[] = {"bin/other", "share/man/man1/other.1",
                                         "share/lockbench/workloads/mine.ini"};
    char command[PATH_MAX], list[2000];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cli_write(cli_path("usr/%s", others[i]), "mine\n");
    assert_int_equal(remove_it(), 0);
    snprintf(command, sizeof command, "cd '%s' && find . ! -type d -printf '%%P '", dest);
    FILE *found = popen(command, "r");
    assert_non_null(found);
    size_t length = fread(list, 1, sizeof list - 1, found);
    assert_int_equal(pclose(found), 0);
    list[length] = '\0';
    size_t mine = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_has(list, others[i]);
        mine += strlen(others[i]) + 1;
    }
    if (length != mine) fail_msg("left: %s", list);
    assert_int_not_equal(access(cli_path("usr/share/doc/lockbench"), F_OK), 0);
    assert_int_not_equal(access(cli_path("usr/lib/lockbench"), F_OK), 0);
    assert_int_equal(access(cli_path("usr/share/man/man1"), F_OK), 0);
    /* Removed already, or another folder: nothing is deleted, and that is said. */
    assert_int_not_equal(remove_it(), 0);
}

TEST_MAIN(install, cli_teardown)
