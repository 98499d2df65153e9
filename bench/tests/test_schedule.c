/* test_schedule: when open-loop operations are due, and for which keys: key pickers against the exact shares. */

#include <math.h>

#include "bench/tests/unit.h"
#include "bench/workload/schedule.h"

#define START 1000000007

TEST(closed_loop_is_never_due) {
    struct arrival arrival = {.kind = ARRIVAL_CLOSED};
    struct schedule s;
    schedule_init(&s, &arrival, 0, 1, 1, START, 1);
    assert_int_equal(schedule_peek(&s), LB_NEVER);
    assert_int_equal(schedule_take(&s), LB_NEVER);
}

TEST(constant_arrivals_do_not_drift) {
    struct arrival arrival = {.kind = ARRIVAL_CONSTANT, .rate_per_s = 3};
    struct schedule s;
    schedule_init(&s, &arrival, 0, 1, 1, START, 1);
    for (int64_t i = 0; i < 3000000; i++) {
        int64_t peek = schedule_peek(&s), due = schedule_take(&s);
        assert_int_equal(peek, due);
        /* Three a second: each third one is on the second, for all 11 days. */
        if (i % 3 == 0) assert_int_equal(due, START + i / 3 * LB_S_NS);
    }
}

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ten clients on threads of 3, 3, 2 and 2: together they are due as one process of the whole rate
 * would be. */
TEST(shares_together_are_the_whole) {
    static const uint32_t first[] = {0, 3, 6, 8}, count[] = {3, 3, 2, 2};
    struct arrival arrival = {.kind = ARRIVAL_CONSTANT, .rate_per_s = 1000};
    int64_t due[1000];
    int n = 0;
    for (int t = 0; t < 4; t++) {
        struct schedule s;
        schedule_init(&s, &arrival, first[t], count[t], 10, START, 1);
        for (uint32_t i = 0; i < count[t] * 100; i++) due[n++] = schedule_take(&s);
    }
    assert_int_equal(n, 1000);
    qsort(due, 1000, sizeof *due, by_time);
    for (int i = 0; i < 1000; i++) assert_int_equal(due[i], START + i * LB_MS_NS);
}

TEST(each_share_goes_forward) {
    struct arrival arrival = {.kind = ARRIVAL_CONSTANT, .rate_per_s = 1e6};
    struct schedule s;
    int64_t last = INT64_MIN;
    schedule_init(&s, &arrival, 5, 3, 10, START, 1);
    for (int i = 0; i < 10000; i++) {
        int64_t due = schedule_take(&s);
        assert_true(due > last);
        last = due;
    }
}

/* The statistic A2 of Anderson and Darling (1954) of sorted values against the exponential distribution with the mean
 * 1. Chance alone exceeds 5.97 with the probability 0.001 (Marsaglia and Marsaglia, 2004). */
static double exponential_a2(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (2 * i + 1) * (log(-expm1(-fmax(values[i], 1e-12))) - values[count - 1 - i]);
    return -count - sum / count;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Counts in slices of a Poisson process: mean and variance are alike, and gaps are exponential. */
TEST(poisson_arrivals_are_poisson) {
    struct arrival arrival = {.kind = ARRIVAL_POISSON, .rate_per_s = 1000};
    struct schedule s;
    static double gaps[200000];
    int counts[5000] = {0}, total = 0;
    int64_t last = START;
    /* 30 of 100 clients: 300 a second. */
    schedule_init(&s, &arrival, 10, 30, 100, START, 42);
    while (schedule_peek(&s) < START + 500 * LB_S_NS) {
        int64_t due = schedule_take(&s);
        assert_true(due >= last);
        gaps[total] = (double)(due - last) * 300 / 1e9;
        counts[(due - START) / (100 * LB_MS_NS)]++;
        last = due;
        total++;
    }
    double mean = total / 5000.0, variance = 0;
    for (int i = 0; i < 5000; i++) variance += (counts[i] - mean) * (counts[i] - mean) / 4999;
    assert_true(fabs(mean - 30) < 4 * sqrt(30 / 5000.0));
    assert_true(fabs(variance / mean - 1) < 4 * sqrt(2.0 / 5000));
    qsort(gaps, (size_t)total, sizeof *gaps, by_size);
    assert_true(exponential_a2(gaps, total) < 5.97);
    for (int i = 0; i < total; i++) gaps[i] *= 1.02; /* the statistic tells 2 % */
    assert_true(exponential_a2(gaps, total) > 5.97);
}

TEST(seeds_and_shares_differ_and_repeat) {
    struct arrival arrival = {.kind = ARRIVAL_POISSON, .rate_per_s = 1000};
    struct schedule a, again, share, seed;
    schedule_init(&a, &arrival, 0, 1, 4, START, 1);
    schedule_init(&again, &arrival, 0, 1, 4, START, 1);
    schedule_init(&share, &arrival, 1, 1, 4, START, 1);
    schedule_init(&seed, &arrival, 0, 1, 4, START, 2);
    assert_int_not_equal(schedule_peek(&a), schedule_peek(&share));
    assert_int_not_equal(schedule_peek(&a), schedule_peek(&seed));
    for (int i = 0; i < 100; i++) assert_int_equal(schedule_take(&a), schedule_take(&again));
}

/* ---- keys ---- */

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
