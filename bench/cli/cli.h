/* cli: the subcommands; each prints, and gives the program's exit code. */
#ifndef BENCH_CLI_CLI_H
#define BENCH_CLI_CLI_H

#include "bench/cli/args.h"
#include "bench/cli/version.h"

extern const struct command command_run, command_check, command_compare, command_capacity,
    command_report, command_history, command_judge, command_list, command_plan, command_doctor,
    command_up, command_hold, command_clean, command_conform, command_verify;

/* All of them, in the order of the help; ends with NULL. */
extern const struct command *const commands[];

/* The command of a name; NULL with err, which has the nearest name. */
const struct command *command_find(const char *name, struct lb_err *err);

#endif
