/* Student's t against R 4.2's pt and qt. */
#include <math.h>

#include "results/stats/interval.h"
#include "results/stats/tests/stats_help.h"

TEST(p_is_that_of_r) {
    static const double known[][3] = {
        /* t, df, 2 * pt(-t, df) */
        {2.5, 3, 0.0877066470080655},  {1, 1, 0.5},
        {0.1, 10, 0.922320718564408},  {6, 48, 2.50733096314491e-07},
        {40, 2, 0.000624414672184741}, {3.5, 1e6, 0.000465278393681035},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        near(student_p(known[i][0], known[i][1]), known[i][2], 1e-9);
        near(student_p(-known[i][0], known[i][1]), known[i][2], 1e-9);
    }
    assert_true(student_p(0, 5) == 1);
    assert_true(student_p(INFINITY, 5) == 0);
    near(student_p(1.96, INFINITY), 0.0499957902964409, 1e-12); /* 2 * pnorm(-1.96) */
}

TEST(quantile_is_that_of_r) {
    static const double known[][3] = {
        /* level, df, qt(1 - (1 - level) / 2, df) */
        {0.95, 1, 12.7062047361747}, {0.95, 3, 3.18244630528371},  {0.99, 10, 3.16927267261695},
        {0.95, 29, 2.0452296421327}, {0.999, 4, 8.61030158137952}, {0.5, 7, 0.711141778081787},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        near(student_quantile(known[i][0], known[i][1]), known[i][2], 1e-9);
}

TEST(nonsense_is_no_number) {
    assert_true(isnan(student_p(NAN, 3)) && isnan(student_p(1, 0)) && isnan(student_p(1, NAN)));
    assert_true(isnan(student_quantile(0, 3)) && isnan(student_quantile(1, 3)));
    assert_true(isnan(student_quantile(0.95, -1)));
}

TEST_MAIN(NULL, NULL)
