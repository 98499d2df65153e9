/* tour: runs the cells of a matrix, several at once, each as a run of this program in a folder of
 * its own, and hands what they showed to the result. */
#ifndef BENCH_CHECK_TOUR_H
#define BENCH_CHECK_TOUR_H

#include <signal.h>

#include "bench/check/result.h"

struct tour_news {
    const struct matrix_cell *cell;
    int index; /* of the cell */
    uint64_t seed;
    const json_t *seen; /* what this run showed */
    bool again;         /* nothing: it is tried once more, and this does not count */
    int done, known;    /* runs that ended, and that are known to be wanted */
    int64_t took_ns;
};

struct tour_ask {
    const struct matrix *matrix;
    struct result *result;
    const char *program; /* NULL = this one */
    const char *folder;  /* the result's; cells go to folder/cells/ */
    const uint64_t *seeds;
    int seed_count;
    const char *const *sets; /* --set of every cell */
    int set_count;
    int capacity; /* of jobs */
    const volatile sig_atomic_t *interrupts;
    void (*news)(void *arg, const struct tour_news *news); /* after each run; never NULL */
    void *arg;
};

/* 0 when all was tried or somebody interrupted; -1 with err when it could not go on (no processes,
 * no disk). No child is left in either case. */
int tour_run(const struct tour_ask *ask, struct lb_err *err);

#endif
