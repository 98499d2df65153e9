/* test_shape: distributions, arrivals, key spaces and lists of clients, from text and
 * back. */

#include <math.h>

#include "bench/tests/unit.h"
#include "bench/workload/sections.h"

/* Of the words, with | between, a key takes "TEXT>BACK" and prints it as BACK; any other text it refuses, which does not
 * change the plan. */
static void check_words(const char *section_name, const char *key, const char *words) {
    const struct lb_option *option = options_find(section_find(section_name)->keys, key);
    char *copy = strdup(words), *rest = copy;
    for (char *word; (word = strsep(&rest, "|"));) {
        static struct plan plan, before;
        struct lb_err err = {0};
        char text[256], *back = strchr(word, '>');
        if (back) *back++ = '\0';
        memset(&plan, 77, sizeof plan);
        before = plan;
        int result = option_read(option, &plan, word, NULL, &err);
        if ((result == 0) != (back != NULL))
            fail_msg("%s = '%s': %d %s", key, word, result, err.text);
        if (back)
            assert_string_equal(option_text(option, &plan, text, sizeof text), back);
        else
            assert_memory_equal(&plan, &before, sizeof plan);
    }
    free(copy);
}

TEST(dists_read_and_print) {
    check_words("load", "hold",
                "0>0|5ms>5ms|constant:5ms>5ms|constant: 5 ms>5ms|"
                "exponential:1.5s>exponential:1.5s|lognormal:5ms:0.7>lognormal:5ms:0.7|"
                "exponential|exponental:5ms|lognormal:5ms|lognormal:5ms:0|lognormal:5ms:9|"
                "exponential:5ms:1|5|-5ms|2h||a:b:c:d");
}

TEST(arrivals_read_and_print) {
    check_words("load", "arrival",
                "closed>closed|poisson:500/s>poisson:500/s|constant:0.5>constant:0.5/s|poisson|"
                "poisson:|poisson:0|constant:-1|constant:1e9|closed:5|poisson:5/m|open|");
}

TEST(keyspaces_read_and_print) {
    check_words("load", "keys",
                "own>own|1>1|1000>1000 uniform|1000 uniform>1000 uniform|"
                "1000  zipf:0.99>1000 zipf:0.99|10000000>10000000 uniform|0|-1|10000001|1 zipf:1|"
                "10 zipf|10 zipf:0|10 zipf:6|10 uniform:1|10 hot|ten|own 5|");
}

TEST(lists_read_and_print) {
    check_words("load", "clients",
                "1>1|1,2,4>1, 2, 4|16, 1 ,4>16, 1, 4||0|2000001|1,,2|1,2,|2,2|1..4|1 2 4|-1");
}

/* The share of 200000 draws that are below bound, and their mean. */
static double share_below(const struct dist *dist, double bound, double *ret_mean) {
    struct lb_rng rng;
    rng_seed(&rng, 12345, 1);
    int below = 0;
    double sum = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t ns = dist_draw(dist, &rng);
        assert_true(ns >= 0);
        below += (double)ns < bound;
        sum += (double)ns;
    }
    *ret_mean = sum / 200000;
    return below / 200000.0;
}

/* Bounds are four standard errors of 200000 draws; the seed is fixed, so the test can't flicker. */
TEST(draws_have_the_stated_mean_and_quantiles) {
    const double mean_ns = 5e6;
    double mean;
    struct dist exponential = {.kind = DIST_EXPONENTIAL, .mean_ns = 5000000};
    /* quantile q of an exponential: -mean * ln(1 - q) */
    assert_true(fabs(share_below(&exponential, mean_ns * log(2), &mean) - 0.5) < 0.0045);
    assert_true(fabs(mean - mean_ns) < 4 * mean_ns / sqrt(200000));
    assert_true(fabs(share_below(&exponential, mean_ns * log(100), &mean) - 0.99) < 0.0009);

    struct dist lognormal = {.kind = DIST_LOGNORMAL, .mean_ns = 5000000, .sigma = 0.7};
    double median = mean_ns * exp(-0.7 * 0.7 / 2);
    assert_true(fabs(share_below(&lognormal, median, &mean) - 0.5) < 0.0045);
    /* standard deviation of a lognormal: mean * sqrt(exp(sigma^2) - 1) */
    assert_true(fabs(mean - mean_ns) < 4 * mean_ns * sqrt(exp(0.49) - 1) / sqrt(200000));
    assert_true(fabs(share_below(&lognormal, median * exp(0.7 * 1.2815516), &mean) - 0.9) < 0.0027);
    assert_true(fabs(share_below(&lognormal, median * exp(-0.7 * 1.2815516), &mean) - 0.1) <
                0.0027);

    struct dist constant = {.mean_ns = 5000000};
    assert_true(share_below(&constant, mean_ns, &mean) == 0);
    assert_true(mean == mean_ns);
}

TEST(a_zero_mean_draws_zero) {
    struct lb_rng rng;
    rng_seed(&rng, 1, 1);
    for (int kind = DIST_CONSTANT; kind <= DIST_LOGNORMAL; kind++) {
        struct dist dist = {.kind = (enum dist_kind)kind, .sigma = 1};
        for (int i = 0; i < 100; i++) assert_int_equal(dist_draw(&dist, &rng), 0);
    }
}

TEST_MAIN(NULL, NULL)
