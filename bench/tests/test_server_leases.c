/* test_server_leases: leases and sessions that end on real servers, as server_leases.txt has them.
 * Needs: servers, 2 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/server_leases.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
