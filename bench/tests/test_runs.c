/* test_runs: runs of locks of this machine, as runs.txt has them. */
#define _GNU_SOURCE
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/runs.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
