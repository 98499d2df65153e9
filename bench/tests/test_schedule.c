/* test_schedule: when open-loop operations are due. */

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

TEST_MAIN(NULL, NULL)
