/* file_limit: room for the clients' file descriptors. */
#ifndef BENCH_CLI_FILE_LIMIT_H
#define BENCH_CLI_FILE_LIMIT_H

#include "bench/base/err.h"

/* Raises the limit on open files as far as so many clients need. 0, or -1 with err
 * (LB_EXIT_MACHINE): how. */
int file_limit_raise(int clients, struct lb_err *err);

#endif
