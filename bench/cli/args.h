/* args: a subcommand's arguments: long options from a table, operands, and the help that the table
 * gives.
 *
 * "--out DIR" and "--out=DIR" are the same; "--" ends the options; "-h" is "--help". No
 * abbreviations: a script must not change its meaning when an option is added. An unknown option
 * gets the nearest name. */
#ifndef BENCH_CLI_ARGS_H
#define BENCH_CLI_ARGS_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"

struct args_option {
    const char *name;  /* without the hyphens; NULL ends a table */
    const char *value; /* what to call its value in help: "DIR"; NULL = it takes none */
    const char *help;
};

struct args {
    int argc;
    char **argv;
    const struct args_option *options;
    int next;
    bool operands_only;
};

#define ARGS_END (-1)     /* no more */
#define ARGS_OPERAND (-2) /* not an option: *ret_value is the word */
#define ARGS_WRONG (-3)   /* err says why */

/* argv[0] is the subcommand's name and is left out. */
void args_init(struct args *args, int argc, char **argv, const struct args_option *options);

/* The next argument: an index into options (*ret_value is its value, NULL if it takes none), or one
 * of the above. Values are argv's. */
int args_next(struct args *args, const char **ret_value, struct lb_err *err);

/* "usage: lockbench <usage>", about, and the options in two columns. */
void args_help(const char *usage, const char *about, const struct args_option *options, FILE *out);

/* Prints the error as the program's one line, "lockbench: ...", and returns its exit code. With
 * LOCKBENCH_DEBUG set it adds the place in the source. */
int args_fail(const struct lb_err *err);

#endif
