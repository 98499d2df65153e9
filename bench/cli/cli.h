/* cli: the subcommands; each prints, and returns the program's exit code. */
#ifndef BENCH_CLI_CLI_H
#define BENCH_CLI_CLI_H

#define LOCKBENCH_VERSION "0.1"

int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_capacity(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_judge(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_up(int argc, char **argv);

#endif
