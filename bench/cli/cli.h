/* cli: the subcommands; each prints, and gives the program's exit code. */
#ifndef BENCH_CLI_CLI_H
#define BENCH_CLI_CLI_H

#include "bench/cli/args.h"

#define LOCKBENCH_VERSION "0.1"

extern const struct command command_run, command_check, command_compare, command_capacity,
    command_report, command_history, command_judge, command_list, command_plan, command_doctor,
    command_up;

#endif
