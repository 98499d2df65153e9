/* hist: see hist.h. This code counts integers, and knows no units, clocks or files.
 *
 * The slots: bucket 0 has 2^(half_mag+1) slots of width 1; each further bucket b has 2^half_mag
 * slots of width 2^b, so that a slot's width never exceeds 1 part in 10^digits of the values in
 * it. */
#include "results/format/hist.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smallest power of two that tells 2 * 10^digits values apart, halved: bucket 0 then resolves
 * single units up to that point, and so does the upper half of every further bucket, relative to
 * its values. */
static int half_mag_of(int digits) {
    int64_t largest = 2;
    for (int i = 0; i < digits; i++) largest *= 10;
    int mag = 0;
    while ((INT64_C(1) << mag) < largest) mag++;
    return mag - 1;
}

/* Slots needed for 0..highest. The arithmetic is unsigned, because with highest = INT64_MAX the
 * first value beyond the range is 2^63. */
static int32_t length_of(int half_mag, int64_t highest) {
    uint64_t beyond = UINT64_C(2) << half_mag;
    int buckets = 1;
    while (beyond <= (uint64_t)highest) {
        beyond <<= 1;
        buckets++;
    }
    return (int32_t)(((int64_t)buckets + 1) << half_mag);
}

size_t hist_bytes(int digits, int64_t highest) {
    if (digits < 1 || digits > 5 || highest < 2) return 0;
    return sizeof(struct hist) + (size_t)length_of(half_mag_of(digits), highest) * sizeof(int64_t);
}

static void set_empty(struct hist *h) {
    h->first = h->length;
    h->last = -1;
    h->count = h->over = h->under = 0;
    h->min = INT64_MAX;
    h->max = 0;
    h->sum = 0;
}

void hist_init(struct hist *h, int digits, int64_t highest) {
    assert(hist_bytes(digits, highest) > 0);
    h->highest = highest;
    h->digits = digits;
    h->half_mag = half_mag_of(digits);
    h->length = length_of(h->half_mag, highest);
    set_empty(h);
}

struct hist *hist_new(int digits, int64_t highest) {
    size_t bytes = hist_bytes(digits, highest);
    struct hist *h = bytes ? calloc(1, bytes) : NULL;
    if (h) hist_init(h, digits, highest);
    return h;
}

void hist_free(struct hist *h) {
    free(h);
}

void hist_reset(struct hist *h) {
    if (h->first <= h->last) {
        memset(&h->counts[h->first], 0, (size_t)(h->last - h->first + 1) * sizeof h->counts[0]);
    }
    set_empty(h);
}

void hist_record_odd(struct hist *h, int64_t value, int64_t times) {
    if (value < 0) {
        h->under += times;
        return;
    }
    h->over += times;
    if (value < h->min) h->min = value;
    if (value > h->max) h->max = value;
}

void hist_settle(struct hist *h) {
    if (h->min > h->highest) return; /* nothing was recorded in the range */
    h->first = hist_slot(h, h->min);
    h->last = hist_slot(h, h->max < h->highest ? h->max : h->highest);
    h->count = 0;
    for (int32_t slot = h->first; slot <= h->last; slot++) h->count += h->counts[slot];
}

void hist_record_times(struct hist *h, int64_t value, int64_t times) {
    if (times <= 0) return;
    if (value < 0 || value > h->highest) {
        hist_record_odd(h, value, times);
        return;
    }
    int32_t slot = hist_slot(h, value);
    h->counts[slot] += times;
    h->count += times;
    h->sum += (uint64_t)value * (uint64_t)times;
    if (value < h->min) h->min = value;
    if (value > h->max) h->max = value;
    if (slot < h->first) h->first = slot;
    if (slot > h->last) h->last = slot;
}

int hist_add(struct hist *into, const struct hist *from) {
    if (into->digits != from->digits || into->highest != from->highest) return -1;
    /* Counts the slots again, because a writer that was killed between two of its stores leaves a
     * count that is wrong by one. */
    for (int32_t slot = from->first; slot <= from->last; slot++) {
        into->counts[slot] += from->counts[slot];
        into->count += from->counts[slot];
    }
    if (from->first < into->first) into->first = from->first;
    if (from->last > into->last) into->last = from->last;
    into->over += from->over;
    into->under += from->under;
    if (from->min < into->min) into->min = from->min;
    if (from->max > into->max) into->max = from->max;
    into->sum += from->sum;
    return 0;
}

static int bucket_of(const struct hist *h, int32_t slot) {
    int bucket = (slot >> h->half_mag) - 1;
    return bucket < 0 ? 0 : bucket; /* bucket 0 is the only one whose lower half is used */
}

int64_t hist_slot_low(const struct hist *h, int32_t slot) {
    int bucket = bucket_of(h, slot);
    return ((int64_t)slot - ((int64_t)bucket << h->half_mag)) << bucket;
}

int64_t hist_slot_high(const struct hist *h, int32_t slot) {
    return hist_slot_low(h, slot) + ((INT64_C(1) << bucket_of(h, slot)) - 1);
}

int64_t hist_slot_middle(const struct hist *h, int32_t slot) {
    return hist_slot_low(h, slot) + ((INT64_C(1) << bucket_of(h, slot)) >> 1);
}

int64_t hist_quantile(const struct hist *h, double quantile) {
    if (h->count == 0) return 0;
    /* One step down first: 0.07 * 100 is 7.000000000000001, and its rank is 7, not 8. */
    double wanted = ceil(nextafter(quantile, -INFINITY) * (double)h->count);
    int64_t rank = 1;
    if (wanted >= (double)h->count) {
        rank = h->count;
    } else if (wanted > 1) {
        rank = (int64_t)wanted;
    }
    int64_t seen = 0;
    int32_t slot = h->first;
    for (; slot < h->last; slot++) {
        seen += h->counts[slot];
        if (seen >= rank) break;
    }
    int64_t high = hist_slot_high(h, slot);
    return high < h->max ? high : h->max;
}

double hist_mean(const struct hist *h) {
    return h->count ? (double)h->sum / (double)h->count : 0;
}
