/* samples: what the values of a stage say of a promise, while the stage runs and from its log; see slo.h. */
#include "bench/slo/slo.h"

#include "bench/base/clock.h"
#include "results/format/hlog.h"

/* A promise is broken for good only if so many times as many values are over the limit as the whole
 * window may have, and so many more than chance would bring. */
#define TIMES 3.0
#define MORE 10.0

static uint64_t count_within(const struct hist *hist, int64_t limit_ns) {
    uint64_t within = 0;
    for (int32_t slot = hist->first; slot <= hist->last && hist_slot_low(hist, slot) <= limit_ns;
         slot++) {
        within += (uint64_t)hist->counts[slot];
    }
    return within;
}

struct quantile_batch slo_batch(const struct hist *hist, int64_t limit_ns) {
    struct quantile_batch batch = {.count = (uint64_t)(hist->count + hist->over),
                                   .below = count_within(hist, limit_ns)};
    for (int32_t slot = hist->first; slot <= hist->last; slot++) {
        double count = (double)hist->counts[slot], value = (double)hist_slot_middle(hist, slot);
        batch.sum += count * value;
        batch.squares += count * value * value;
    }
    return batch;
}

bool slo_of_waits(const struct threshold *thresholds, int count, bool closed,
                  struct stage_promise *ret) {
    enum metric metric = closed ? METRIC_ACQUIRE : METRIC_ACQUIRE_DUE;
    for (int i = 0; i < count; i++) {
        const struct threshold *threshold = &thresholds[i];
        if (threshold->at_least || threshold_metric(threshold) != metric) continue;
        *ret = (struct stage_promise){metric, threshold->quantile, (int64_t)threshold->limit};
        return true;
    }
    return false;
}

bool slo_is_far_over(const struct stage_promise *promise, double over, double whole) {
    return over > TIMES * (1 - promise->quantile) * whole + MORE;
}

bool slo_is_hopeless(const struct stage_promise *promise, const struct slo_so_far *so_far) {
    double over = so_far->counted - so_far->within;
    double part = so_far->window_ns / so_far->elapsed_ns;
    double whole = part > 1 ? so_far->counted * part : so_far->counted;
    if (so_far->offered_per_s > 0) {
        whole = so_far->offered_per_s * so_far->window_ns / 1e9;
        /* Arrivals longer ago than the limit that were not granted yet, less what chance may have
         * delayed. */
        double late_ns = so_far->elapsed_ns - (double)promise->limit_ns;
        double due = late_ns > 0 ? so_far->offered_per_s * late_ns / 1e9 : 0;
        double waiting = due - 4 * sqrt(due) - so_far->granted;
        if (waiting > 0) over += waiting;
    }
    return slo_is_far_over(promise, over, whole);
}

int slo_read_log(const char *path,
                 void (*take)(void *arg, enum metric metric, int interval, const struct hist *hist),
                 void *arg, struct lb_err *err) {
    struct hlog_reader *reader = hlog_open(path, err);
    struct hlog_line line;
    int count[METRICS] = {0}, got;
    if (!reader) return -1;
    while ((got = hlog_next(reader, &line, err)) > 0) {
        enum metric metric = metric_named(line.tag);
        if (metric < METRICS) take(arg, metric, count[metric]++, line.hist);
    }
    hlog_close(reader);
    return got;
}
