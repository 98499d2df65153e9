/* unpack_help: servers that Debian 12 does not have, unpacked in CI for one test (compose/unpack-server). */
#ifndef BENCH_TESTS_UNPACK_HELP_H
#define BENCH_TESTS_UNPACK_HELP_H

#include "bench/tests/cli_help.h"

static char unpack_folder[] = "/tmp/lockbench-unpacked-XXXXXX";

static inline int unpack_remove(void **state) {
    char command[100];
    (void)state;
    if (strstr(unpack_folder, "XXXXXX")) return 0;
    snprintf(command, sizeof command, "rm -rf %s", unpack_folder);
    return system(command);
}

/* The program of the one server of this test that compose/unpack-server knows, in a folder that the account of the servers reaches. Skips
 * the test loudly outside CI, and where the packages can't be had. unpack_remove ends what this began. */
static inline const char *unpack_need(const char *server) {
    static char program[400];
    char command[PATH_MAX + 100];
    const char *ci = getenv("CI");
    if (*program) return program;
    if (!ci || !*ci) {
        print_message("[ SKIPPED ] %s is missing: `compose/unpack-server %s DIR` brings it\n",
                      server, server);
        skip();
    }
    if (!mkdtemp(unpack_folder) || chmod(unpack_folder, 0755) != 0) fail_msg("no folder");
    snprintf(command, sizeof command, "'%s/compose/unpack-server' %s %s", cli_root, server,
             unpack_folder);
    FILE *out = popen(command, "r");
    bool told = out && fgets(program, sizeof program, out);
    if (!out || pclose(out) != 0 || !told) { /* a network without these suites of Debian */
        print_message("[ SKIPPED ] %s is missing, and compose/unpack-server failed\n", server);
        skip();
    }
    program[strcspn(program, "\n")] = '\0';
    return program;
}

#endif
