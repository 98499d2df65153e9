/* draft: a plan that is being made; only the files that implement plan_load include this. */
#ifndef BENCH_WORKLOAD_DRAFT_H
#define BENCH_WORKLOAD_DRAFT_H

#include "bench/workload/plan.h"
#include "bench/workload/workfile.h"

struct draft {
    struct plan *plan;
    struct arena *arena;
    /* the settings of the file, then those of the command line: of each key the last one is used */
    struct settings settings;
    /* those of the sections, then of the locks, then of the backends, in the order of the registry */
    struct owner {
        const char *name; /* that of a lock and of a backend may be the same ("sim") */
        const struct lb_option *keys;
        void *values;
        const struct lb_backend *backend; /* NULL: a section's */
    } * owners, *locks, *backends;
    int owner_count;
};

/* choose.c: fills plan->locks and plan->skipped from plan->lock_words. Returns 0, or -1 with err. */
int draft_choose(struct draft *draft, const struct plan_ask *ask, struct lb_err *err);

/* validate.c: checks values against each other. Returns 0, or -1 with err; adds to
 * plan->warnings. */
int draft_check(struct draft *draft, struct lb_err *err);

#endif
