/* test_cli_url: servers of one's own, of which none need be there: clients that are programs, a shell script here that asks
 * no server; a URL that no lock uses. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

/* lockbench itself asks the server nothing: only the program can. */
TEST(a_program_at_a_url_is_measured) {
    char option[400], *program = cli_path("client"), *out = cli_path("by-program");
    cli_write(
        program,
        "#!/bin/sh\nwhile read -r line; do echo '{\"outcome\":\"ok\",\"lease\":9000}'; done\n");
    assert_int_equal(chmod(program, 0755), 0);
    snprintf(option, sizeof option, "exec.program=%s", program);
    struct cli cli = cli_run(
        NULL, ARGS("run", "smoke", "--lock", "exec", "--set", option, "--set", "load.clients=1",
                   "--set", "run.duration=100ms", "--set", "run.canary=no", "--no-page", "--url",
                   "exec=redis://127.0.0.1:1", "--key", "orders/7", "--out", out));
    assert_code(&cli, 0);
    assert_has(cli.err, "will be made there: key, as the program is told orders/7");
    /* The command that removes it is one that works. */
    assert_has(cli.err, "`lockbench clean --url redis=redis://127.0.0.1:1 --key orders/7`");
    cli_free(&cli);
}

TEST(a_server_is_not_cleaned_by_programs) {
    struct cli cli = cli_run(NULL, ARGS("clean", "--url", "exec=rediss://127.0.0.1:1"));
    assert_code(&cli, LB_EXIT_USAGE);
    assert_has(cli.err, "exec: only the client program speaks to the server");
    assert_has(cli.err, "--url redis=URL");
    cli_free(&cli);
}

/* Its user may believe that the figures are those of that server. */
TEST(a_url_that_no_lock_uses_is_named) {
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "null", "--set", "load.clients=1", "--set",
                           "run.duration=100ms", "--set", "run.canary=no", "--no-page", "--url",
                           "etcd=etcd://127.0.0.1:1", "--out", cli_path("no-effect")));
    assert_code(&cli, 0);
    assert_has(cli.err, "--url etcd=… has no effect: no lock that runs is of etcd");
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
