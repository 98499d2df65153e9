/* order: see order.h. Of many entries a radix sort, least significant digit first, of (time, index) pairs and then
 * by key. It reads and writes memory in order, where comparison sorts of ten million entries would
 * access it at random. */
#include "bench/oplog/order.h"

#include <stdlib.h>

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)
#define FEW (DIGITS / 16) /* pairs for which a pass over all digits costs more than comparisons */

struct pair {
    uint64_t time; /* bits of a digit, from the least significant one */
    uint32_t key, index;
};

static uint64_t unsigned_of(int64_t time_ns) {
    return (uint64_t)time_ns ^ (UINT64_C(1) << 63);
}

static uint64_t digit_of(const struct pair *pair, bool by_key, int shift) {
    return ((by_key ? pair->key : pair->time) >> shift) & (DIGITS - 1);
}

/* One pass of the sort; afterwards `from` and `to` change roles. */
static void sort_digit(const struct pair *from, struct pair *to, size_t count, bool by_key,
                       int shift) {
    size_t at[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++) at[digit_of(&from[i], by_key, shift)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        size_t here = at[digit];
        at[digit] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) to[at[digit_of(&from[i], by_key, shift)]++] = from[i];
}

static int compare_pairs(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorts many pairs, with room for two arrays of them. Returns the array of the two that has the result. */
static struct pair *sort_many(struct pair *pairs, size_t count) {
    struct pair *from = pairs, *to = pairs + count;
    uint64_t least = UINT64_MAX, most = 0, most_key = 0;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].time < least) least = pairs[i].time;
        if (pairs[i].time > most) most = pairs[i].time;
        if (pairs[i].key > most_key) most_key = pairs[i].key;
    }
    for (size_t i = 0; i < count; i++) pairs[i].time -= least;
    for (int part = 0; part < 2; part++) {
        uint64_t range = part == 0 ? most - least : most_key;
        for (int shift = 0; shift < 64 && range >> shift != 0; shift += DIGIT_BITS) {
            sort_digit(from, to, count, part == 1, shift);
            struct pair *swap = from;
            from = to;
            to = swap;
        }
    }
    return from;
}

/* Sorts pairs, with room for two arrays of them. Returns the indices, in memory of their own. */
static uint32_t *sort_pairs(struct pair *pairs, size_t count) {
    struct pair *sorted = pairs;
    if (count > FEW) {
        sorted = sort_many(pairs, count);
    } else {
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    }
    uint32_t *indices = malloc((count + 1) * sizeof *indices);
    for (size_t i = 0; indices && i < count; i++) indices[i] = sorted[i].index;
    return indices;
}

static uint32_t *out_of_memory(size_t count, struct lb_err *err) {
    err_set(err, LB_EXIT_MACHINE, "out of memory for sorting a history of %zu operations", count);
    return NULL;
}

static struct pair *pairs_of(size_t count) {
    return malloc((2 * count + 1) * sizeof(struct pair));
}

static uint32_t *order_holds(const struct book *book, bool by_call, struct lb_err *err) {
    struct pair *pairs = pairs_of(book->hold_count);
    if (!pairs) return out_of_memory(book->hold_count, err);
    for (size_t i = 0; i < book->hold_count; i++) {
        const struct hold *hold = &book->holds[i];
        int64_t time_ns = by_call ? hold->called_ns : hold->from_ns;
        pairs[i] = (struct pair){unsigned_of(time_ns), hold->key, (uint32_t)i};
    }
    uint32_t *indices = sort_pairs(pairs, book->hold_count);
    free(pairs);
    return indices ? indices : out_of_memory(book->hold_count, err);
}

static bool comes_before(const struct hold *a, const struct hold *b) {
    if (a->to_ns != b->to_ns) return a->to_ns < b->to_ns;
    return a->token < b->token;
}

/* Grants at the same moment are few. The one that ended at once was first. */
static void sort_ties(const struct book *book, uint32_t *order) {
    for (size_t i = 1; i < book->hold_count; i++) {
        uint32_t moving = order[i];
        const struct hold *hold = &book->holds[moving];
        size_t at = i;
        for (; at > 0; at--) {
            const struct hold *other = &book->holds[order[at - 1]];
            if (other->key != hold->key || other->from_ns != hold->from_ns ||
                !comes_before(hold, other))
                break;
            order[at] = order[at - 1];
        }
        order[at] = moving;
    }
}

uint32_t *order_holds_from(const struct book *book, struct lb_err *err) {
    uint32_t *order = order_holds(book, false, err);
    if (order) sort_ties(book, order);
    return order;
}

uint32_t *order_holds_called(const struct book *book, struct lb_err *err) {
    return order_holds(book, true, err);
}

uint32_t *order_tries_returned(const struct book *book, struct lb_err *err) {
    struct pair *pairs = pairs_of(book->try_count);
    if (!pairs) return out_of_memory(book->try_count, err);
    for (size_t i = 0; i < book->try_count; i++) {
        const struct try *try = &book->tries[i];
        pairs[i] = (struct pair){unsigned_of(try->returned_ns), try->key, (uint32_t)i};
    }
    uint32_t *indices = sort_pairs(pairs, book->try_count);
    free(pairs);
    return indices ? indices : out_of_memory(book->try_count, err);
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
