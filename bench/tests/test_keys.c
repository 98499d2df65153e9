/* test_keys: key pickers against the exact shares. */

#include <math.h>

#include "bench/tests/unit.h"
#include "bench/workload/schedule.h"

#define DRAWS 400000

/* Pearson's statistic of DRAWS zipf draws against the exact shares, in standard deviations above
 * its expectation. Keys too rare for the statistic (fewer than ten expected) are pooled. */
static double misfit(uint32_t count, double s, uint64_t seed) {
    struct keyspace keys = {.pick = KEYS_ZIPF, .count = count, .zipf_s = s};
    struct keypicker picker;
    struct lb_rng rng;
    int *seen = calloc(count, sizeof *seen);
    double total = 0, chi = 0, rare_expected = 0, rare_seen = 0;
    int cells = 0;
    keys_init(&picker, &keys, 1);
    rng_seed(&rng, seed, 7);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t key = keys_pick(&picker, 0, &rng);
        assert_true(key < count);
        seen[key]++;
    }
    for (uint32_t k = 1; k <= count; k++) total += pow(k, -s);
    for (uint32_t k = 1; k <= count; k++) {
        double expected = DRAWS * pow(k, -s) / total;
        if (expected < 10) {
            rare_expected += expected;
            rare_seen += seen[k - 1];
            continue;
        }
        chi += (seen[k - 1] - expected) * (seen[k - 1] - expected) / expected;
        cells++;
    }
    if (rare_expected >= 10) {
        chi += (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected;
        cells++;
    }
    free(seen);
    double freedom = cells > 1 ? cells - 1 : 1;
    return (chi - freedom) / sqrt(2 * freedom);
}

TEST(zipf_draws_have_the_exact_shares) {
    static const struct {
        uint32_t count;
        double s;
    } cases[] = {{2, 1},    {2, 0.01}, {10, 0.5},    {10, 1},         {100, 0.99},   {1000, 1.2},
                 {1000, 2}, {50, 5},   {10000, 0.8}, {1000000, 0.99}, {10000000, 1}, {3, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double z = misfit(cases[i].count, cases[i].s, 99);
        if (!(z < 4))
            fail_msg("%u keys, s = %g: %.1f deviations off", cases[i].count, cases[i].s, z);
    }
}

TEST(uniform_draws_are_alike) {
    struct keyspace keys = {.pick = KEYS_UNIFORM, .count = 10};
    struct keypicker picker;
    struct lb_rng rng;
    int seen[10] = {0};
    double chi = 0;
    keys_init(&picker, &keys, 4);
    rng_seed(&rng, 3, 3);
    for (int i = 0; i < DRAWS; i++) seen[keys_pick(&picker, 2, &rng)]++;
    for (int i = 0; i < 10; i++) chi += pow(seen[i] - DRAWS / 10.0, 2) / (DRAWS / 10.0);
    assert_true(chi < 9 + 4 * sqrt(18));
}

TEST(own_keys_are_the_clients) {
    struct keyspace keys = {.pick = KEYS_OWN};
    struct keypicker picker;
    struct lb_rng rng = {{1, 2, 3, 4}};
    keys_init(&picker, &keys, 4);
    assert_int_equal(keys_count(&keys, 4), 4);
    for (uint32_t client = 0; client < 4; client++)
        assert_int_equal(keys_pick(&picker, client, &rng), client);
}

TEST(the_same_seed_draws_the_same_keys) {
    struct keyspace keys = {.pick = KEYS_ZIPF, .count = 1000, .zipf_s = 0.99};
    struct keypicker picker;
    struct lb_rng a, b, other;
    int same = 0;
    keys_init(&picker, &keys, 1);
    rng_seed(&a, 5, 1);
    rng_seed(&b, 5, 1);
    rng_seed(&other, 5, 2);
    for (int i = 0; i < 1000; i++) {
        uint32_t key = keys_pick(&picker, 0, &a);
        assert_int_equal(key, keys_pick(&picker, 0, &b));
        same += key == keys_pick(&picker, 0, &other);
    }
    assert_true(same < 200);
}

TEST_MAIN(NULL, NULL)
