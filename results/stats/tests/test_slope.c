/* The straight line against R 4.2's lm, also on its data set "cars". */
#include <math.h>

#include "results/stats/slope.h"
#include "results/stats/tests/stats_help.h"

static const double speed[] = {4,  4,  7,  7,  8,  9,  10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13,
                               13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17, 17, 17, 18, 18, 18,
                               18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25};
static const double dist[] = {2,  10, 4,  22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28,  26, 34,
                              34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40, 32, 40, 50, 42,  56, 76,
                              84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85};

TEST(line_is_that_of_r) {
    struct slope slope;
    assert_int_equal(slope_fit(speed, dist, 50, &slope), 0);
    near(slope.slope, 3.93240875912409,
         1e-9); /* lm(dist ~ speed, cars): 3.9324, standard error 0.4155 */
    near(slope.error, 0.415512776657122, 1e-9);
    near(slope.mean, 42.98, 1e-9);
    near(slope.step, 21.0 / 49, 1e-9);
    near(slope.drift, 3.93240875912409 * 21 / 42.98, 1e-9);
    const double t[] = {0, 1, 2.5, 4, 7}, value[] = {10, 11, 10.5, 12, 13};
    assert_int_equal(slope_fit(t, value, 5, &slope), 0);
    near(slope.slope, 0.410596026490067, 1e-9);
    near(slope.error, 0.0884380822252103, 1e-9);
}

TEST(nonsense_is_refused) {
    struct slope slope = {.slope = 7};
    const double t[] = {1, 2, 3}, value[] = {1, NAN, 3}, same[] = {5, 5, 5}, fine[] = {1, 2, 4};
    assert_int_equal(slope_fit(t, value, 3, &slope), -1);
    assert_int_equal(slope_fit(same, fine, 3, &slope), -1);
    assert_int_equal(slope_fit(t, fine, 1, &slope), -1);
    assert_true(slope.slope == 7);
    assert_int_equal(slope_fit(t, fine, 2, &slope), 0);
    near(slope.slope, 1, 1e-9);
    assert_true(isnan(slope.error));
}

TEST_MAIN(NULL, NULL)
