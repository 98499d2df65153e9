/* test_install: what is installed works, and can be removed, as install.txt has it. */
#define _GNU_SOURCE
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/install.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
