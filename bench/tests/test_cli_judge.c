/* test_cli_judge: `lockbench check FOLDER` on the histories of real runs: of one that ended well, of one that was
 * killed, of a check, and of a folder in which one history can't be read. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

TEST(test_a_run_is_judged_again) {
    char *folder = cli_path("run");
    cli_ends(LB_EXIT_OK, ARGS("run", "smoke", "--lock", "mem-mutex,mem-robust", "--set",
                              "check.history=yes", "--set", "run.duration=200ms", "--out", folder));
    struct cli judge = cli_ends(LB_EXIT_OK, ARGS("check", folder));
    assert_has(judge.out, "mem-mutex");
    assert_has(judge.out, "mem-robust");
    assert_lacks(judge.out, "cut off");
    /* One that can't be read does not keep the others from being judged. */
    cli_write(cli_path("run/000-a.history"), "LBHISTRY");
    judge = cli_ends(LB_EXIT_USAGE, ARGS("check", folder));
    assert_has(judge.err, "000-a.history is not a history of lockbench");
    assert_has(judge.out, "mem-robust");
}

/* A check has a history for each of its cells. */
TEST(test_all_cells_of_a_check_are_judged) {
    char *folder = cli_path("check");
    cli_ends(LB_EXIT_OK, ARGS("check", "mem-mutex,mem-robust", "--fault", "none", "--set",
                              "run.duration=300ms", "--out", folder));
    struct cli judge = cli_ends(LB_EXIT_OK, ARGS("check", folder));
    assert_has(judge.out, "cells/mem-mutex.none.1");
    assert_has(judge.out, "cells/mem-robust.none.1");
}

TEST(test_a_run_that_was_killed_is_judged) {
    struct cli run;
    char *folder = cli_path("killed");
    cli_start(&run, NULL,
              ARGS("run", "smoke", "--lock", "mem-mutex", "--set", "check.history=yes", "--set",
                   "run.duration=60s", "--out", folder));
    cli_until(&run, cli_has_second, cli_path("killed/000-mem-mutex-c1-r0.hlog"), "a second");
    cli_signal(&run, SIGKILL, CLI_KILLED + SIGKILL);
    struct cli judge = cli_ends(LB_EXIT_OK, ARGS("check", folder));
    assert_has(judge.out, "mem-mutex, mutex of");
    assert_has(judge.out, "the history was cut off");
}

TEST_MAIN(cli_setup, cli_teardown)
