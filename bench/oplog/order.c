/* order: see order.h. */
#include "bench/oplog/order.h"

#include <stdlib.h>

struct item {
    int64_t time_ns, to_ns; /* of grants at the same moment the one that ended at once was first */
    uint64_t token;
    uint32_t key, index;
};

static int compare_items(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    if (x->to_ns != y->to_ns) return x->to_ns < y->to_ns ? -1 : 1;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The indices in their order; frees them, which may be NULL. NULL with err when out of memory. */
static uint32_t *sort_items(struct item *items, size_t count, struct lb_err *err) {
    uint32_t *indices = items ? malloc((count + 1) * sizeof *indices) : NULL;
    if (indices) qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; indices && i < count; i++) indices[i] = items[i].index;
    free(items);
    if (!indices)
        err_set(err, LB_EXIT_MACHINE, "out of memory for sorting a history of %zu operations",
                count);
    return indices;
}

uint32_t *order_holds_from(const struct book *book, struct lb_err *err) {
    struct item *items = malloc((book->hold_count + 1) * sizeof *items);
    for (size_t i = 0; items && i < book->hold_count; i++) {
        const struct hold *hold = &book->holds[i];
        items[i] = (struct item){hold->from_ns, hold->to_ns, hold->token, hold->key, (uint32_t)i};
    }
    return sort_items(items, book->hold_count, err);
}

uint32_t *order_holds_called(const struct book *book, struct lb_err *err) {
    struct item *items = malloc((book->hold_count + 1) * sizeof *items);
    for (size_t i = 0; items && i < book->hold_count; i++) {
        const struct hold *hold = &book->holds[i];
        items[i] =
            (struct item){.time_ns = hold->called_ns, .key = hold->key, .index = (uint32_t)i};
    }
    return sort_items(items, book->hold_count, err);
}

uint32_t *order_tries_returned(const struct book *book, struct lb_err *err) {
    struct item *items = malloc((book->try_count + 1) * sizeof *items);
    for (size_t i = 0; items && i < book->try_count; i++) {
        const struct try *try = &book->tries[i];
        items[i] =
            (struct item){.time_ns = try->returned_ns, .key = try->key, .index = (uint32_t)i};
    }
    return sort_items(items, book->try_count, err);
}

size_t order_first_try(const struct book *book, const uint32_t *tries, uint32_t key) {
    size_t low = 0, high = book->try_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (book->tries[tries[middle]].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
