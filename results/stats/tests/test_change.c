/* Change points against Apache Otava's own tests (tests/analysis_test.py,
 * tests/tigerbeetle_test.py): its series and the points it finds in them; and against series made
 * from a seed, whose answer is known. */
#include <math.h>

#include "bench/base/rng.h"
#include "results/stats/change.h"
#include "results/stats/tests/stats_help.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static void finds(const double *values, int count, struct change_options options, const int *wanted,
                  int wanted_count) {
    struct change_point *points = calloc((size_t)count, sizeof *points);
    assert_non_null(points);
    int found = change_points(values, count, &options, points);
    for (int i = 0; i < found || i < wanted_count; i++) {
        int seen = i < found ? points[i].index : -1, is = i < wanted_count ? wanted[i] : -1;
        if (seen != is) fail_msg("p %g: point %d is at %d, not at %d", options.max_p, i, seen, is);
    }
    free(points);
}
#define FINDS(values, window, p, magnitude, ...)                                                   \
    finds(values, COUNT(values), (struct change_options){window, p, magnitude},                    \
          (const int[]){__VA_ARGS__}, COUNT(((const int[]){__VA_ARGS__})))

/* A year of TigerBeetle's nightly figures: some clear steps, one day that fell out, a slope, then
 * scatter. */
static const double tigerbeetle[] = {
    26705, 26475, 26641, 26806, 26835, 26911, 26564, 26812, 26874, 26682, 15672, 26745, 26460,
    26977, 26851, 23412, 23547, 23674, 23519, 23670, 23662, 23462, 23750, 23717, 23524, 23588,
    23687, 23793, 23937, 23715, 23570, 23730, 23690, 23699, 23670, 23860, 23988, 23652, 23681,
    23798, 23728, 23604, 23523, 23412, 23685, 23773, 23771, 23718, 23409, 23739, 23674, 23597,
    23682, 23680, 23711, 23660, 23990, 23938, 23742, 23703, 23536, 24363, 24414, 24483, 24509,
    24944, 24235, 24560, 24236, 24667, 24730, 28346, 28437, 28436, 28057, 28217, 28456, 28427,
    28398, 28250, 28331, 28222, 28726, 28578, 28345, 28274, 28514, 28590, 28449, 28305, 28411,
    28788, 28404, 28821, 28580, 27483, 26805, 27487, 27124, 26898, 27295, 26951, 27312, 27660,
    27154, 27050, 26989, 27193, 27503, 27326, 27375, 27513, 27057, 27421, 27574, 27609, 27123,
    27824, 27644, 27394, 27836, 27949, 27702, 27457, 27272, 28207, 27802, 27516, 27586, 28005,
    27768, 28543, 28237, 27915, 28437, 28342, 27733, 28296, 28524, 28687, 28258, 28611, 29360,
    28590, 29641, 28965, 29474, 29256, 28611, 28205, 28539, 27962, 28398, 28509, 28240, 28592,
    28102, 28461, 28578, 28669, 28507, 28535, 28226, 28536, 28561, 28087, 27953, 28398, 28007,
    28518, 28337, 28242, 28607, 28545, 28514, 28377, 28010, 28412, 28633, 28576, 28195, 28637,
    28724, 28466, 28287, 28719, 28425, 28860, 28842, 28604, 28327, 28216, 28946, 28918, 29287,
    28725, 29148, 29541, 29137, 29628, 29087, 28612, 29154, 29108, 28884, 29234, 28695, 28969,
    28809, 28695, 28634, 28916, 29852, 29389, 29757, 29531, 29363, 29251, 29552, 29561, 29046,
    29795, 29022, 29395, 28921, 29739, 29257, 29455, 29376, 29528, 28909, 29492, 28984, 29621,
    29026, 29457, 29102, 29114, 28924, 29162, 29259, 29554, 29616, 29211, 29367, 29460, 28836,
    29645, 29586, 28848, 29324, 28969, 29150, 29243, 29081, 29312, 28923, 29272, 29117, 29072,
    29529, 29737, 29652, 29612, 29856, 29012, 30402, 29969, 29309, 29439, 29285, 29421, 29023,
    28772, 29692, 29416, 29267, 29542, 29904, 30045, 29739, 29945, 29141, 29163, 29765, 29197,
    29441, 28910, 29504, 29614, 29643, 29506, 29420, 29672, 29432, 29784, 29888, 29309, 29247,
    29816, 29254, 29813, 29451, 29382, 29618, 28558, 29845, 29499, 29283, 29184, 29246, 28790,
    29952, 29145, 29415, 30437, 29227, 29605, 29859, 29156, 29807, 29406, 29734, 29861, 29140,
    29983, 29832, 29919, 29896, 29991, 29266, 29001, 29459, 29548, 29310, 29042, 29303, 29894,
    29091, 29018, 29537, 29614, 29180, 29736, 29500, 29218, 29581, 28906, 28542, 29306, 28987,
    29878, 28865, 30272, 29707, 29662, 29815, 30492, 29347, 30096, 29054, 30238, 28813, 31895,
    28915};

TEST(single_series_is_split_as_otava_does) {
    static const double series[] = {1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96,
                                    0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49, 0.51, 0.50, 0.49};
    FINDS(series, 10, 0.0001, 0, 10);
    FINDS(series, CHANGE_WINDOW, CHANGE_MAX_P, 0, 10);
    static const double steps[] = {0.3,  2.4,   1.5,   -0.9,  -0.5,  99.7,  98.3,
                                   99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0};
    FINDS(steps, CHANGE_WINDOW, 0.01, 0, 5, 8);
}

/* The first two lists are Otava's. The others are those of the same algorithm in R, each point
 * tested by t.test's formula: Otava has up to three points more there, since it divides a variance
 * by n instead of n - 1, and does not test the left neighbour of a removed point again. With both
 * done in Otava's way this code gives all of Otava's lists, too. */
TEST(long_series_is_split_as_otava_and_r_do) {
    FINDS(tigerbeetle, 30, 0.01, 0.05, 15, 71);
    FINDS(tigerbeetle, 30, 0.05, 0.05, 15, 71);
    FINDS(tigerbeetle, 30, 0.01, 0, 15, 61, 71, 95, 117, 131, 142, 148, 192, 212, 260);
    FINDS(tigerbeetle, 30, 0.001, 0, 15, 61, 71, 95, 117, 131, 142, 148, 192, 212);
    FINDS(tigerbeetle, 30, 0.0001, 0, 71, 95, 131, 192, 212);
    FINDS(tigerbeetle, 30, 0.00001, 0, 71, 95, 131, 192);
    FINDS(tigerbeetle, CHANGE_WINDOW, CHANGE_MAX_P, 0.03, 15, 61, 71, 95, 131, 192);
}

/* The p-value and the levels of a point, against R 4.2's t.test(values[1:5], values[6:10],
 * var.equal = TRUE). */
TEST(a_point_has_its_test_and_its_levels) {
    static const double values[] = {1.00, 1.02, 1.05, 0.95, 0.98, 0.80, 0.82, 0.85, 0.79, 0.77};
    const struct change_options options = {CHANGE_WINDOW, CHANGE_MAX_P, 0};
    struct change_point points[COUNT(values)];
    assert_int_equal(change_points(values, COUNT(values), &options, points), 1);
    assert_int_equal(points[0].index, 5);
    assert_true(fabs(points[0].p - 2.02497703293336e-05) < 1e-12);
    assert_true(fabs(points[0].before - 1) < 1e-12 && fabs(points[0].after - 0.806) < 1e-12);
}

/* 200 histories of 60 runs that scatter by 4 % and never change: at most 5 % of them get a point,
 * with the default least change of `history` (3 %). Then 200 histories that fall by 8 % at the 40th
 * run: the point lies within three runs of it. */
TEST(scatter_is_no_change_and_a_step_is_one) {
    const struct change_options options = {CHANGE_WINDOW, CHANGE_MAX_P, 0.03};
    int alarms = 0, found = 0;
    for (uint64_t trial = 0; trial < 200; trial++) {
        struct lb_rng rng;
        double values[60];
        struct change_point points[60];
        rng_seed(&rng, trial, 3);
        for (int i = 0; i < 60; i++) values[i] = 1000 * exp(0.04 * normal(&rng));
        alarms += change_points(values, 60, &options, points) > 0;
        for (int i = 40; i < 60; i++) values[i] *= 0.92;
        int count = change_points(values, 60, &options, points);
        assert_true(count >= 0);
        for (int i = 0; i < count; i++)
            found += abs(points[i].index - 40) <= 3 && points[i].after < points[i].before;
    }
    if (alarms > 10) fail_msg("%d false alarms in 200", alarms);
    if (found < 180) fail_msg("found in %d of 200", found);
}

/* An outlier among other values is no change of level. As the last value it is reported, because
 * nothing distinguishes it from a new level. */
TEST(an_outlier_is_a_change_only_as_the_last) {
    static const double values[] = {100,   101,  99,  100.5, 99.5, 100, 101, 99,
                                    100.5, 99.5, 100, 101,   99,   100, 99,  101,
                                    100,   100,  99,  112,   100,  101, 99,  100};
    const struct change_options options = {CHANGE_WINDOW, CHANGE_MAX_P, 0.03};
    struct change_point points[COUNT(values)];
    assert_int_equal(change_points(values, 20, &options, points), 1);
    assert_int_equal(points[0].index, 19);
    assert_int_equal(change_points(values, COUNT(values), &options, points), 0);
}

TEST(few_or_equal_values_have_no_points) {
    const struct change_options options = {CHANGE_WINDOW, CHANGE_MAX_P, 0};
    const double same[] = {5, 5, 5, 5, 5, 5, 5, 5}, two[] = {1, 9},
                 steps[] = {1, 1, 1, 1, 2, 2, 2, 2};
    struct change_point points[8];
    assert_int_equal(change_points(same, 8, &options, points), 0);
    assert_int_equal(change_points(two, 2, &options, points), 0);
    assert_int_equal(change_points(two, 1, &options, points), 0);
    assert_int_equal(change_points(NULL, 0, &options, points), 0);
    assert_int_equal(change_points(steps, 8, &options, points), 1); /* without any scatter p is 0 */
    assert_int_equal(points[0].index, 4);
    assert_true(points[0].p == 0);
}

TEST(nonsense_is_refused) {
    const double values[] = {1, 2, NAN, 4};
    struct change_point points[4];
    assert_int_equal(change_points(values, 4, &(struct change_options){50, 0.001, 0}, points), -1);
    assert_int_equal(change_points(values, 2, &(struct change_options){3, 0.001, 0}, points), -1);
    assert_int_equal(change_points(values, 2, &(struct change_options){50, 0, 0}, points), -1);
    assert_int_equal(change_points(values, 2, &(struct change_options){50, 0.001, -1}, points), -1);
}

TEST_MAIN(NULL, NULL)
