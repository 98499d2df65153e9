/* thresholds: the promises of a run (`lockbench run --slo`, [slo] in a workload): collects evidence from each
 * stage, and decides at the end whether each lock kept each promise under each load.
 *
 * Locks that are broken on purpose and baselines make no promise, unless they were named. */
#ifndef BENCH_RUN_THRESHOLDS_H
#define BENCH_RUN_THRESHOLDS_H

#include "bench/slo/slo.h"
#include "bench/stage/stage.h"
#include "bench/workload/stages.h"

struct threshold_row;

struct thresholds {
    struct threshold threshold[THRESHOLDS_MAX];
    int count;
    struct threshold_row *rows; /* one for each lock and load */
    int row_count;
    bool failed; /* out of memory: a stage is missing */
};

/* 0, or -1 with err: plan->promises is no list of promises. */
int thresholds_init(struct thresholds *thresholds, const struct plan *plan, struct lb_err *err);
void thresholds_done(struct thresholds *thresholds);

/* Takes the evidence of a stage, including the seconds of its .hlog. Does nothing if the run has no promise. */
void thresholds_take(struct thresholds *thresholds, const struct stage *stage);

/* stage_ask.enough, of a stage with a promise: whether that can only be broken. */
bool thresholds_are_hopeless(void *arg, const struct stage *stage);

/* run.json's .slo: new reference, NULL when out of memory. */
json_t *thresholds_json(const struct thresholds *thresholds);

/* The exit code: LB_EXIT_REGRESSION if a promise is broken; LB_EXIT_INCONCLUSIVE if none is broken but one is
 * unsure; else LB_EXIT_OK. why: the reason in words, "" for LB_EXIT_OK. */
int thresholds_exit(const struct thresholds *thresholds, char *why, size_t size);

#endif
