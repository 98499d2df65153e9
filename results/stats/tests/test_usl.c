/* The Universal Scalability Law against published fits (usl4j's Cisco table after Schwartz,
 * Practical Scalability Analysis; R's usl package: the SPEC SDM91 table) and against R 4.2's
 * nls(algorithm = "port"), an independent implementation, also for the intervals. */
#include <math.h>

#include "bench/base/rng.h"
#include "results/stats/tests/stats_help.h"
#include "results/stats/usl.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static void is(struct usl_parameter seen, double estimate, double low, double high) {
    near(seen.estimate, estimate, 1e-5);
    near(seen.low, low, 1e-4);
    near(seen.high, high, 1e-4);
}

static const double cisco[] = {955.16,   1878.91,  2688.01,  3548.68,  4315.54,  5130.43,  5931.37,
                               6531.08,  7219.8,   7867.61,  8278.71,  8646.7,   9047.84,  9426.55,
                               9645.37,  9897.24,  10097.6,  10240.5,  10532.39, 10798.52, 11151.43,
                               11518.63, 11806,    12089.37, 12075.41, 12177.29, 12211.41, 12158.93,
                               12155.27, 12118.04, 12140.4,  12074.39};

static void ladder(double *n, int count) {
    for (int i = 0; i < count; i++) n[i] = i + 1;
}

/* Published: lambda 995.6486, sigma 0.02671591, kappa 7.690945e-4, N* 35, peak 12341.7 per second
 * there. */
TEST(cisco_is_as_published) {
    double n[COUNT(cisco)], x;
    struct usl usl;
    ladder(n, COUNT(cisco));
    assert_int_equal(usl_fit(n, cisco, COUNT(cisco), 0.95, &usl), USL_OK);
    near(usl.lambda.estimate, 995.6486, 1e-5);
    near(usl.sigma.estimate, 0.02671591, 1e-5);
    near(usl.kappa.estimate, 7.690945e-4, 1e-5);
    assert_int_equal((int)usl.peak_n, 35);
    assert_int_equal(usl_at(&usl, 35, &x), 0);
    near(x, 12341.745655201905, 1e-6);
    assert_int_equal(usl_at(&usl, 20, &x), 0);
    near(x, 11063.63312570436, 1e-6);
    is(usl.lambda, 995.648793993, 936.954049016, 1054.34353897);
    is(usl.sigma, 0.0267159463323, 0.0175250362865, 0.0359068563782);
    is(usl.kappa, 7.69093898387e-04, 5.92274675943e-04, 9.45913120832e-04);
    near(usl.r_squared, 0.997151135164442, 1e-6);
}

/* Published (R's usl 2.0, vignette): gamma 89.9952, alpha 0.0277285, beta 0.0001044. */
TEST(specsdm91_is_as_published) {
    const double n[] = {1, 18, 36, 72, 108, 144, 216};
    const double x[] = {64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2};
    struct usl usl;
    assert_int_equal(usl_fit(n, x, COUNT(n), 0.95, &usl), USL_OK);
    near(usl.lambda.estimate, 89.9952, 1e-4);
    near(usl.sigma.estimate, 0.0277285, 1e-3);
    near(usl.kappa.estimate, 0.0001044, 1e-3);
    is(usl.lambda, 89.9952318991, 50.5322570512, 129.458206747);
    is(usl.sigma, 0.0277284748667, 0.00240248600774, 0.0530544637256);
    is(usl.kappa, 1.04365484185e-04, 4.91828841938e-05, 1.59548084176e-04);
    near(usl.r_squared, 0.989561478053127, 1e-6);
}

/* The usl package's own test of coef: (0.02, 0.02, 1) to three digits. */
TEST(a_small_table_is_that_of_the_package) {
    const double n[] = {1, 2, 4, 6, 8, 10}, x[] = {1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557};
    struct usl usl;
    assert_int_equal(usl_fit(n, x, COUNT(n), 0.95, &usl), USL_OK);
    near(usl.lambda.estimate, 1, 5e-4);
    near(usl.sigma.estimate, 0.02, 5e-3);
    near(usl.kappa.estimate, 0.02, 5e-3);
}

/* A ray tracer that only its serial part slows down (Gunther 2007): kappa ends at its bound, 0, and
 * there is no peak. nls(algorithm = "port") ends there too. */
TEST(no_coherency_is_no_negative_one) {
    const double n[] = {1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64};
    const double x[] = {20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310};
    struct usl usl;
    assert_int_equal(usl_fit(n, x, COUNT(n), 0.95, &usl), USL_OK);
    near(usl.lambda.estimate, 21.8488427932509, 1e-5);
    near(usl.sigma.estimate, 0.0577707804283, 1e-5);
    near(usl.sigma.low, 0.027116381719, 1e-4);
    near(usl.sigma.high, 0.0884251791376, 1e-4);
    assert_true(usl.kappa.estimate == 0 && usl.kappa.low == 0); /* R's would be below 0 */
    near(usl.kappa.high, 2.71928984689e-04, 1e-4);
    assert_true(isinf(usl.peak_n) && isnan(usl.peak));
}

/* One hot key: more clients give no more. Then one that gives less with each client. */
TEST(serial_work_has_a_sigma_of_one) {
    const double n[] = {1, 2, 4, 8, 16, 32};
    double x[6];
    struct usl usl;
    for (int i = 0; i < 6; i++) x[i] = 5000 * n[i] / (1 + 1.0 * (n[i] - 1));
    assert_int_equal(usl_fit(n, x, 6, 0.95, &usl), USL_OK);
    near(usl.sigma.estimate, 1, 1e-6);
    assert_true(usl.kappa.estimate < 1e-9);
    assert_true(usl.peak_n == 1 || usl.peak_n > 64);
    for (int i = 0; i < 6; i++) x[i] = 5000 / n[i];
    assert_int_equal(usl_fit(n, x, 6, 0.95, &usl), USL_OK);
    assert_true(usl.peak_n < 2);
}

/* Of 400 tables with 3 % noise, seven N each, the interval of each parameter has the truth in it in
 * about 95 %. */
TEST(intervals_cover) {
    const double n[] = {1, 2, 4, 8, 16, 32, 64};
    int covered[3] = {0};
    for (uint64_t trial = 0; trial < 400; trial++) {
        struct lb_rng rng;
        double x[COUNT(n)];
        struct usl usl;
        rng_seed(&rng, trial, 5);
        for (int i = 0; i < COUNT(n); i++) {
            x[i] = 1000 * n[i] / (1 + 0.05 * (n[i] - 1) + 0.002 * n[i] * (n[i] - 1)) +
                   150 * normal(&rng);
        }
        assert_int_equal(usl_fit(n, x, COUNT(n), 0.95, &usl), USL_OK);
        covered[0] += usl.lambda.low <= 1000 && 1000 <= usl.lambda.high;
        covered[1] += usl.sigma.low <= 0.05 && 0.05 <= usl.sigma.high;
        covered[2] += usl.kappa.low <= 0.002 && 0.002 <= usl.kappa.high;
    }
    for (int i = 0; i < 3; i++) {
        if (covered[i] < 360 || covered[i] > 395)
            fail_msg("%d of 400, parameter %d", covered[i], i);
    }
}

TEST(nothing_is_said_of_what_was_not_measured) {
    double n[COUNT(cisco)], x = 7;
    struct usl usl;
    ladder(n, COUNT(cisco));
    assert_int_equal(usl_fit(n, cisco, COUNT(cisco), 0.95, &usl), USL_OK);
    assert_int_equal(usl_at(&usl, 64, &x), 0);
    x = 7;
    assert_int_equal(usl_at(&usl, 65, &x), -1);
    assert_int_equal(usl_at(&usl, 0.5, &x), -1);
    assert_int_equal(usl_at(&usl, NAN, &x), -1);
    assert_true(x == 7);
    /* The first ten points do not show the bend: the peak they promise, of 46 clients, is beyond 2
     * * 10. */
    assert_int_equal(usl_fit(n, cisco, 10, 0.95, &usl), USL_OK);
    assert_true(usl.peak_n > 20 && isnan(usl.peak));
}

TEST(bad_points_are_refused) {
    double n[] = {1, 2, 4, 8, 16, 32}, x[] = {10, 19, 35, 60, 90, 110};
    struct usl usl = {.count = 7};
    assert_int_equal(usl_fit(n, x, 5, 0.95, &usl), USL_TOO_FEW);
    n[5] = 16;
    assert_int_equal(usl_fit(n, x, 6, 0.95, &usl), USL_TOO_FEW);
    n[5] = 0.5;
    assert_int_equal(usl_fit(n, x, 6, 0.95, &usl), USL_BAD);
    n[5] = 32;
    assert_int_equal(usl_fit(n, x, 6, 1, &usl), USL_BAD);
    x[2] = 0;
    assert_int_equal(usl_fit(n, x, 6, 0.95, &usl), USL_BAD);
    x[2] = NAN;
    assert_int_equal(usl_fit(n, x, 6, 0.95, &usl), USL_BAD);
    assert_int_equal(usl.count, 7);
}

TEST_MAIN(NULL, NULL)
