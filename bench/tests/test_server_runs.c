/* test_server_runs: runs and checks on real servers, as server_runs.txt has them.
 * Needs: servers, a minute. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/server_runs.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
