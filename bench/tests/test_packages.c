/* test_packages: what compose/install and others say and do where something is missing, as packages.txt has it. A script of
 * a topology asks its server for its version; and it builds for half a minute.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "bench/tests/transcripts.h"

int main(void) {
    add_transcripts("bench/tests/packages.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
