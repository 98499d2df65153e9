/* Intervals of quantiles: ranks against R 4.2's qbinom, those from batches against its survey
 * package, and both against series that are made from a seed and whose true quantile is known. */
#include <math.h>

#include "bench/base/rng.h"
#include "results/stats/quantile.h"
#include "results/stats/tests/stats_help.h"

TEST(ranks_are_those_of_r) {
    static const struct {
        uint64_t n;
        double q, level;
        uint64_t low,
            /* a = (1 - level) / 2: qbinom(a, n, q), qbinom(a, n, q, lower.tail = FALSE) + 1 */
            high;
        uint64_t off;
    } known[] = {
        {10, 0.5, 0.95, 2, 9, 0},
        {100, 0.5, 0.95, 40, 61, 0},
        {368, 0.99, 0.95, 360, 368, 0},
        {1000, 0.99, 0.95, 983, 997, 0},
        {1000, 0.9, 0.99, 875, 925, 0},
        {6000, 0.999, 0.95, 5989, 5999, 0},
        {1000000, 0.999, 0.99, 998918, 999081, 0},
        {10000000, 0.9999, 0.95, 9998938, 9999062, 0},
        {1000000000, 0.5, 0.95, 499969010, 500030991, 1}, /* normal from here on */
        {1000000000000, 0.5, 0.95, 499999020018, 500000979983, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t low = 0, high = 0;
        assert_int_equal(quantile_ranks(known[i].n, known[i].q, known[i].level, &low, &high), 0);
        assert_in_range(low, known[i].low - known[i].off, known[i].low + known[i].off);
        assert_in_range(high, known[i].high - known[i].off, known[i].high + known[i].off);
    }
}

/* 0.99^n <= 0.025 from n = 368 on: with fewer samples the greatest of them is no bound of p99. */
TEST(what_n_does_not_support_is_refused) {
    uint64_t low = 7, high = 8;
    assert_int_equal(quantile_ranks(367, 0.99, 0.95, &low, &high), -1);
    assert_int_equal(quantile_ranks(0, 0.5, 0.95, &low, &high), -1);
    assert_int_equal(quantile_ranks(5, 0.5, 0.95, &low, &high), -1); /* 2 * 0.5^5 = 0.0625 */
    assert_int_equal(quantile_ranks(100, 0, 0.95, &low, &high), -1);
    assert_int_equal(quantile_ranks(100, 1, 0.95, &low, &high), -1);
    assert_int_equal(quantile_ranks(100, NAN, 0.95, &low, &high), -1);
    assert_int_equal(quantile_ranks(100, 0.5, 1, &low, &high), -1);
    assert_int_equal(low, 7);
    assert_int_equal(high, 8);
    assert_int_equal(quantile_ranks(6, 0.5, 0.95, &low, &high), 0);
    assert_int_equal(low, 1);
    assert_int_equal(high, 6);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define SAMPLES 20000
#define COVERED 8000 /* samples of each of the trials */
#define BATCHES 20
#define TRIALS 300

struct covered {
    int alone, batches; /* trials whose interval has the true quantile in it */
    double effective;   /* mean */
};

/* Series whose neighbours are correlated by rho and whose 0.9-quantile is that of the normal
 * distribution. */
static struct covered cover(double rho) {
    static double series[COVERED], sorted[COVERED];
    const double truth = 1.2815515655446004; /* qnorm(0.9) */
    struct covered covered = {0};
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct lb_rng rng;
        struct quantile_batch batches[BATCHES] = {0};
        uint64_t low, high;
        double effective;
        rng_seed(&rng, trial, 11);
        for (int i = 0; i < COVERED; i++)
            series[i] = i ? rho * series[i - 1] + sqrt(1 - rho * rho) * normal(&rng) : normal(&rng);
        for (int i = 0; i < COVERED; i++) sorted[i] = series[i];
        qsort(sorted, COVERED, sizeof *sorted, by_value);
        double estimate = sorted[(int)(0.9 * COVERED) - 1];
        for (int i = 0; i < COVERED; i++) {
            struct quantile_batch *batch = &batches[i / (COVERED / BATCHES)];
            batch->count++;
            batch->below += series[i] <= estimate;
        }
        assert_int_equal(quantile_ranks(COVERED, 0.9, 0.95, &low, &high), 0);
        covered.alone += sorted[low - 1] <= truth && truth <= sorted[high - 1];
        assert_int_equal(
            quantile_ranks_batches(batches, BATCHES, 0.9, 0.95, &low, &high, &effective), 0);
        covered.batches += sorted[low - 1] <= truth && truth <= sorted[high - 1];
        covered.effective += effective / TRIALS;
    }
    return covered;
}

/* 285 of 300 are 95 %; by chance one of 4,000 such series of trials lies below 273. */
TEST(independent_samples_are_covered) {
    struct covered covered = cover(0);
    assert_in_range(covered.alone, 273, 300);
    assert_in_range(covered.batches, 273, 300);
}

TEST(correlated_samples_are_covered_by_batches_only) {
    struct covered covered = cover(0.95);
    assert_in_range(covered.batches, 265, 300);
    assert_true(covered.alone < 200);
    assert_true(covered.effective < COVERED / 5.0);
}

/* survey 4.1: svyratio(~below, ~count, svydesign(ids = ~batch, data = d)), its SE squared over q (1
 * - q) / n is the design effect; then Korn and Graubard's effective n and qbinom as above. */
TEST(batches_are_worth_what_survey_says) {
    static const struct quantile_batch batches[] = {
        {1000, 998, 0, 0}, {1200, 1150, 0, 0}, {900, 895, 0, 0}, {1100, 1099, 0, 0},
        {1000, 960, 0, 0}, {950, 949, 0, 0},   {0, 0, 0, 0},     {1050, 1047, 0, 0}};
    uint64_t low, high;
    double effective;
    assert_int_equal(quantile_ranks_batches(batches, 8, 0.98, 0.95, &low, &high, &effective), 0);
    if (!(fabs(effective - 225.992567508549) < 1e-6)) fail_msg("%.12g", effective);
    assert_int_equal(low, 6912);
    assert_int_equal(high, 7200);
}

TEST(too_few_batches_are_refused) {
    const struct quantile_batch few[] = {
        {1000, 990, 0, 0}, {1000, 990, 0, 0}, {1000, 990, 0, 0}, {0, 0, 0, 0}, {1000, 990, 0, 0}};
    const struct quantile_batch wrong[] = {
        {10, 11, 0, 0}, {10, 9, 0, 0}, {10, 9, 0, 0}, {10, 9, 0, 0}, {10, 9, 0, 0}};
    uint64_t low = 7, high = 8;
    assert_int_equal(quantile_ranks_batches(few, 5, 0.99, 0.95, &low, &high, NULL), -1);
    assert_int_equal(quantile_ranks_batches(wrong, 5, 0.9, 0.95, &low, &high, NULL), -1);
    assert_int_equal(quantile_ranks_batches(NULL, 0, 0.9, 0.95, &low, &high, NULL), -1);
    assert_int_equal(low, 7);
    assert_int_equal(high, 8);
}

/* A series whose neighbours are correlated by r is worth (1 - r) / (1 + r) of its samples: by its values alone, also
 * where none is beyond the limit; and where batches are shorter than it takes to forget. */
TEST(values_tell_what_dependent_samples_are_worth) {
    static const struct {
        double r;
        int batch;
    } cases[] = {{0, 100}, {0.95, 1000}, {0.95, 20}, {0.99, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct quantile_batch batches[1000] = {0};
        int per = cases[i].batch, count = SAMPLES / per;
        double r = cases[i].r, value = 0, sum = 0;
        for (uint64_t trial = 0; trial < 20; trial++) {
            struct lb_rng rng;
            rng_seed(&rng, trial, 12);
            memset(batches, 0, sizeof batches);
            for (int k = 0; k < count * per; k++) {
                value = r * value + sqrt(1 - r * r) * normal(&rng);
                batches[k / per].count++;
                batches[k / per].sum += value;
                batches[k / per].squares += value * value;
            }
            sum += batches_worth(batches, count, 0.95) / 20;
        }
        double truth = SAMPLES * (1 - r) / (1 + r);
        if (!(sum > 0.4 * truth && sum < 1.1 * truth))
            fail_msg("r %g, batches of %d: worth %g of %g", r, per, sum, truth);
    }
}

TEST(students_quantile_is_that_of_r) {
    static const double known[][3] = {
        /* level, df, qt(1 - (1 - level) / 2, df) */
        {0.95, 1, 12.7062047361747}, {0.95, 3, 3.18244630528371},  {0.99, 10, 3.16927267261695},
        {0.95, 29, 2.0452296421327}, {0.999, 4, 8.61030158137952}, {0.5, 7, 0.711141778081787},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        near(student_quantile(known[i][0], known[i][1]), known[i][2], 1e-9);
}

TEST(nonsense_is_no_number) {
    assert_true(isnan(student_quantile(0, 3)) && isnan(student_quantile(1, 3)));
    assert_true(isnan(student_quantile(0.95, -1)));
}

TEST_MAIN(NULL, NULL)
