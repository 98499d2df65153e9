/* The rank statistics against R 4.2's wilcox.test, pwilcox, qwilcox and p.adjust, on its own
 * examples (Hollander and Wolfe 1973, page 69: permeability of membranes) and others with ties and
 * without. */
#include <math.h>

#include "bench/tests/unit.h"
#include "results/stats/rank.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};

static void near(double seen, double wanted) {
    if (!(fabs(seen - wanted) <= 1e-9 * (1 + fabs(wanted))))
        fail_msg("%.12g, not %.12g", seen, wanted);
}

/* 1 .. count with one unit or another. */
static void ladder(double *values, int count, double plus) {
    for (int i = 0; i < count; i++) values[i] = i + 1 + plus;
}

TEST(p_is_exact_without_ties) {
    near(rank_p(term, 10, early, 5), 0.2544122544);
    near(rank_p(early, 5, term, 10), 0.2544122544);
    /* U = 11 and 13 of 8 and 8 values: 2 * pwilcox(11, 8, 8), 2 * pwilcox(13, 8, 8). */
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    /* 4 + 3 + 2 + 1 + 1 pairs the other way */
    const double y11[] = {4.5, 5.5, 6.5, 7.5, 8.1, 8.2, 8.3, 7.9};
    near(rank_p(x, 8, y11, 8), 0.02812742813);
    const double y13[] = {3.5, 4.5, 6.5, 7.5, 8.1, 8.2, 7.9, 8.3};
    near(rank_p(x, 8, y13, 8), 0.04988344988);
}

/* Against a count of all C(m + n, m) ways to part the values. */
TEST(p_is_exact_with_ties_in_small_groups) {
    const double ones[] = {1, 1, 1, 1, 1}, twos[] = {2, 2, 2, 2, 2};
    near(rank_p(ones, 3, twos, 3), 0.1);
    near(rank_p(ones, 5, twos, 5), 2.0 / 252);
    near(rank_p(twos, 5, ones, 5), 2.0 / 252);
    const double a[] = {1, 2, 2, 3, 5, 8}, b[] = {2, 3, 6, 7, 9, 9, 12};
    near(rank_p(a, 6, b, 7), 0.08216783216783216);
    const double c[] = {3, 3, 3, 4}, d[] = {3, 4, 4, 4, 4, 5};
    near(rank_p(c, 4, d, 6), 0.14761904761904762);
}

TEST(p_is_corrected_for_ties_and_continuity) {
    double many[60], more[60];
    ladder(many, 60, 0);
    ladder(more, 60, 7.3);
    near(rank_p(many, 60, more, 60), 0.0269458562);
    const double half[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    const double most[] = {1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    near(rank_p(half, 21, most, 21), 0.2233715235048886);
}

TEST(p_of_nothing_to_tell_is_one) {
    const double same[] = {5, 5, 5, 5};
    near(rank_p(same, 4, same, 4), 1);
    near(rank_p(same, 0, same, 4), 1);
    near(rank_p(same, 1, same, 1), 1);
}

TEST(shift_is_hodges_and_lehmanns) {
    struct rank_shift shift;
    assert_int_equal(rank_shift(term, 10, early, 5, 0.95, &shift), 0);
    near(shift.estimate, -0.305);
    near(shift.low, -0.76);
    near(shift.high, 0.15);
    assert_true(shift.level >= 0.95 && shift.level < 0.97);
    double base[] = {10.1, 9.8, 10.4, 10.0, 9.9, 10.2, 10.3, 9.7, 10.05, 9.95}, slower[10];
    for (int i = 0; i < 10; i++) slower[i] = base[i] * 1.05 + 0.001 * (i + 1);
    near(rank_p(base, 10, slower, 10), 0.0002056766763);
    assert_int_equal(rank_shift(base, 10, slower, 10, 0.95, &shift), 0);
    near(shift.estimate, 0.50675);
    near(shift.low, 0.292);
    near(shift.high, 0.723);
}

TEST(small_groups_have_no_bounds) {
    struct rank_shift shift;
    const double x[] = {1, 2, 3}, y[] = {11, 12, 13};
    assert_int_equal(rank_shift(x, 3, y, 3, 0.95, &shift), 0);
    near(shift.estimate, 10);
    assert_true(isinf(shift.low) && shift.low < 0 && isinf(shift.high) && shift.high > 0);
    assert_int_equal(rank_shift(x, 0, y, 3, 0.95, &shift), -1);
    near(shift.estimate, 10); /* untouched */
}

/* Beyond the exact range: near the exact bounds, by R's normal ones. */
TEST(large_groups_have_normal_bounds) {
    double x[60], y[60];
    struct rank_shift shift;
    ladder(x, 60, 0);
    ladder(y, 60, 7.3);
    assert_int_equal(rank_shift(x, 60, y, 60, 0.95, &shift), 0);
    near(shift.estimate, 7.3);
    assert_true(shift.low > 0 && shift.low < 2 && shift.high > 12 && shift.high < 15);
}

TEST(holm_is_as_published) {
    double p[] = {0.01, 0.04, 0.03, 0.005, 0.5};
    const double wanted[] = {0.04, 0.09, 0.09, 0.025, 0.5};
    assert_int_equal(rank_holm(p, COUNT(p)), 0);
    for (int i = 0; i < COUNT(p); i++) near(p[i], wanted[i]);
    assert_int_equal(rank_holm(NULL, 0), 0);
}

TEST(median_is_the_middle) {
    near(rank_median(term, 10), 1.415);
    near(rank_median(early, 5), 0.90);
    assert_true(isnan(rank_median(early, 0)));
}

TEST_MAIN(NULL, NULL)
