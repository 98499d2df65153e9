/* unpack_help: servers that Debian 12 does not have, unpacked in CI for one test (compose/unpack-server). */
#ifndef BENCH_TESTS_UNPACK_HELP_H
#define BENCH_TESTS_UNPACK_HELP_H

#include "bench/tests/cli_help.h"

#define UNPACKED_MAX 3

struct unpacked {
    char server[24], folder[40], program[400];
};
static struct unpacked unpacked[UNPACKED_MAX];

static inline int unpack_remove(void **state) {
    char command[100];
    int failed = 0;
    (void)state;
    for (int i = 0; i < UNPACKED_MAX && unpacked[i].folder[0]; i++) {
        snprintf(command, sizeof command, "rm -rf %s", unpacked[i].folder);
        failed |= system(command);
        unpacked[i] = (struct unpacked){0};
    }
    return failed;
}

/* The program of a server that compose/unpack-server knows, in a folder that the account of the servers reaches. Skips
 * the test loudly outside CI, and where the packages can't be had; but in CI a missing Valkey fails the test.
 * unpack_remove removes the folder. */
static inline const char *unpack_need(const char *server) {
    char command[PATH_MAX + 100];
    int place = 0;
    while (unpacked[place].program[0] && strcmp(unpacked[place].server, server) != 0) place++;
    assert_in_range(place, 0, UNPACKED_MAX - 1);
    struct unpacked *one = &unpacked[place];
    if (one->program[0]) return one->program;
    if (!in_ci()) {
        print_message("[ SKIPPED ] %s is missing: `compose/unpack-server %s DIR` brings it\n",
                      server, server);
        skip();
    }
    snprintf(one->server, sizeof one->server, "%s", server);
    snprintf(one->folder, sizeof one->folder, "/tmp/lockbench-unpacked-XXXXXX");
    if (!mkdtemp(one->folder) || chmod(one->folder, 0755) != 0) fail_msg("no folder");
    snprintf(command, sizeof command, "'%s/compose/unpack-server' %s %s", cli_root, server,
             one->folder);
    FILE *out = popen(command, "r");
    bool told = out && fgets(one->program, sizeof one->program, out);
    if (!out || pclose(out) != 0 || !told) { /* a network without these suites of Debian */
        print_message("[ SKIPPED ] %s is missing, and compose/unpack-server failed\n", server);
        one->program[0] = '\0';
        if (strcmp(server, "valkey") == 0) fail_msg("CI must have Valkey");
        skip();
    }
    one->program[strcspn(one->program, "\n")] = '\0';
    return one->program;
}

#endif
