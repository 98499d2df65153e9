/* test_clocks: known offsets, by exchanges whose delays are known. */
#include <stdlib.h>

#include "bench/base/rng.h"
#include "bench/hosts/clocks.h"
#include "bench/tests/unit.h"

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

/* A clock that runs 100 ppm fast: between two measurements the offset is interpolated, and the error has grown by the
 * drift that was seen. */
TEST(test_a_drift_widens_the_error) {
    struct clock_series series = {.count = 0};
    clock_add(&series, &(struct clock_offset){.offset_ns = 0, .error_ns = 7, .at_ns = 0 + 1});
    clock_add(&series,
              &(struct clock_offset){.offset_ns = 1000000, .error_ns = 9, .at_ns = 10000000001});
    struct clock_offset middle = clock_at(&series, 5000000001);
    assert_int_equal(middle.offset_ns, 500000);
    assert_int_equal(middle.error_ns, 9 + 1000000 - 16);
    assert_int_equal(clock_at(&series, 20000000000).offset_ns, 1000000);
    assert_int_equal(clock_at(&series, 20000000000).error_ns, 9);
    assert_int_equal(clock_error_ns(&series, 1, 10000000001), 9 + 1000000 - 16);
    assert_int_equal(clock_error_ns(&series, 20000000000, 30000000000), 9);
}

/* Two measurements that agree within their errors show no drift. */
TEST(test_an_inexact_measurement_is_no_drift) {
    struct clock_series series = {.count = 0};
    clock_add(&series, &(struct clock_offset){.offset_ns = 100, .error_ns = 10, .at_ns = 1000});
    clock_add(&series, &(struct clock_offset){.offset_ns = 900, .error_ns = 1000, .at_ns = 2000});
    assert_int_equal(clock_at(&series, 1500).error_ns, 1000);
    assert_int_equal(clock_at(&series, 1500).offset_ns, 500);
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
