/* version: the version of this build, its commit, and the client libraries that it is linked
 * with. */
#ifndef BENCH_CLI_VERSION_H
#define BENCH_CLI_VERSION_H

#include <stdio.h>

#define LOCKBENCH_VERSION "0.2.0"

/* Writes the output of `lockbench --version`: a line with the version and the commit, then a line
 * for each backend with its library, " redis: hiredis 0.14.1", or with the library that is missing
 * in this build. */
void version_write(FILE *out);

#endif
