/* hist: a log-linear histogram of nanosecond values, the layout of HdrHistogram.
 *
 * Values from 1 ns to `highest` keep `digits` significant decimal digits. A value beyond the range
 * is counted as such (over), and its exact maximum is kept: no value is clamped without a trace. 0
 * is recorded in the lowest slot; negative values are counted as `under` and nowhere else. One
 * block of memory without pointers: it can lie in a mapping that several processes share. One
 * writer at a time, no locks; readers look only at histograms handed over to them. Source:
 * HdrHistogram (Gil Tene), index arithmetic as documented there, with the lowest value fixed at
 * 1. */
#ifndef RESULTS_FORMAT_HIST_H
#define RESULTS_FORMAT_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_DIGITS 3                          /* default significant digits */
#define HIST_HIGHEST_NS INT64_C(3600000000000) /* default range: an hour */

struct hist {
    int64_t highest;     /* the greatest value that can be recorded */
    int32_t digits;      /* 1 .. 5 */
    int32_t half_mag;    /* log2 of half the sub-bucket count */
    int32_t length;      /* slots in counts */
    int32_t first, last; /* lowest and highest slot that may be non-zero; first > last: empty */
    int64_t count;       /* recorded values, without over and under */
    int64_t over, under; /* values beyond the range; negative values */
    /* exact, of all recorded and over values; INT64_MAX and 0 if there are none */
    int64_t min, max;
    uint64_t sum; /* exact sum of the recorded values; wraps after 584 years of waiting */
    int64_t counts[];
};

/* Bytes that a histogram takes; digits 1..5, highest >= 2. 0 if out of range. */
size_t hist_bytes(int digits, int64_t highest);

/* Prepares hist_bytes of zeroed memory; it does not touch the counts, so that untouched pages of a
 * mapping cost nothing. The arguments must be ones that hist_bytes accepts. */
void hist_init(struct hist *h, int digits, int64_t highest);

/* malloc + init / free. NULL when out of memory or out of range; hist_free takes NULL. */
struct hist *hist_new(int digits, int64_t highest);
void hist_free(struct hist *h);

/* Empties the histogram; touches only the slots in first..last. */
void hist_reset(struct hist *h);

/* The slot of a value in 0..highest. */
static inline int32_t hist_slot(const struct hist *h, int64_t value) {
    uint64_t mask = (UINT64_C(2) << h->half_mag) - 1;
    int p = 64 - __builtin_clzll((uint64_t)value | mask);
    int bucket = p - (h->half_mag + 1);
    return (int32_t)(((int64_t)bucket << h->half_mag) + (value >> bucket));
}

void hist_record_odd(struct hist *h, int64_t value,
                     int64_t times); /* out of range: kept out of line */

/* Records a value without count, first and last, which hist_settle fills in later: a writer who records some hundred
 * million values has other things to do. No system call, no lock; a few nanoseconds. */
static inline void hist_tally(struct hist *h, int64_t value) {
    if (__builtin_expect(value < 0 || value > h->highest, 0)) {
        hist_record_odd(h, value, 1);
        return;
    }
    h->counts[hist_slot(h, value)]++;
    h->sum += (uint64_t)value;
    if (__builtin_expect(value < h->min, 0)) h->min = value;
    if (__builtin_expect(value > h->max, 0)) h->max = value;
}

/* Fills in the slots that may be non-zero, and counts them, after hist_tally. */
void hist_settle(struct hist *h);

/* Records the value `times` times, which may be 0. */
void hist_record_times(struct hist *h, int64_t value, int64_t times);
static inline void hist_record(struct hist *h, int64_t value) {
    hist_record_times(h, value, 1);
}

/* Adds from's content to into. Same digits and highest, else -1 and nothing is added. */
int hist_add(struct hist *into, const struct hist *from);

/* The lowest, middle and highest value that share a slot. */
int64_t hist_slot_low(const struct hist *h, int32_t slot);
int64_t hist_slot_middle(const struct hist *h, int32_t slot);
int64_t hist_slot_high(const struct hist *h, int32_t slot);

/* The highest value equivalent to the one at this quantile (0..1), never above max; 0 when empty.
 * The rank is ceil(quantile * count), at least 1, as HdrHistogram's readers compute it. Values
 * beyond the range are not ranked, so a caller should say so beside the figure if over > 0. */
int64_t hist_quantile(const struct hist *h, double quantile);

/* Exact mean of the recorded values; 0 when empty. */
double hist_mean(const struct hist *h);

#endif
