/* cell_schedule: runs the cells of a matrix, several at once, each as a run of this program in a
 * folder of its own, and passes their results on. */
#ifndef BENCH_TOOLS_CHECK_CELL_SCHEDULE_H
#define BENCH_TOOLS_CHECK_CELL_SCHEDULE_H

#include <signal.h>

#include "bench/tools/check/result.h"

struct cell_schedule_news {
    const struct matrix_cell *cell;
    uint64_t seed;
    const struct cell_result *cell_result; /* the result of this run */
    const char *folder;                    /* its folder, which has its log */
    /* the run showed nothing: the cell is tried once more, and this run does not count */
    bool again;
    int done, known; /* runs that have ended, and runs that are known to be needed */
    int64_t took_ns;
};

struct cell_schedule_ask {
    struct result
        *result; /* its ask has the matrix, the seeds, and the folder, in which cells/ is made */
    const char *const *sets; /* --set for every cell */
    int set_count;
    const char *const *urls; /* --url for every cell, without a password in it */
    int url_count;
    int capacity; /* the greatest sum of the weights of jobs that run at once */
    const volatile sig_atomic_t *interrupts;
    /* called after each run; never NULL */
    void (*news)(void *arg, const struct cell_schedule_news *news);
    void *arg;
};

/* Returns 0 when all cells were tried or the user interrupted; -1 with err when it could not
 * continue (no processes, no disk). No child process is left in either case. */
int cell_schedule_run(const struct cell_schedule_ask *ask, struct lb_err *err);

#endif
