/* The tests of series: each detects the defect that it is made for, and gives no more false alarms than it states. */

#include <math.h>

#include "bench/base/rng.h"
#include "results/stats/series.h"
#include "results/stats/tests/stats_help.h"

#define ALPHA 0.001
#define SEEDS 10000
/* The most false alarms in 10,000 series: 10 are expected, and chance brings more than 25 in fewer than one of ten
 * thousand such tests. */
#define ALARMS_MAX 25

/* Gaps of a Poisson process within a window in which n are expected, as a stage has them. */
static int draw_gaps(struct lb_rng *rng, double n, double *gaps, int room) {
    double at = 0;
    for (int count = 0; count < room; count++) {
        gaps[count] = -log1p(-rng_unit(rng));
        at += gaps[count];
        if (at > n) return count;
    }
    return room;
}

TEST(exponential_gaps_are_seldom_accused) {
    int alarms = 0;
    double gaps[400];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct lb_rng rng;
        rng_seed(&rng, seed, 7);
        int count = draw_gaps(&rng, 150, gaps, 400);
        alarms += series_exponential(gaps, count) > SERIES_A2_LIMIT;
    }
    if (alarms > ALARMS_MAX) fail_msg("%d of %d", alarms, SEEDS);
}

TEST(skewed_gaps_are_found) {
    double gaps[2000];
    struct lb_rng rng;
    rng_seed(&rng, 1, 7);
    for (int i = 0; i < 2000; i++) gaps[i] = 2 * rng_unit(&rng); /* the mean is right */
    assert_true(series_exponential(gaps, 2000) > 3 * SERIES_A2_LIMIT);
    for (int i = 0; i < 2000; i++) gaps[i] = -1.15 * log1p(-rng_unit(&rng)); /* 15 % too slow */
    assert_true(series_exponential(gaps, 2000) > SERIES_A2_LIMIT);
}

/* Seconds that stand still, each depending on the last one by r. */
static int trend_alarms(int count, double r) {
    int alarms = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double values[60];
        struct lb_rng rng;
        rng_seed(&rng, seed, 9);
        double last = normal(&rng);
        for (int i = 0; i < count; i++) {
            last = r * last + sqrt(1 - r * r) * normal(&rng);
            values[i] = last;
        }
        alarms += series_trend_p(values, count) < ALPHA;
    }
    return alarms;
}

TEST(what_stands_still_is_seldom_said_to_move) {
    static const int counts[] = {10, 25, 60};
    for (int i = 0; i < 3; i++) {
        int alarms = trend_alarms(counts[i], 0);
        if (alarms > ALARMS_MAX) fail_msg("%d of %d with %d values", alarms, SEEDS, counts[i]);
    }
}

TEST(what_moves_is_found) {
    double values[20];
    struct lb_rng rng;
    rng_seed(&rng, 3, 9);
    for (int i = 0; i < 20; i++) values[i] = 100 + 2 * i + normal(&rng);
    assert_true(series_trend_p(values, 20) < ALPHA);
    for (int i = 0; i < 20; i++) values[i] = 7;
    assert_true(series_trend_p(values, 20) == 1);
    assert_true(series_trend_p(values, 9) == 1);
}

TEST(independent_neighbours_are_seldom_said_to_depend) {
    static const int counts[] = {10, 25, 60};
    for (int c = 0; c < 3; c++) {
        int alarms = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            double values[60];
            struct lb_rng rng;
            rng_seed(&rng, seed, 11);
            for (int i = 0; i < counts[c]; i++) values[i] = normal(&rng);
            alarms += series_lag1_p(series_lag1(values, counts[c]), counts[c]) < ALPHA;
        }
        if (alarms > ALARMS_MAX) fail_msg("%d of %d with %d values", alarms, SEEDS, counts[c]);
    }
}

TEST(neighbours_that_depend_are_found) {
    double values[60], last = 0;
    struct lb_rng rng;
    rng_seed(&rng, 5, 11);
    for (int i = 0; i < 60; i++) values[i] = last = 0.9 * last + normal(&rng);
    assert_true(series_lag1_p(series_lag1(values, 60), 60) < ALPHA);
}

TEST_MAIN(NULL, NULL)
