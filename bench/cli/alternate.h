/* alternate: whole runs of this program, or of two builds of it, one after the other, each a
 * process with servers of its own.
 *
 * Two sides alternate A B B A A B B A ..., so that what drifts on the machine hits both alike; each
 * run is an independent sample, since nothing of the one before is left. It measures nothing
 * itself: the children save their runs, and what they print goes to a file beside them. */
#ifndef BENCH_CLI_ALTERNATE_H
#define BENCH_CLI_ALTERNATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"

#define ALTERNATE_MAX 1000 /* runs a side */

struct alternate_side {
    const char *name;    /* "base", "new": also its folder's; "" = runs lie in the result's own */
    const char *program; /* NULL = this one */
    const char *const *argv; /* "run", ...; --out is put behind it; ends with NULL */
    /* what a run takes by its plan; 0 = nobody knows, so nothing limits it */
    int64_t planned_ns;
};

struct alternate_news {
    const struct alternate_side *side;
    int number;        /* of the side's run, from 0 */
    int done, all;     /* runs of both sides */
    bool begins;       /* else it has ended, and the following say how */
    int exit_code;     /* the child's */
    const char *saved; /* its folder; NULL = it left no result */
    const char *why;   /* why the exit code is not 0; "" = it is */
    int64_t took_ns;   /* this one */
    int64_t left_ns;   /* all that is to come, by what was seen so far; 0 = nothing to go by */
};

struct alternate_ask {
    const char *folder;                /* the result's, which exists */
    const struct alternate_side *side; /* one, or the base and the new one */
    int side_count, repeat;
    const volatile sig_atomic_t *interrupts;
    void (*news)(void *arg, const struct alternate_news *news); /* never NULL */
    /* Called once, when each side has a first result: -1 with err ends it all. May be NULL. */
    int (*check)(void *arg, struct lb_err *err);
    void *arg;
};

struct alternate_end {
    int saved[2];     /* runs of each side that left a result, whole or partial */
    bool interrupted; /* somebody did, and the last of them may be partial */
    /* the gravest of a child that was not interrupted: LB_EXIT_VIOLATED, then _MACHINE, _USAGE, then
     * what the child's own promises came to: _REGRESSION, _INCONCLUSIVE */
    int exit_code;
    bool failed; /* one of these failed as a run, whatever others found */
};

/* Which side the i-th run is of, from 0. */
int alternate_side_of(int i, int side_count);

/* 0 when all ran, or somebody interrupted; -1 with err when a run left no result, for further ones
 * would not either, or when check says so. *ret_end is filled in any case. No child is left. */
int alternate_run(const struct alternate_ask *ask, struct alternate_end *ret_end,
                  struct lb_err *err);

#endif
