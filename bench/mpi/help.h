/* help: the texts about lockbench-hosts, which need no MPI: its usage, and the completions of its command
 * line. */
#ifndef BENCH_MPI_HELP_H
#define BENCH_MPI_HELP_H

#include <stdio.h>

void help_usage(FILE *out);

/* Like complete_words. own_name: the program's name, which may be one of the words after `launch`. The words end with
 * NULL. */
void help_complete(const char *own_name, int count, char *const *words, FILE *out);

#endif
