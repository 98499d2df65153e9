/* judge: derives the verdict on the whole run from the findings of its stages.
 *
 * A lock that people would use must come out clean. A control that "all" included must be caught by
 * the workload that is meant to expose it, otherwise the checks can't be trusted. A control
 * that the user named is judged like any lock, and must show its mistake where it can. */
#ifndef BENCH_RUN_JUDGE_H
#define BENCH_RUN_JUDGE_H

#include "bench/run/stage.h"
#include "bench/workload/stages.h"

struct judge {
    const struct plan *plan;
    bool granted;          /* a lock, in a measured window of any stage */
    uint64_t missed;       /* requests that could not be started in the window, of all stages */
    bool violated;         /* a lock that must exclude did not, or its fencing tokens were wrong */
    bool admitted_two;     /* two clients held at once: not only tokens were wrong */
    bool expired;          /* holders of such a lock outlived their leases, and nothing worse */
    bool stuck;            /* a free key of such a lock that no client got any more */
    bool starved;          /* clients waited for such a lock until the drain limit */
    bool tested, untested; /* stages of such locks that came out clean, and without a trial */
    struct trial *control; /* one for each of plan->locks */
};

/* 0, or -1 with err when out of memory. */
int judge_init(struct judge *judge, const struct plan *plan, struct lb_err *err);
void judge_done(struct judge *judge);

/* Adds a stage. True if its finding must be printed at once; then `line` has the text. */
bool judge_stage(struct judge *judge, const struct stage *stage, const struct plan_stage *of,
                 char *line, size_t size);

/* Whether a control that runs in a workload of its own has been caught in this repeat: more of its
 * stages would show nothing new. */
bool judge_is_done(const struct judge *judge, const struct plan_stage *of);

/* The name of a control that should have been caught and never was; NULL when there is none. */
const char *judge_missed(const struct judge *judge);

/* The run's verdict: the finding that decides its exit code. */
enum verdict judge_verdict(const struct judge *judge);

#endif
