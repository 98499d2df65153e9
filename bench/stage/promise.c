/* promise: see harvest.h. */
#include "bench/stage/harvest.h"

#include <math.h>

/* A promise is broken for good only if so many times as many values are over the limit as the whole
 * window may have, and so many more than chance would bring. */
#define TIMES 3.0
#define MORE 10.0

uint64_t promise_within(const struct hist *hist, int64_t limit_ns) {
    uint64_t within = 0;
    for (int32_t slot = hist->first; slot <= hist->last && hist_slot_low(hist, slot) <= limit_ns;
         slot++) {
        within += (uint64_t)hist->counts[slot];
    }
    return within;
}

struct quantile_batch promise_batch(const struct hist *hist, int64_t limit_ns) {
    struct quantile_batch batch = {.count = (uint64_t)(hist->count + hist->over),
                                   .below = promise_within(hist, limit_ns)};
    for (int32_t slot = hist->first; slot <= hist->last; slot++) {
        double count = (double)hist->counts[slot], value = (double)hist_slot_middle(hist, slot);
        batch.sum += count * value;
        batch.squares += count * value * value;
    }
    return batch;
}

uint64_t promise_due(const struct stage *stage) {
    bool closed = stage->ask->of.plan->arrival.kind == ARRIVAL_CLOSED;
    return (uint64_t)(closed ? stage->result.attempts : stage->result.due);
}

bool promise_is_far_over(const struct stage_promise *promise, double over, double whole) {
    return over > TIMES * (1 - promise->quantile) * whole + MORE;
}

bool promise_is_hopeless(const struct stage *stage, int64_t elapsed_ns) {
    const struct stage_promise *promise = &stage->ask->promise;
    double counted = 0, within = 0, granted = 0, due = 0, over;
    if (promise->limit_ns == 0 || elapsed_ns <= 0) return false;
    for (int i = 0; i < stage->batch_count; i++) {
        counted += (double)stage->batches[i].counted;
        within += (double)stage->batches[i].within;
        granted = (double)stage->batches[i].granted;
    }
    over = counted - within;
    double part = (double)stage->ask->of.window_ns / (double)elapsed_ns;
    double whole = part > 1 ? counted * part : counted;
    if (stage->offered_per_s > 0) {
        whole = stage->offered_per_s * (double)stage->ask->of.window_ns / 1e9;
        /* Arrivals longer ago than the limit that were not granted yet, less what chance may have
         * delayed. */
        double late_ns = (double)(elapsed_ns - promise->limit_ns);
        due = late_ns > 0 ? stage->offered_per_s * late_ns / 1e9 : 0;
        double waiting = due - 4 * sqrt(due) - granted;
        if (waiting > 0) over += waiting;
    }
    return promise_is_far_over(promise, over, whole);
}
