/* thresholds: the promises of a run (`lockbench run --slo`, [slo] in a workload): collects evidence from each
 * stage, and decides at the end whether each lock kept each promise under each load.
 *
 * Locks that are broken on purpose and baselines make no promise, unless they were named. */
#ifndef BENCH_RUN_THRESHOLDS_H
#define BENCH_RUN_THRESHOLDS_H

#include "bench/run/stage.h"
#include "bench/slo/slo.h"
#include "bench/workload/stages.h"

/* promise: computes whether a stage keeps a promise ("99 % of the waits within 20 ms"), second by second, and
 * whether the rest of the window can still change that.
 *
 * An operation that was due and was not granted counts as over the limit: an operation that never started,
 * timed out or failed, or that still waits. No operation is left out. */

/* The number of values in a histogram up to limit_ns; a slot of the histogram that contains the
 * limit counts as a whole. */
uint64_t promise_within(const struct hist *hist, int64_t limit_ns);

/* The histogram's values as a batch, of which `below` are within the limit. */
struct quantile_batch promise_batch(const struct hist *hist, int64_t limit_ns);

/* Whether so many of `whole` operations are over the limit that chance is no explanation, although nothing is known
 * of how much they depend on each other. */
bool promise_is_far_over(const struct stage_promise *promise, double over, double whole);

/* Whether so many operations are over the limit after elapsed_ns of the window that the whole
 * window can only break the promise. */
bool promise_is_hopeless(const struct stage *stage, int64_t elapsed_ns);

/* The operations that the promise is about: due in the window (open loop) or begun in it (closed
 * loop). Of a latch the awaits alone: a count-down waits for nobody. */
uint64_t promise_due(const struct stage *stage);

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

/* run.json's .slo: new reference, NULL when out of memory. */
json_t *thresholds_json(const struct thresholds *thresholds);

/* The exit code: LB_EXIT_REGRESSION if a promise is broken; LB_EXIT_INCONCLUSIVE if none is broken but one is
 * unsure; else LB_EXIT_OK. why: the reason in words, "" for LB_EXIT_OK. */
int thresholds_exit(const struct thresholds *thresholds, char *why, size_t size);

#endif
