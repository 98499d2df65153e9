/* promise: computes whether a stage keeps a promise ("99 % of the waits within 20 ms"), second by second, and
 * whether the rest of the window can still change that.
 *
 * An operation that was due and was not granted counts as over the limit: an operation that never started,
 * timed out or failed, or that still waits. No operation is left out. */
#ifndef BENCH_STAGE_PROMISE_H
#define BENCH_STAGE_PROMISE_H

#include "bench/stage/stage.h"
#include "results/stats/quantile.h"

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

#endif
