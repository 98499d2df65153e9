/* test_clocks: known offsets, by exchanges whose delays are known. */
#include <math.h>

#include "bench/base/rng.h"
#include "bench/tests/unit.h"
#include "bench/tools/hosts/hosts.h"

/* Whatever the two ways take, the offset lies within the error. */
TEST(test_the_offset_is_within_its_error) {
    struct lb_rng rng;
    rng_seed(&rng, 1, 2);
    for (int series = 0; series < 1000; series++) {
        int64_t offset_ns = ((int64_t)rng_below(&rng, 3) - 1) * 1000000000000;
        struct clock_offset best = {0};
        for (int i = 0; i < 20; i++) {
            int64_t sent_ns = 1000000 + i * 500000;
            int64_t there_ns = (int64_t)rng_below(&rng, 200000);
            int64_t back_ns = (int64_t)rng_below(&rng, 200000);
            clock_exchange(&best, sent_ns, sent_ns + there_ns + offset_ns,
                           sent_ns + there_ns + back_ns);
        }
        assert_true(llabs(best.offset_ns - offset_ns) <= best.error_ns);
        assert_true(best.error_ns <= 200000);
    }
}

TEST(test_the_shortest_exchange_is_kept) {
    struct clock_offset best = {0};
    clock_exchange(&best, 1000, 5000 + 500, 2000);
    clock_exchange(&best, 3000, 5000 + 3010, 3020); /* 20 ns there and back */
    clock_exchange(&best, 9000, 5000 + 9900, 10000);
    assert_int_equal(best.offset_ns, 5000);
    assert_int_equal(best.error_ns, 10);
    assert_int_equal(best.at_ns, 3010);
}

/* A clock that runs 100 ppm fast: between two measurements the offset is interpolated, and the error has grown by all that
 * they differ. */
TEST(test_a_drift_widens_the_error) {
    struct clock_series series = {.count = 0};
    clock_add(&series, &(struct clock_offset){.offset_ns = 0, .error_ns = 7, .at_ns = 0 + 1});
    clock_add(&series,
              &(struct clock_offset){.offset_ns = 1000000, .error_ns = 9, .at_ns = 10000000001});
    struct clock_offset middle = clock_at(&series, 5000000001);
    assert_int_equal(middle.offset_ns, 500000);
    assert_int_equal(middle.error_ns, 9 + 1000000);
    assert_int_equal(clock_at(&series, 20000000000).offset_ns, 1000000);
    assert_int_equal(clock_at(&series, 20000000000).error_ns, 9);
    assert_int_equal(clock_error_ns(&series, 1, 10000000001), 9 + 1000000);
    assert_int_equal(clock_error_ns(&series, 20000000000, 30000000000), 9);
}

/* A clock that is slewed between two measurements, by little or much, slowly or at once, and measured with any asymmetry
 * that the errors allow: at no moment is the offset further from the truth than is said. */
TEST(test_a_clock_that_is_slewed_stays_within_the_error) {
    struct lb_rng rng;
    rng_seed(&rng, 3, 4);
    for (int round = 0; round < 2000; round++) {
        struct clock_series series = {.count = 0};
        int64_t slew_ns = (int64_t)rng_below(&rng, 100001) - 50000;
        int64_t begin_ns = 1000 + (int64_t)rng_below(&rng, 9000);
        int64_t end_ns = begin_ns + 1 + (int64_t)rng_below(&rng, (uint64_t)(11001 - begin_ns));
        struct clock_offset measured[2] = {{.at_ns = 1000}, {.at_ns = 11000}};
        for (int i = 0; i < 2; i++) {
            measured[i].error_ns = 1 + (int64_t)rng_below(&rng, 40000);
            measured[i].offset_ns =
                i * slew_ns + (int64_t)rng_below(&rng, 2 * (uint64_t)measured[i].error_ns + 1) -
                measured[i].error_ns;
            clock_add(&series, &measured[i]);
        }
        for (int64_t at_ns = 1000; at_ns <= 11000; at_ns += 100) {
            double part = at_ns <= begin_ns ? 0
                          : at_ns >= end_ns
                              ? 1
                              : (double)(at_ns - begin_ns) / (double)(end_ns - begin_ns);
            struct clock_offset found = clock_at(&series, at_ns);
            double truth_ns = part * (double)slew_ns;
            assert_true(fabs((double)found.offset_ns - truth_ns) <= (double)found.error_ns + 1);
            assert_true(found.error_ns <= clock_error_ns(&series, 1000, 11000));
        }
    }
}

/* A measurement whose interval contains those of its neighbours adds no knowledge, and does not make the error
 * greater. */
TEST(test_an_inexact_measurement_between_exact_ones_is_dropped) {
    struct clock_series series = {.count = 0};
    clock_add(&series, &(struct clock_offset){.offset_ns = 100, .error_ns = 10, .at_ns = 1000});
    clock_add(&series, &(struct clock_offset){.offset_ns = 900, .error_ns = 1000, .at_ns = 2000});
    assert_int_equal(clock_at(&series, 1500).error_ns, 1000 + 800);
    clock_add(&series, &(struct clock_offset){.offset_ns = 104, .error_ns = 10, .at_ns = 3000});
    assert_int_equal(series.count, 2);
    assert_int_equal(clock_at(&series, 2000).offset_ns, 102);
    assert_int_equal(clock_error_ns(&series, 1000, 3000), 10 + 4);
}

/* A measurement whose interval does not overlap that of its neighbour shows that the clock has
 * moved. */
TEST(test_an_inexact_measurement_that_shows_a_drift_is_kept) {
    struct clock_series series = {.count = 0};
    clock_add(&series, &(struct clock_offset){.offset_ns = 100, .error_ns = 10, .at_ns = 1000});
    clock_add(&series, &(struct clock_offset){.offset_ns = 5000, .error_ns = 1000, .at_ns = 2000});
    clock_add(&series, &(struct clock_offset){.offset_ns = 104, .error_ns = 10, .at_ns = 3000});
    assert_int_equal(series.count, 3);
    assert_int_equal(clock_error_ns(&series, 1000, 3000), 1000 + 4900);
}

TEST(test_a_long_run_keeps_its_first_measurement) {
    struct clock_series series = {.count = 0};
    for (int i = 1; i <= 3 * CLOCK_MEASUREMENTS; i++)
        clock_add(&series, &(struct clock_offset){.offset_ns = i, .error_ns = 1, .at_ns = i});
    assert_true(series.count <= CLOCK_MEASUREMENTS);
    assert_int_equal(series.item[0].at_ns, 1);
    for (int i = 0; i + 1 < series.count; i++)
        assert_true(series.item[i].at_ns < series.item[i + 1].at_ns);
    assert_int_equal(clock_at(&series, 3 * CLOCK_MEASUREMENTS).offset_ns, 3 * CLOCK_MEASUREMENTS);
}

TEST_MAIN(NULL, NULL)
