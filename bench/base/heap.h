/* heap: timers, a binary heap of deadlines. Each entry knows its place, so that it can be removed in O(log n) when another
 * event ended the wait. */
#ifndef BENCH_BASE_HEAP_H
#define BENCH_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct timer {
    int64_t due_ns;
    size_t place; /* 1-based; 0 = not in the heap */
};

struct heap {
    struct timer **slot; /* 1-based */
    size_t count, room;
};

/* Makes room for `room` timers, so that heap_add can't fail. Returns 0, or -1 when out of
 * memory. */
int heap_reserve(struct heap *heap, size_t room);
void heap_done(struct heap *heap);

/* Adds a timer that is in no heap. There must be room for it. */
void heap_add(struct heap *heap, struct timer *timer, int64_t due_ns);
/* Removes a timer; no effect if it is in no heap. */
void heap_remove(struct heap *heap, struct timer *timer);
/* Returns the earliest timer, or NULL. */
struct timer *heap_first(const struct heap *heap);

#endif
