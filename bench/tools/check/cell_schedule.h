/* cell_schedule: runs the cells of a matrix, several at once, each as a run of this program in a
 * folder of its own, and passes their results on. */
#ifndef BENCH_TOOLS_CHECK_CELL_SCHEDULE_H
#define BENCH_TOOLS_CHECK_CELL_SCHEDULE_H

#include <signal.h>

#include "bench/tools/check/result.h"

/* A run that has ended. */
struct cell_schedule_news {
    const struct result *result;
    const struct matrix_cell *cell;
    uint64_t seed;
    const struct cell_result *cell_result; /* the result of this run */
    const char *folder;                    /* its folder, which has its log */
    /* the run showed nothing: the cell is tried once more, and this run does not count */
    bool again;
    int done, known; /* runs that have ended, and runs that are known to be needed */
    int64_t took_ns;
};

/* Runs the cells of a result, in cells/ of its folder, and calls `news` after each run. Returns 0 when all cells were
 * tried or the user interrupted; -1 with err when it could not continue (no processes, no disk). No child process is
 * left in either case. */
int cell_schedule_run(struct result *result, const volatile sig_atomic_t *interrupts,
                      void (*news)(const struct cell_schedule_news *news), struct lb_err *err);

#endif
