/* recorder: see recorder.h. */
#include "bench/measure/recorder.h"

static size_t one_bytes(void) {
    return (hist_bytes(HIST_DIGITS, HIST_HIGHEST_NS) + 63) & ~(size_t)63;
}

size_t recorder_bytes(void) {
    return 2 * METRICS * one_bytes();
}

void recorder_init(struct recorder *recorder, void *memory) {
    char *at = memory;
    for (int side = 0; side < 2; side++) {
        for (int metric = 0; metric < METRICS; metric++) {
            recorder->side[side][metric] = (struct hist *)(void *)at;
            hist_init(recorder->side[side][metric], HIST_DIGITS, HIST_HIGHEST_NS);
            at += one_bytes();
        }
    }
    recorder->now = recorder->side[0];
}

void recorder_turn_now(struct recorder *recorder) {
    recorder->now = recorder->side[recorder->now == recorder->side[0]];
    /* Release: the reader sees every record of the closed side. The acquire pairs with the reader's
     * request: the writer sees that the side was emptied. */
    uint32_t asked = atomic_load_explicit(&recorder->asked, memory_order_acquire);
    atomic_store_explicit(&recorder->closed, asked, memory_order_release);
}

void recorder_ask(struct recorder *recorder) {
    uint32_t asked = atomic_load_explicit(&recorder->asked, memory_order_relaxed);
    atomic_store_explicit(&recorder->asked, asked + 1, memory_order_release);
}

struct hist *const *recorder_taken(const struct recorder *recorder) {
    uint32_t asked = atomic_load_explicit(&recorder->asked, memory_order_relaxed);
    uint32_t closed = atomic_load_explicit(&recorder->closed, memory_order_acquire);
    if (closed != asked) return NULL;
    /* Switches alternate the sides, starting from side 0: after an odd number of switches side 0 is
     * closed. */
    return recorder->side[(closed + 1) & 1];
}

struct hist *const *recorder_side(const struct recorder *recorder, int index) {
    int active = recorder->now == recorder->side[1];
    return recorder->side[active ^ index];
}
