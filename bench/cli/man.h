/* man: the man pages, made from the tables of the commands. */
#ifndef BENCH_CLI_MAN_H
#define BENCH_CLI_MAN_H

#include "bench/base/err.h"

/* Writes lockbench.1 and lockbench-COMMAND.1 of each command into a folder that exists. 0, or -1
 * with err. */
int man_write(const char *folder, struct lb_err *err);

#endif
