/* M/D/1 against Erlang's formula of 1909, which is not how the code does it: computed in R where
 * doubles suffice, and with 120 decimal digits (Python's decimal) where its sum cancels. */
#include <math.h>

#include "results/stats/queue.h"
#include "results/stats/tests/stats_help.h"

TEST(capacity_is_one_over_hold_and_handoff) {
    near(queue_capacity(12e-3, 0.5e-3), 80, 1e-12);
    near(queue_capacity(0, 1e-4), 10000, 1e-12);
    assert_true(isnan(queue_capacity(0, 0)) && isnan(queue_capacity(-1, 2)) &&
                isnan(queue_capacity(1, NAN)));
}

/* rho = 0.5, 0.8, 0.9: 0.5, 2, 4.5 service times, by Pollaczek and Khinchine. */
TEST(mean_wait_is_pollaczeks) {
    near(queue_md1_wait(0.5, 1), 0.5, 1e-12);
    near(queue_md1_wait(400, 0.002), 2 * 0.002, 1e-12);
    near(queue_md1_wait(0.9, 1), 4.5, 1e-12);
    assert_true(queue_md1_wait(0, 1) == 0);
    assert_true(isinf(queue_md1_wait(1, 1)) && isinf(queue_md1_wait(3, 1)));
    assert_true(isnan(queue_md1_wait(-1, 1)) && isnan(queue_md1_wait(1, 0)) &&
                isnan(queue_md1_wait(NAN, 1)));
}

TEST(distribution_is_erlangs) {
    static const double known[][3] = {
        /* rho, wait in service times, P(W <= wait) */
        {0.3, 0, 0.700000000000},    {0.3, 0.5, 0.813283969910},  {0.3, 1, 0.944901165303},
        {0.3, 2.5, 0.997031117861},  {0.5, 0, 0.500000000000},    {0.5, 0.5, 0.642012708344},
        {0.5, 1, 0.824360635350},    {0.5, 5, 0.998764270269},    {0.8, 0.5, 0.298364939528},
        {0.8, 2.5, 0.704852353492},  {0.8, 5, 0.899502761754},    {0.8, 9.75, 0.987017183212},
        {0.95, 0.5, 0.080400709874}, {0.95, 2.5, 0.250373493090}, {0.95, 9.75, 0.641461007588},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double service = 0.25, rate = known[i][0] / service;
        near(queue_md1_below(rate, service, known[i][1] * service), known[i][2], 1e-9);
    }
}

TEST(quantile_is_that_of_the_distribution) {
    near(queue_md1_quantile(0.5, 1, 0.9), 1.51574484138184, 1e-8);
    near(queue_md1_quantile(0.5, 1, 0.99), 3.33625595700219, 1e-8);
    near(queue_md1_quantile(0.8, 1, 0.9), 5.01151149844604, 1e-8);
    near(queue_md1_quantile(0.3 / 7, 7, 0.99), 7 * 1.89087340139826, 1e-8);
    assert_true(queue_md1_quantile(0.3, 1, 0.5) == 0); /* 70 % need not wait */
    assert_true(isinf(queue_md1_quantile(1, 1, 0.9)));
    assert_true(isnan(queue_md1_quantile(0.5, 1, 1)) && isnan(queue_md1_quantile(0.5, -1, 0.9)));
}

TEST(long_queues_are_erlangs_with_many_digits) {
    near(queue_md1_quantile(0.9, 1, 0.9), 10.782504956026886, 1e-9);
    near(queue_md1_quantile(0.9, 1, 0.99), 21.89823734954011, 1e-9);
    near(queue_md1_quantile(0.95, 1, 0.9), 22.302228861063618, 1e-9);
    near(queue_md1_quantile(0.95, 1, 0.99), 44.937765508380664, 1e-9);
}

/* The tail falls by the same part with each service time: P(W > x + 1) / P(W > x) is exp(-theta),
 * where theta = rho (exp(theta) - 1), Cramer's and Lundberg's root. */
TEST(far_tail_falls_geometrically) {
    const double rho = 0.99;
    double theta = 0.02, near_end = queue_md1_quantile(rho, 1, 0.99),
           far_end = queue_md1_quantile(rho, 1, 0.9999);
    for (int i = 0; i < 100; i++) theta -= (rho * expm1(theta) - theta) / (rho * exp(theta) - 1);
    near((far_end - near_end) * theta, log(100), 1e-6);
    assert_true(queue_md1_below(rho, 1, 1e5) > 1 - 1e-9);
    assert_true(isnan(queue_md1_below(rho, 1, 2 * QUEUE_LONGEST)));
    assert_true(isinf(queue_md1_quantile(1 - 1e-9, 1, 0.999)));
}

TEST_MAIN(NULL, NULL)
