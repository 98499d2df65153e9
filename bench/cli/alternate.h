/* alternate: whole runs of this program, or of two builds of it, one after the other, each a
 * process with servers of its own.
 *
 * Two sides alternate A B B A A B B A ..., so that a drift of the machine affects both alike. Each run is an
 * independent sample, because the run before leaves nothing behind.
 *
 * This file measures nothing: the children save their runs, and their output goes to a file beside
 * them. */
#ifndef BENCH_CLI_ALTERNATE_H
#define BENCH_CLI_ALTERNATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"

#define ALTERNATE_MAX 1000 /* runs a side */

struct alternate_side {
    /* "base", "new": also the name of its folder; "" = its runs are in the result's own folder */
    const char *name;
    const char *program;     /* NULL = this one */
    const char *const *argv; /* "run", ...; --out is appended; ends with NULL */
    /* how long a run takes by its plan; 0 = not known, so there is no time limit */
    int64_t planned_ns;
};

struct alternate_news {
    const struct alternate_side *side;
    int number;    /* number of the run on its side, from 0 */
    int done, all; /* number of runs of both sides */
    /* true: the run begins; false: it has ended, and the members below describe its end */
    bool begins;
    int exit_code;     /* of the child process */
    const char *saved; /* its folder; NULL = the run left no result */
    const char *why;   /* why the exit code is not 0; "" = it is 0 */
    int64_t took_ns;   /* how long this run took */
    /* the time that all further runs will take, estimated from those so far; 0 = there is no
     * estimate */
    int64_t left_ns;
};

struct alternate_ask {
    const char *folder;                /* the folder of the result, which exists */
    const struct alternate_side *side; /* one side, or the base and the new side */
    int side_count, repeat;
    const volatile sig_atomic_t *interrupts;
    void (*news)(void *arg, const struct alternate_news *news); /* never NULL */
    /* Called once, when each side has a first result: -1 with err ends it all. May be NULL. */
    int (*check)(void *arg, struct lb_err *err);
    void *arg;
};

struct alternate_end {
    int saved[2];     /* runs of each side that left a result with a stage, whole or partial */
    bool interrupted; /* the user interrupted, and the last run may be partial */
    /* of each side, the gravest exit code of the children that were not interrupted:
     * LB_EXIT_VIOLATED, then _MACHINE, _USAGE, then those of the child's own promises: _REGRESSION,
     * _INCONCLUSIVE */
    int exit_code[2];
    bool failed; /* a run failed, whatever the others found */
};

/* Returns 0 when all ran or the user interrupted; -1 with err when a run left no result, since
 * further ones would not leave one either, or when check returned -1. *ret_end is filled in any
 * case. No child process is left. */
int alternate_run(const struct alternate_ask *ask, struct alternate_end *ret_end,
                  struct lb_err *err);

#endif
