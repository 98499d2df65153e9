/* test_hist: the recorder against a sorted array, at its edges, and merged. */

#include <math.h>

#include "bench/base/rng.h"
#include "bench/tests/unit.h"
#include "results/format/hist.h"

#define MINUTE_NS INT64_C(60000000000)

static struct hist *new_hist(int digits, int64_t highest) {
    struct hist *h = hist_new(digits, highest);
    assert_non_null(h);
    return h;
}

/* Figures of HdrHistogram's own code for 1 .. 60e9 and three digits. */
TEST(test_geometry_is_hdrhistograms) {
    struct hist *h = new_hist(3, MINUTE_NS);
    assert_int_equal(h->half_mag, 10);
    assert_int_equal(h->length, 27648);
    assert_int_equal(hist_slot(h, 0), 0);
    assert_int_equal(hist_slot(h, 2047), 2047);
    assert_int_equal(hist_slot(h, 2048), 2048);
    assert_int_equal(hist_slot(h, 1000000), 11169);
    assert_int_equal(hist_slot(h, MINUTE_NS), 27388);
    assert_int_equal(hist_slot_high(h, hist_slot(h, MINUTE_NS)), INT64_C(60028878847));
    hist_free(h);
}

TEST(test_bytes) {
    assert_int_equal(hist_bytes(3, MINUTE_NS), sizeof(struct hist) + 27648 * sizeof(int64_t));
    assert_int_equal(hist_bytes(1, 2), sizeof(struct hist) + 32 * sizeof(int64_t));
    assert_int_equal(hist_bytes(0, MINUTE_NS), 0);
    assert_int_equal(hist_bytes(6, MINUTE_NS), 0);
    assert_int_equal(hist_bytes(3, 1), 0);
    assert_int_equal(hist_bytes(3, -5), 0);
    assert_true(hist_bytes(5, INT64_MAX) > 0);
    assert_null(hist_new(6, MINUTE_NS));
}

/* Slots tile 0..highest without hole or overlap, and none is wider than the digits allow. */
TEST(test_slots_tile_the_range) {
    static const struct {
        int digits;
        int64_t highest;
    } cases[] = {{1, 2},         {1, INT64_MAX}, {2, 1000}, {3, HIST_HIGHEST_NS},
                 {4, 123456789}, {5, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hist *h = new_hist(cases[i].digits, cases[i].highest);
        double finest = pow(10, -cases[i].digits);
        int64_t next = 0;
        for (int32_t slot = 0; slot < h->length; slot++) {
            int64_t low = hist_slot_low(h, slot), high = hist_slot_high(h, slot);
            assert_int_equal(low, next);
            assert_true(low <= hist_slot_middle(h, slot) && hist_slot_middle(h, slot) <= high);
            assert_true((double)(high - low) <= finest * (double)low);
            assert_int_equal(hist_slot(h, low), slot);
            assert_int_equal(hist_slot(h, high), slot);
            next = (int64_t)((uint64_t)high + 1);
        }
        assert_true((uint64_t)next > (uint64_t)cases[i].highest);
        assert_true(hist_slot(h, cases[i].highest) < h->length);
        hist_free(h);
    }
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Some shapes: flat, across all magnitudes, two lumps, and one value. */
static int64_t draw(struct lb_rng *rng, int shape, int64_t highest) {
    int64_t value = highest / 3;
    if (shape == 0) value = (int64_t)rng_below(rng, (uint64_t)highest + 1);
    if (shape == 1) value = (int64_t)pow(2, rng_unit(rng) * log2((double)highest));
    if (shape == 2)
        value = rng_below(rng, 10) ? 90 + (int64_t)rng_below(rng, 20)
                                   : highest - (int64_t)rng_below(rng, 2);
    return value < highest ? value : highest;
}

static void check_against_sorted(const struct hist *h, int64_t *values, int64_t n) {
    static const double quantiles[] = {0,    1e-9, 0.001, 0.01, 0.07,  0.1,    0.25,    0.5, 0.57,
                                       0.75, 0.9,  0.95,  0.99, 0.999, 0.9999, 0.99999, 1};
    qsort(values, (size_t)n, sizeof *values, by_value);
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (long double)values[i];

    assert_int_equal(h->count, n);
    assert_int_equal(h->min, values[0]);
    assert_int_equal(h->max, values[n - 1]);
    assert_true(fabsl((long double)hist_mean(h) - sum / n) <= 1e-12L * sum / n);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        /* The same rank in whole numbers: quantiles here are multiples of 1e-9. */
        int64_t billionths = llround(quantiles[i] * 1e9);
        int64_t rank = (int64_t)(((__int128)billionths * n + 999999999) / 1000000000);
        int64_t exact = values[rank > 0 ? rank - 1 : 0];
        int64_t high = hist_slot_high(h, hist_slot(h, exact));
        int64_t expected = high < h->max ? high : h->max;
        assert_int_equal(hist_quantile(h, quantiles[i]), expected);
    }
}

TEST(test_quantiles_of_a_sorted_array) {
    static const int64_t highests[] = {
        2, 999, 60000, MINUTE_NS, HIST_HIGHEST_NS, INT64_MAX / 12345};
    static const int64_t sizes[] = {1, 2, 3, 10, 100, 1000, 12345};
    int64_t *values = malloc(12345 * sizeof *values);
    assert_non_null(values);
    struct lb_rng rng;
    rng_seed(&rng, 20, 1);
    for (int digits = 1; digits <= 4; digits++) {
        for (size_t r = 0; r < sizeof highests / sizeof *highests; r++) {
            struct hist *h = new_hist(digits, highests[r]);
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                for (int shape = 0; shape < 4; shape++) {
                    hist_reset(h);
                    for (int64_t i = 0; i < sizes[s]; i++) {
                        values[i] = draw(&rng, shape, highests[r]);
                        hist_record(h, values[i]);
                    }
                    check_against_sorted(h, values, sizes[s]);
                }
            }
            hist_free(h);
        }
    }
    free(values);
}

TEST(test_out_of_range_is_counted_apart) {
    struct hist *h = new_hist(3, 1000000);
    hist_record(h, 1000000);
    hist_record(h, 1000001);
    hist_record(h, INT64_MAX);
    hist_record(h, -1);
    hist_record(h, INT64_MIN);
    assert_int_equal(h->count, 1);
    assert_int_equal(h->over, 2);
    assert_int_equal(h->under, 2);
    assert_int_equal(h->min, 1000000);
    assert_int_equal(h->max, INT64_MAX);
    assert_int_equal(h->sum, 1000000);
    assert_int_equal(hist_quantile(h, 1), hist_slot_high(h, hist_slot(h, 1000000)));
    int64_t in_slots = 0;
    for (int32_t slot = 0; slot < h->length; slot++) in_slots += h->counts[slot];
    assert_int_equal(in_slots, 1);
    hist_free(h);
}

/* The lowest and the highest slot are known whatever came first, also a value beyond the range. */
TEST(test_lowest_and_highest_slot) {
    static const int64_t orders[][3] = {{MINUTE_NS + 1, 5, 7000},
                                        {7000, MINUTE_NS + 1, 5},
                                        {5, 7000, MINUTE_NS + 1},
                                        {7000, 5, MINUTE_NS + 1}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct hist *h = new_hist(HIST_DIGITS, MINUTE_NS);
        for (int n = 0; n < 3; n++) hist_record(h, orders[i][n]);
        assert_int_equal(h->first, hist_slot(h, 5));
        assert_int_equal(h->last, hist_slot(h, 7000));
        hist_free(h);
    }
    struct hist *h = new_hist(5, INT64_MAX);
    hist_record(h, INT64_MAX);
    assert_int_equal(h->first, hist_slot(h, INT64_MAX));
    assert_int_equal(h->last, h->first);
    hist_free(h);
}

TEST(test_odd_quantiles) {
    struct hist *h = new_hist(3, 1000);
    for (int i = 1; i <= 100; i++) hist_record(h, i);
    assert_int_equal(hist_quantile(h, -3), 1);
    assert_int_equal(hist_quantile(h, 7), 100);
    assert_int_equal(hist_quantile(h, NAN), 1);
    assert_int_equal(hist_quantile(h, INFINITY), 100);
    assert_int_equal(hist_quantile(h, 0.07), 7);
    hist_reset(h); /* an empty one */
    assert_int_equal(hist_quantile(h, 0.5), 0);
    assert_true(hist_mean(h) == 0);
    assert_true(h->min == INT64_MAX && h->max == 0 && h->first > h->last);
    hist_free(h);
    hist_free(NULL);
}

TEST(test_reset_leaves_nothing) {
    struct hist *h = new_hist(3, HIST_HIGHEST_NS);
    struct hist *fresh = new_hist(3, HIST_HIGHEST_NS);
    hist_record(h, 7);
    hist_record(h, HIST_HIGHEST_NS);
    hist_record(h, HIST_HIGHEST_NS + 1);
    hist_record(h, -1);
    assert_memory_not_equal(h, fresh, hist_bytes(3, HIST_HIGHEST_NS));
    hist_reset(h);
    assert_memory_equal(h, fresh, hist_bytes(3, HIST_HIGHEST_NS));
    hist_free(h);
    hist_free(fresh);
}

/* Values that are dealt to histograms, which are then added up, give the same bytes as one histogram of all values: dealt at
 * random, and by their size, so that no two have a slot in common; one of the parts is empty. */
TEST(test_add_is_recording_in_one) {
    enum { PARTS = 4 };
    for (int by_size = 0; by_size < 2; by_size++) {
        struct hist *all = new_hist(3, MINUTE_NS), *merged = new_hist(3, MINUTE_NS), *part[PARTS];
        for (int i = 0; i < PARTS; i++) part[i] = new_hist(3, MINUTE_NS);
        struct lb_rng rng;
        rng_seed(&rng, 3, 3);
        for (int i = 0; i < 20000; i++) {
            int64_t value = (int64_t)rng_below(&rng, UINT64_C(1) << rng_below(&rng, 38)) - 2;
            int random = (int)rng_below(&rng, PARTS - 1);
            hist_record(all, value);
            hist_record(part[!by_size ? random : value < 5000 ? 2 : value > 1000000], value);
        }
        assert_true(all->over > 0 && all->under > 0);
        for (int i = 0; i < PARTS; i++) assert_int_equal(hist_add(merged, part[i]), 0);
        assert_memory_equal(merged, all, hist_bytes(3, MINUTE_NS));
        for (int i = 0; i < PARTS; i++) hist_free(part[i]);
        hist_free(merged);
        hist_free(all);
    }
}

/* What a writer leaves out is filled in: nothing tells how a value was recorded. */
TEST(test_tally_and_settle_is_recording) {
    static const int64_t cases[][4] = {
        {0}, {7, 7, 9, 2000}, {-1, MINUTE_NS + 1}, {MINUTE_NS, 3, -5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct hist *recorded = new_hist(3, MINUTE_NS), *tallied = new_hist(3, MINUTE_NS);
        for (size_t i = 0; c > 0 && i < 4; i++) {
            hist_record(recorded, cases[c][i]);
            hist_tally(tallied, cases[c][i]);
        }
        hist_settle(tallied);
        hist_settle(tallied); /* once more changes nothing */
        assert_true(tallied->first <= recorded->first && tallied->last >= recorded->last);
        tallied->first = recorded->first;
        tallied->last = recorded->last;
        assert_memory_equal(recorded, tallied, hist_bytes(3, MINUTE_NS));
        hist_free(recorded);
        hist_free(tallied);
    }
}

TEST(test_add_refuses_another_geometry) {
    struct hist *into = new_hist(3, MINUTE_NS);
    struct hist *digits = new_hist(2, MINUTE_NS), *highest = new_hist(3, MINUTE_NS + 1);
    hist_record(digits, 1);
    hist_record(highest, 1);
    assert_int_equal(hist_add(into, digits), -1);
    assert_int_equal(hist_add(into, highest), -1);
    assert_int_equal(into->count, 0);
    assert_true(into->first > into->last);
    hist_free(into);
    hist_free(digits);
    hist_free(highest);
}

TEST_MAIN(NULL, NULL)
