/* test_manual: what the program tells of itself, as manual.txt has it. */
#define _GNU_SOURCE
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/manual.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
