/* version: what this build is: its version, its commit, the client libraries that it is linked
 * with. */
#ifndef BENCH_CLI_VERSION_H
#define BENCH_CLI_VERSION_H

#include <stdio.h>

#define LOCKBENCH_VERSION "0.1"

/* The commit's date, "2026-11-23"; "" when it is not known. */
const char *version_date(void);

/* What `lockbench --version` says: a line with the version and the commit, then a line for each
 * backend with its library, "  redis: hiredis 0.14.1", or with what is missing in this build. */
void version_write(FILE *out);

#endif
