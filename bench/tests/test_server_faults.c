/* test_server_faults: runs on real servers that die, stand still or are cut off, as server_faults.txt has them.
 * Needs: servers, 3 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/server_faults.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
