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
    void **lock_options; /* one for each lock of the registry, in its order */
    void **backend_options;
};

/* choose.c: fills plan->locks and plan->skipped from plan->lock_words. Returns 0, or -1 with err. */
int draft_choose(struct draft *draft, const struct plan_ask *ask, struct lb_err *err);

/* validate.c: checks values against each other. Returns 0, or -1 with err; adds to
 * plan->warnings. */
int draft_check(struct draft *draft, struct lb_err *err);

#endif
