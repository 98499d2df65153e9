/* heap: see heap.h. */
#include "bench/base/heap.h"

#include <stdlib.h>

int heap_reserve(struct heap *heap, size_t room) {
    if (room <= heap->room) return 0;
    size_t grown = heap->room * 2 > room ? heap->room * 2 : room;
    struct timer **slot = realloc(heap->slot, (grown + 1) * sizeof *slot);
    if (!slot) return -1;
    heap->slot = slot;
    heap->room = grown;
    return 0;
}

void heap_done(struct heap *heap) {
    free(heap->slot);
    *heap = (struct heap){0};
}

static void heap_put(struct heap *heap, size_t place, struct timer *timer) {
    heap->slot[place] = timer;
    timer->place = place;
}

static void sift_up(struct heap *heap, size_t place, struct timer *timer) {
    while (place > 1 && heap->slot[place / 2]->due_ns > timer->due_ns) {
        heap_put(heap, place, heap->slot[place / 2]);
        place /= 2;
    }
    heap_put(heap, place, timer);
}

static void sift_down(struct heap *heap, size_t place, struct timer *timer) {
    for (;;) {
        size_t child = place * 2;
        if (child > heap->count) break;
        if (child < heap->count && heap->slot[child + 1]->due_ns < heap->slot[child]->due_ns)
            child++;
        if (heap->slot[child]->due_ns >= timer->due_ns) break;
        heap_put(heap, place, heap->slot[child]);
        place = child;
    }
    heap_put(heap, place, timer);
}

void heap_add(struct heap *heap, struct timer *timer, int64_t due_ns) {
    timer->due_ns = due_ns;
    sift_up(heap, ++heap->count, timer);
}

void heap_remove(struct heap *heap, struct timer *timer) {
    size_t place = timer->place;
    if (!place) return;
    timer->place = 0;
    struct timer *last = heap->slot[heap->count--];
    if (last == timer) return;
    if (place > 1 && heap->slot[place / 2]->due_ns > last->due_ns) {
        sift_up(heap, place, last);
    } else {
        sift_down(heap, place, last);
    }
}

struct timer *heap_first(const struct heap *heap) {
    return heap->count ? heap->slot[1] : NULL;
}
