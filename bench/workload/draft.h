/* draft: a plan in the making; shared by the files of plan_load and by nobody else. */
#ifndef BENCH_WORKLOAD_DRAFT_H
#define BENCH_WORKLOAD_DRAFT_H

#include "bench/workload/plan.h"
#include "bench/workload/workfile.h"

struct draft {
    struct plan *plan;
    struct arena *arena;
    struct settings
        settings;        /* of the file, then of the command line: the last one of a key wins */
    void **lock_options; /* of each lock of the registry, in its order */
    void **backend_options;
};

/* apply.c: fills every option struct with defaults. 0, or -1 with err. */
int draft_defaults(struct draft *draft, struct lb_err *err);
/* apply.c: one setting of the file or the command line. 0, or -1 with err: place, reason, what is
 * allowed. */
int draft_apply(struct draft *draft, const struct setting *setting, struct lb_err *err);

/* choose.c: plan->locks and plan->skipped, from plan->wished. 0, or -1 with err. */
int draft_choose(struct draft *draft, const struct plan_wish *wish, struct lb_err *err);

/* validate.c: what one value alone can't tell. 0, or -1 with err; adds to plan->warnings. */
int draft_check(struct draft *draft, struct lb_err *err);

#endif
