/* test_server_use: the cost of a lock on its server, as server_use.txt has it. What servers write is counted at a disk, so
 * their folders are not in memory.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/transcripts.h"

FIXTURE(on_disk) {
    setenv("TMPDIR", "/tmp", 1);
    return cli_setup(state);
}

int main(void) {
    add_transcripts("bench/tests/server_use.txt");
    return run_all_tests(on_disk, cli_teardown);
}
