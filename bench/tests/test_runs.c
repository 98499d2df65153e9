/* test_runs: runs of locks of this machine, as runs.txt has them. Takes a minute. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 250
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/runs.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
