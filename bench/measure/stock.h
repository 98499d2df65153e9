/* stock: what a lock guards in a flash sale: goods that are counted down by plain reads and writes,
 * so that two sellers at once sell the same piece. What is sold is counted atomically beside it. */
#ifndef BENCH_MEASURE_STOCK_H
#define BENCH_MEASURE_STOCK_H

#include "bench/measure/cell.h"

/* A cell's. */
struct stock {
    _Alignas(64) _Atomic uint64_t left; /* guarded: plainly read and written */
    _Atomic uint64_t sold;
    uint64_t stock; /* in the beginning */
};

/* Shares `goods` of a key out over its slots: alike, what remains to the first. */
void stock_fill(struct stock *slots, uint32_t count, uint64_t goods);

static inline uint64_t stock_read(const struct stock *stock) {
    return atomic_load_explicit(&stock->left, memory_order_relaxed);
}

/* Sells one of the `left` that were read, above 0. */
static inline void stock_sell(struct stock *stock, uint64_t left) {
    atomic_store_explicit(&stock->left, left - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&stock->sold, 1, memory_order_relaxed);
}

struct stock_sum {
    uint64_t stock, sold, left;
    uint64_t oversold; /* goods sold that were not there */
    uint64_t astray;   /* cells' differences between stock and sold + left, summed up */
};

struct stock_sum stock_judge(const struct stock *stock, uint32_t count);

#endif
