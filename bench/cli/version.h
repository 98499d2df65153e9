/* version: what this build is: its version, its commit, the client libraries that it is linked
 * with. */
#ifndef BENCH_CLI_VERSION_H
#define BENCH_CLI_VERSION_H

#include <stdio.h>

#define LOCKBENCH_VERSION "0.1"

/* What `lockbench --version` says: a line with the version and the commit, then a line for each
 * library, "  hiredis 0.14.1", or for a backend whose library is missing in this build. */
void version_write(FILE *out);

#endif
