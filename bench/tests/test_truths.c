/* test_truths: `lockbench check` finds the known behaviour of locks, as truths.txt has it. No part of `make test`.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 900
#include "bench/tests/transcripts.h"

FIXTURE(nothing_is_left) {
    cli_assert_nothing_left();
    return cli_teardown(state);
}

int main(void) {
    add_transcripts("bench/tests/truths.txt");
    return run_all_tests(cli_setup, nothing_is_left);
}
