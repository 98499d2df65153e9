/* cli: the subcommands. Each prints, and returns the program's exit code. */
#ifndef BENCH_CLI_CLI_H
#define BENCH_CLI_CLI_H

#include <stdio.h>

#include "bench/cli/args.h"

/* Weak: a command whose folder in bench/tools was removed is missing, and the program builds without it. */
extern __attribute__((weak)) const struct command command_check, command_compare, command_capacity,
    command_report, command_history, command_list, command_plan, command_doctor, command_up,
    command_clean, command_check_suite;
extern const struct command command_run;

#define LOCKBENCH_VERSION "0.2.0"

/* Writes the output of `lockbench --version`: a line with the version and the commit, then a line
 * for each backend with its library, " redis: hiredis 0.14.1", or with the library that is missing
 * in this build. */
void version_write(FILE *out);

/* The whole program: picks the command, runs it, and returns the exit code. Call it on the main
 * thread. */
int cli_main(int argc, char **argv);

/* To be called before cli_main in a program whose run has its clients in other processes (bench/stage/peers.h). The
 * caller keeps them. */
struct peers;
void cli_join(struct peers *peers);
/* NULL = there are none: this process does everything. */
struct peers *cli_peers(void);

#endif
