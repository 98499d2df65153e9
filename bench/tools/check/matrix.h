/* matrix: the cells of a check: locks x scenarios for which a driver states what to expect, and
 * each control in the workload that is meant to expose it.
 *
 * A cell is an ordinary run of a workload with one lock. This module starts nothing and asks no
 * server; the caller says whether a lock can run here. */
#ifndef BENCH_TOOLS_CHECK_MATRIX_H
#define BENCH_TOOLS_CHECK_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "drivers/driver.h"
#include "results/format/check_read.h"

#define SKIP_REASON_MAX 300

/* A column: a scenario, or CHECK_EXPOSED. */
struct matrix_column {
    const char *name, *summary;
    enum lb_scenario scenario; /* LB_SCENARIOS: the column CHECK_EXPOSED */
    bool suite;                /* the column CHECK_CONFORMANCE; .scenario is not used */
};

struct matrix_cell {
    const struct lb_lock *lock;
    const struct matrix_column *column;
    char workload[64];              /* as `run` takes it: "check/pause", "late" */
    const char *topology;           /* NULL = embedded */
    struct lb_expectation expected; /* for CHECK_EXPOSED: what the control must show */
    /* settings that the lock needs beyond the workload, "acquire.mode=try"; or NULL */
    const char *sets[6 + LB_EXPECT_SETS];
    int weight;      /* the weight of its servers; see struct jobs */
    int64_t time_ns; /* the sum of warm-up, window and a full drain over all its stages */
};

/* A cell or lock that is left out, and what to install for it. */
struct matrix_skip {
    const struct lb_lock *lock;
    const char *scenario;         /* NULL = in all scenarios */
    char reason[SKIP_REASON_MAX]; /* as a phrase */
    /* true: this machine lacks something; false: the lock can't do what the workload asks */
    bool unavailable;
    bool out_of_reach;   /* the fault can't act on the server, because lockbench did not start it */
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

struct matrix_ask {
    const char *const *locks; /* words as for --lock of a run; none = all, including controls */
    int lock_count;
    const char *faults; /* names with commas between; NULL = the usual ones */
    /* The servers are the user's (--url): the usual columns are the conformance suite, and faults
     * that don't need control of the server. */
    bool deployed;
    bool full; /* all scenarios, not only those of the short check */
    const char *const *sets;
    int set_count;
    const char *folder; /* the workloads */
    /* As in struct plan_ask; may be NULL. */
    const char *(*why_not)(void *context, const struct lb_lock *lock, const char *topology,
                           const struct plan *plan, const char **ret_install);
    /* The weight of a topology's servers, from 1; NULL = 1 for all. */
    int (*weigh)(void *context, const char *topology);
    /* Writes to text why the plan's faults can't act on the lock's server, as a phrase; returns
     * NULL if they can. The function is NULL if lockbench starts all servers. */
    const char *(*out_of_reach)(void *context, const struct plan *plan, const struct lb_lock *lock,
                                char *text, size_t size);
    void *why_not_context; /* the context of these functions */
};

/* Returns 0, or -1 with err: an unknown lock or fault, with the nearest name; a wrong workload; a
 * named lock that can't run here in any scenario (LB_EXIT_MACHINE); no cell at all. Call
 * matrix_done in either case. */
int matrix_make(const struct matrix_ask *ask, struct matrix *ret_matrix, struct lb_err *err);
void matrix_done(struct matrix *matrix);

#endif
