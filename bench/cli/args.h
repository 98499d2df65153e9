/* args: a subcommand: its arguments in a table, the struct that they fill, and its help.
 *
 * "--out DIR" and "--out=DIR" are the same, and "-c 8", "-c8"; "--" ends the options; "-h" is "--help". Options can't
 * be abbreviated, because a script must not change its meaning when an option is added. The error
 * for an unknown option has the nearest name, and the error for a wrong value says what is
 * allowed. */
#ifndef BENCH_CLI_ARGS_H
#define BENCH_CLI_ARGS_H

#include <stdio.h>

#include "bench/base/err.h"
#include "bench/option/option.h"
#include "report/doc/screen.h"

/* A row. The name of an option is without the hyphens. "" takes the operands (one, or several with
 * ARG_LIST). "--" takes the operands after a "--", and options may follow there. A row without help is not shown. */
struct arg {
    struct lb_option option;
    /* the name of its value in help: "DIR", or with a short form "-d DIR"; NULL = the option has no value */
    const char *value;
};

/* All values that were given, in their order. A zeroed struct has none. */
struct arg_list {
    const char **item; /* belongs to the arena */
    int count;
};

/* 0, or -1 with err when out of memory. */
int arg_list_add(struct arg_list *list, const char *text, struct arena *arena, struct lb_err *err);
/* "a,b,c"; belongs to the arena. NULL with err when out of memory. */
char *arg_list_join(const struct arg_list *list, struct arena *arena, struct lb_err *err);

extern const struct lb_option_type arg_type_flag; /* bool: the option was given */
/* an enum: the option sets it to the entry's .min; two options of one member are refused */
extern const struct lb_option_type arg_type_pick;
extern const struct lb_option_type arg_type_path; /* const char *: not empty */
extern const struct lb_option_type
    arg_type_list; /* struct arg_list, of at most .max items if set */
#define ARG_FLAG (&arg_type_flag)
#define ARG_PICK (&arg_type_pick)
#define ARG_PATH (&arg_type_path)
#define ARG_LIST (&arg_type_list)

/* struct arg_list: a key of the workload, as one more --set. .choices: its name, and the beginning of its value, as
 * "load.arrival=poisson:". The value is checked here, so that an error names the option that was typed. */
extern const struct lb_option_type arg_type_key;
#define ARG_KEY (&arg_type_key)

/* double, a second: "40/s", "40" */
extern const struct lb_option_type arg_type_rate;
#define ARG_RATE (&arg_type_rate)

/* uint32_t, a choice of figures as report/compare/compare.h has it: --metric, given once, as a list */
extern const struct lb_option_type arg_type_metrics;
#define ARG_METRICS (&arg_type_metrics)

/* The inputs of a command besides its struct. */
struct args {
    int argc; /* argv[0] is the command's name */
    char **argv;
    struct arena *arena; /* freed when the command ends */
};

/* An example, for help and the man page. */
struct example {
    const char *line; /* "lockbench doctor"; NULL ends the list */
    const char *about;
};

struct command {
    const char *name, *summary; /* summary: for `lockbench --help` */
    const char *usage;          /* "run [WORKLOAD|FILE] [OPTIONS]" */
    const char *about;
    const struct example *examples;
    const struct arg *args; /* ends with a NULL name; --help is added */
    size_t bytes;           /* the size of the struct that the arguments fill */
    /* the struct before the arguments are read; NULL = zeros, and the .def of each row */
    const void *start;
    /* Runs the command, which may print. Returns the exit code, or -1 with err. */
    int (*run)(void *values, const struct args *args, struct lb_err *err);
    void (*more_help)(
        const struct screen *screen); /* the text after the options in --help; may be NULL */
};

/* Prints "Usage: lockbench <usage>", the description, and the options in two columns, as wide as
 * the screen. */
void args_help(const struct command *command, FILE *out);

/* Does everything for a command: reads its arguments, prints its help, runs it, prints its error.
 * Returns the program's exit code. */
int command_main(const struct command *command, int argc, char **argv);

/* Prints the error as the program's one line, "lockbench: ...", and returns its exit code. */
int args_fail(const struct lb_err *err);

#endif
