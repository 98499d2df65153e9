/* main: picks the subcommand. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/cli/cli.h"

static const struct command *const commands[] = {
    &command_run,      &command_check,  &command_plan,    &command_compare,
    &command_capacity, &command_report, &command_history, &command_judge,
    &command_list,     &command_doctor, &command_up,
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void help(FILE *out) {
    fprintf(
        out,
        "lockbench %s: which distributed lock to use, how fast it is here, and whether it is really a "
        "lock\n\n"
        "usage: lockbench COMMAND [OPTIONS]\n\n",
        LOCKBENCH_VERSION);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(
        out,
        "\n`lockbench COMMAND --help` tells more. Exit codes: 0 fine, 1 usage or input, 2 a server "
        "or the machine,\n"
        "3 exclusion violated or a lease outlived, 4 worse, 5 inconclusive (compare), 130 "
        "interrupted (what was measured is saved).\n");
}

/* The exit code; a failed write to standard output is an error. */
static int flushed(int code) {
    errno = 0;
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!lost || code != LB_EXIT_OK || errno == EPIPE) return code;
    struct lb_err err = {0};
    err_set(&err, LB_EXIT_MACHINE, "standard output: %s",
            errno ? strerror(errno) : "a write failed");
    return args_fail(&err);
}

int main(int argc, char **argv) {
    /* A reader that goes away must not kill us before the servers are stopped, nor a limit on the
     * size of files: both are errors of a write like others. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        help(stderr);
        return LB_EXIT_USAGE;
    }
    const char *wish = argv[1];
    if (strcmp(wish, "--help") == 0 || strcmp(wish, "-h") == 0 || strcmp(wish, "help") == 0) {
        help(stdout);
        return flushed(LB_EXIT_OK);
    }
    if (strcmp(wish, "--version") == 0) {
        printf("lockbench %s\n", LOCKBENCH_VERSION);
        return flushed(LB_EXIT_OK);
    }
    struct nearest nearest;
    char hint[64];
    nearest_init(&nearest, wish);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(wish, commands[i]->name) == 0)
            return flushed(command_main(commands[i], argc - 1, argv + 1));
        nearest_offer(&nearest, commands[i]->name);
    }
    struct lb_err err = {0};
    err_set(&err, LB_EXIT_USAGE, "unknown command '%s'%s; see lockbench --help", wish,
            nearest_hint(&nearest, hint, sizeof hint));
    return args_fail(&err);
}
