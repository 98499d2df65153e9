/* test_check_deployed: locks as people deploy them, as deployed.txt has them.
 * Needs: servers, 2 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 900
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/deployed.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
