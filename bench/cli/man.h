/* man: the man pages, made from the tables of the commands. */
#ifndef BENCH_CLI_MAN_H
#define BENCH_CLI_MAN_H

#include "bench/base/err.h"
#include "bench/cli/args.h"

/* Writes lockbench.1 and lockbench-COMMAND.1 of each command into a folder that exists. 0, or -1
 * with err. */
int man_write(const char *folder, struct lb_err *err);

/* The page of another program than lockbench. */
struct man_program {
    const char *name, *summary;
    const char *synopsis;           /* lines, as they are */
    const char *about;              /* running text; `code` is bold */
    const struct example *examples; /* ends with line = NULL */
    const char *const *see_also;    /* pages of section 1; ends with NULL */
};

/* Writes NAME.1 into a folder that exists. 0, or -1 with err. */
int man_write_program(const char *folder, const struct man_program *program, struct lb_err *err);

#endif
