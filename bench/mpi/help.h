/* help: the texts about lockbench-hosts, which need no MPI: its usage, its man page, and the completions of its command
 * line. */
#ifndef BENCH_MPI_HELP_H
#define BENCH_MPI_HELP_H

#include <stdio.h>

#include "bench/base/err.h"

void help_usage(FILE *out);

/* Writes lockbench-hosts.1 into a folder that exists. 0, or -1 with err. */
int help_man(const char *folder, struct lb_err *err);

/* Like complete_words. own_name: the program's name, which may be one of the words after `launch`. The words end with
 * NULL. */
void help_complete(const char *own_name, int count, char *const *words, FILE *out);

#endif
