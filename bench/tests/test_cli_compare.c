/* test_cli_compare: comparisons by the program itself, as cli_compare.txt has them. */
#define _GNU_SOURCE
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/cli_compare.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
