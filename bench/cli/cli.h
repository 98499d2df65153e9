/* cli: the subcommands. Each prints, and returns the program's exit code. */
#ifndef BENCH_CLI_CLI_H
#define BENCH_CLI_CLI_H

#include "bench/cli/args.h"
#include "bench/cli/version.h"

extern const struct command command_run, command_check, command_compare, command_capacity,
    command_report, command_history, command_list, command_plan, command_doctor, command_up,
    command_hold, command_clean;

/* All of them, in the order of the help; ends with NULL. */
extern const struct command *const commands[];

/* The whole program: picks the command, runs it, and returns the exit code. Call it on the main
 * thread. */
int cli_main(int argc, char **argv);

/* To be called before cli_main in a program that runs on several hosts: sets the hosts with the
 * clients. The caller keeps them. */
struct hosts;
void cli_join_hosts(struct hosts *hosts);
/* NULL = there are none: this host does everything. */
struct hosts *cli_hosts(void);

/* The command of a name; NULL with err, which has the nearest name. */
const struct command *command_find(const char *name, struct lb_err *err);

#endif
