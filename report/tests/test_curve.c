/* test_curve: the points of a percentile curve against a sorted array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "bench/base/rng.h"
#include "report/curve.h"

#define VALUES 20000

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void test_points_are_the_quantiles(void **state) {
    (void)state;
    struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    int64_t *values = calloc(VALUES, sizeof *values), points[CURVE_MAX];
    struct lb_rng rng;
    assert_non_null(hist);
    assert_non_null(values);
    rng_seed(&rng, 3, 0);
    for (int i = 0; i < VALUES; i++) {
        values[i] = (int64_t)exp(rng_unit(&rng) * 20);
        hist_record(hist, values[i]);
    }
    qsort(values, VALUES, sizeof *values, by_value);
    int count = curve_points(hist, points);
    assert_int_equal(count, (int)ceil(log10(VALUES) * CURVE_STEPS) + 1);
    for (int i = 0; i < count - 1; i++) {
        double x = pow(10, (double)i / CURVE_STEPS);
        int rank = (int)ceil((1 - 1 / x) * VALUES - 1e-9);
        int64_t exact = values[rank > 0 ? rank - 1 : 0];
        if (llabs(points[i] - exact) > 1 + exact / 500) {
            fail_msg("at x = %g: %lld, not %lld", x, (long long)points[i], (long long)exact);
        }
        if (i > 0) assert_true(points[i] >= points[i - 1]);
    }
    assert_true(points[count - 1] == values[VALUES - 1]);
    free(values);
    hist_free(hist);
}

static void test_few_values(void **state) {
    (void)state;
    struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    int64_t points[CURVE_MAX];
    assert_non_null(hist);
    assert_int_equal(curve_points(hist, points), 0);
    hist_record(hist, 77);
    assert_int_equal(curve_points(hist, points), 1);
    assert_true(points[0] == 77);
    hist_record(hist, 99);
    int count = curve_points(hist, points);
    assert_in_range(count, 2, CURVE_MAX);
    assert_true(points[0] == 77 && points[count - 1] == 99);
    hist_free(hist);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_are_the_quantiles),
        cmocka_unit_test(test_few_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
