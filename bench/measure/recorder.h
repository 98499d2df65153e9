/* recorder: the histograms of one worker thread, written without locks and read without stopping
 * the thread.
 *
 * The thread is the only writer. There are two sides of histograms. A reader that wants what was
 * recorded so far asks for it, and the writer switches to the other side between two records. From
 * then on the closed side belongs to the reader, until it asks again. So a record needs no atomic
 * operation, and nothing is counted twice or lost. All of it lies in memory that worker processes
 * share, so the records of a killed worker survive. */
#ifndef BENCH_MEASURE_RECORDER_H
#define BENCH_MEASURE_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/format/hist.h"
#include "results/format/metric.h"

struct recorder {
    struct hist **now; /* the writer's side */
    struct hist *side[2][METRICS];
    /* switches that readers asked for, and that were made */
    _Alignas(64) _Atomic uint32_t asked, closed;
};

/* The bytes that a recorder's histograms need, and their construction in zeroed memory of that
 * size. */
size_t recorder_bytes(void);
void recorder_init(struct recorder *recorder, void *memory);

/* Writer: records one value. */
static inline void recorder_add(struct recorder *recorder, enum metric metric, int64_t value_ns) {
    hist_tally(recorder->now[metric], value_ns);
}

void recorder_turn_now(struct recorder *recorder);

/* Writer: switches sides if a reader asked for it. To be called often, between two records. */
static inline void recorder_turn(struct recorder *recorder) {
    if (atomic_load_explicit(&recorder->asked, memory_order_relaxed) !=
        atomic_load_explicit(&recorder->closed, memory_order_relaxed)) {
        recorder_turn_now(recorder);
    }
}

/* Reader: asks for what was recorded so far. Only one request at a time. */
void recorder_ask(struct recorder *recorder);

/* Reader: returns the closed side once the writer has switched, else NULL. The reader must settle (hist_settle) and
 * empty it (hist_reset) before it asks again. */
struct hist *const *recorder_taken(const struct recorder *recorder);

/* After the writer has ended: returns both sides, the active one first, to be settled. */
struct hist *const *recorder_side(const struct recorder *recorder, int index);

#endif
