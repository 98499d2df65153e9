/* matrix: the cells of a check: locks x scenarios where a driver states what to expect, and each
 * control in the workload that is meant to expose it.
 *
 * A cell is an ordinary run of a workload with one lock. This module starts nothing and asks no
 * server; the caller says whether a lock can run here. */
#ifndef BENCH_CHECK_MATRIX_H
#define BENCH_CHECK_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "drivers/driver.h"
#include "results/format/check_read.h"

/* recoveries wanted with --full, in scenarios that are about recovery */
#define MATRIX_TRIALS_FULL 20
#define SKIP_REASON_MAX 300

/* A column: a scenario, or CHECK_EXPOSED. */
struct matrix_column {
    const char *name, *summary;
    enum lb_scenario fault; /* LB_SCENARIOS = CHECK_EXPOSED */
    bool suite;             /* CHECK_CONFORMANCE, and .fault is none */
};

struct matrix_cell {
    const struct lb_lock *lock;
    int column;
    char workload[64];              /* as `run` takes it: "check/pause", "late" */
    const char *topology;           /* NULL = embedded */
    struct lb_expectation expected; /* for CHECK_EXPOSED: what must show */
    const char *sets[6]; /* what the lock needs beyond the workload, "acquire.mode=try"; NULL */
    int weight;          /* weight of its servers, in the capacity of jobs */
    int64_t time_ns;     /* warm-up, window and a full drain of all its stages */
    int trials;          /* recoveries wanted; 0 = as many as come */
};

/* A cell or lock that is left out, and what to install for it. */
struct matrix_skip {
    const struct lb_lock *lock;
    const char *fault;            /* NULL = in all scenarios */
    char reason[SKIP_REASON_MAX]; /* as a phrase */
    /* this machine lacks something; false = the lock can't do what the workload asks */
    bool unavailable;
    bool out_of_reach;   /* its fault can't act on the server, which is not lockbench's */
    const char *install; /* what to install; NULL = unknown; borrowed */
};

struct matrix {
    struct matrix_column *columns;
    int column_count;
    struct matrix_cell *cells; /* by lock in the registry's order, then by column */
    int cell_count;
    struct matrix_skip *skips;
    int skip_count;
};

struct plan;

struct matrix_wish {
    const char *const *locks; /* words as for --lock of a run; none = all, including controls */
    int lock_count;
    const char *faults; /* names with commas between; NULL = the tour's */
    /* Is what a server sells as a lock a lock? The conformance suite, and faults that need no hand on it. */
    bool verify;
    bool full;  /* all scenarios, not only those of the short check */
    int trials; /* --trials; 0 = not given */
    const char *const *sets;
    int set_count;
    const char *folder; /* the workloads */
    /* As in struct plan_wish; may be NULL. */
    const char *(*why_not)(void *context, const struct lb_lock *lock, const char *topology,
                           const struct plan *plan, const char **ret_install);
    /* What starting a topology's servers takes of the jobs that run at once, from 1; NULL = 1 for
     * all. */
    int (*weigh)(void *context, const char *topology);
    /* Why the plan's faults can't act on the lock's server, as a phrase, into text; NULL = they can. NULL:
     * all servers are lockbench's. */
    const char *(*out_of_reach)(void *context, const struct plan *plan, const struct lb_lock *lock,
                                char *text, size_t size);
    void *why_not_context; /* for all of them */
};

/* 0, or -1 with err: an unknown lock or fault with the nearest name, a wrong workload, a lock that
 * was named and can't run here under any of them (LB_EXIT_MACHINE), no cell at all. matrix_done in
 * any case. */
int matrix_make(const struct matrix_wish *wish, struct matrix *ret_matrix, struct lb_err *err);
void matrix_done(struct matrix *matrix);

#endif
