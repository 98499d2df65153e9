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

/* apply.c: fills every option struct with defaults. Returns 0, or -1 with err. */
int draft_defaults(struct draft *draft, struct lb_err *err);
/* apply.c: applies one setting of the file or the command line. Returns 0, or -1 with err: place,
 * reason, what is allowed. */
int draft_apply(struct draft *draft, const struct setting *setting, struct lb_err *err);

/* choose.c: fills plan->locks and plan->skipped from plan->wished. Returns 0, or -1 with err. */
int draft_choose(struct draft *draft, const struct plan_wish *wish, struct lb_err *err);

/* validate.c: checks values against each other. Returns 0, or -1 with err; adds to
 * plan->warnings. */
int draft_check(struct draft *draft, struct lb_err *err);

#endif
