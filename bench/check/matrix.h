/* matrix: which cells a check has: locks x faults where a driver states what to expect, and each
 * control in the workload that is meant to expose it.
 *
 * A cell is an ordinary run of a workload with one lock. It starts nothing and asks no server;
 * whether a lock can run here the caller tells. */
#ifndef BENCH_CHECK_MATRIX_H
#define BENCH_CHECK_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "drivers/driver.h"
#include "results/format/check_read.h"

#define MATRIX_TRIALS_FULL 20 /* recoveries wanted of faults that are about them, with --full */

/* A column: a fault, or CHECK_EXPOSED. */
struct matrix_column {
    const char *name, *summary;
    enum lb_scenario fault; /* LB_SCENARIOS = CHECK_EXPOSED */
};

struct matrix_cell {
    const struct lb_lock *lock;
    int column;
    char workload[64];              /* as `run` takes it: "check/pause", "late" */
    const char *topology;           /* NULL = embedded */
    struct lb_expectation expected; /* of CHECK_EXPOSED: what must show */
    const char *sets[6]; /* what the lock needs beyond the workload, "acquire.mode=try"; NULL */
    int weight;          /* of its servers: what it takes of the jobs that run at once */
    int64_t time_ns;     /* of warm-up, window and a full drain, all its stages */
    int trials;          /* recoveries wanted; 0 = as many as come */
};

/* What is left out, and what would bring it in. */
struct matrix_skip {
    const struct lb_lock *lock;
    const char *fault;   /* NULL = under all of them */
    char reason[300];    /* as a phrase */
    bool unavailable;    /* this machine lacks something; else it can't do what the workload asks */
    const char *install; /* what would bring it in; NULL = nobody knows; borrowed */
};

struct matrix {
    struct matrix_column *columns;
    int column_count;
    struct matrix_cell *cells; /* by lock in the registry's order, then by column */
    int cell_count;
    struct matrix_skip *skips;
    int skip_count;
};

struct matrix_wish {
    const char *const *locks; /* words as --lock of a run takes them; none = all, controls too */
    int lock_count;
    const char *faults; /* names with commas between; NULL = the tour's */
    bool full;          /* all faults, not just the short tour's */
    int trials;         /* --trials; 0 = not given */
    const char *const *sets;
    int set_count;
    const char *folder; /* the workloads */
    /* As in struct plan_wish; may be NULL. */
    const char *(*why_not)(void *context, const struct lb_lock *lock, const char *topology,
                           const char *durability, const char **ret_install);
    /* What starting a topology's servers takes of the jobs that run at once, from 1; NULL = 1 for
     * all. */
    int (*weigh)(void *context, const char *topology);
    void *why_not_context; /* for both */
};

/* 0, or -1 with err: an unknown lock or fault with the nearest name, a wrong workload, a lock that
 * was named and can't run here under any of them (LB_EXIT_MACHINE), no cell at all. matrix_done in
 * any case. */
int matrix_make(const struct matrix_wish *wish, struct matrix *ret_matrix, struct lb_err *err);
void matrix_done(struct matrix *matrix);

#endif
