/* test_check_called: locks as people call them, as called.txt has them.
 * Needs: servers, 2 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 900
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/called.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
