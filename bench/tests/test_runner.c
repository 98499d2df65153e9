/* test_runner: bench/tests/run, which runs the test programs, as runner.txt has it. */
#define _GNU_SOURCE
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/runner.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
