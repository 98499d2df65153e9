/* conclusion: derives the verdict on the whole run from the findings of its stages.
 *
 * A lock that people would use must come out clean. A control that "all" included must be caught by
 * the workload that is meant to expose it, otherwise the checks can't be trusted. A control
 * that the user named is judged like any lock, and must show its mistake where it can. */
#ifndef BENCH_RUN_CONCLUSION_H
#define BENCH_RUN_CONCLUSION_H

#include <stdbool.h>

#include "bench/stage/stage.h"
#include "bench/workload/stages.h"

struct conclusion {
    const struct plan *plan;
    bool granted;    /* a lock, in a measured window of any stage */
    bool held;       /* somebody else held a lock's keys when all clients had ended */
    uint64_t missed; /* requests that could not be started in the window, of all stages */
    /* What happened, of the first lock that must exclude and did not (of tokens alone only if nothing else was
     * found), and of the first whose holders outlived their leases or sessions; NULL = none. */
    const char *violated, *expired;
    bool stuck;            /* a free key of such a lock that no client got any more */
    bool starved;          /* clients waited for such a lock until the drain limit */
    bool tested, untested; /* stages of such locks that came out clean, and without a trial */
    struct control_seen *control; /* one for each of plan->locks */
};

/* 0, or -1 with err when out of memory. */
int conclusion_init(struct conclusion *conclusion, const struct plan *plan, struct lb_err *err);
void conclusion_done(struct conclusion *conclusion);

/* Adds a stage. True if its finding must be printed at once; then `line` has the text. */
bool conclusion_add_stage(struct conclusion *conclusion, const struct stage *stage,
                          const struct plan_stage *of, char *line, size_t size);

/* The name of a control that should have been caught and never was; NULL when there is none. */
const char *conclusion_missed_control(const struct conclusion *conclusion);

/* The run's verdict: the finding that decides its exit code. */
enum verdict conclusion_verdict(const struct conclusion *conclusion);

#endif
