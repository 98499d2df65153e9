/* test_number: figures as people read them, and that reading them back gives the figure. */

#include <math.h>

#include "bench/base/rng.h"
#include "bench/tests/unit.h"
#include "report/doc/number.h"

TEST(test_three_digits) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1.00"},
        {9.994, "9.99"},
        {9.996, "10.0"},
        {99.95, "100"},
        {123.4, "123"},
        {999.4, "999"},
        {999.6, "1,000"},
        {1234, "1,230"},
        {21345, "21,300"},
        {1e6, "1,000,000"},
        {1234567, "1,230,000"},
        {0.5, "0.500"},
        {0.0123, "0.0123"},
        {0.00123, "0.0012"},
        {0.0001, "0.0001"},
        {0.00009, "<0.0001"},
        {NAN, NUMBER_NONE},
        {INFINITY, NUMBER_NEVER},
        {3.6e12, "3,600,000,000,000"},
    };
    char text[NUMBER_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(number_text(cases[i].value, &number_plain, text), cases[i].text);
    }
}

TEST(test_times_and_counts) {
    char text[NUMBER_TEXT_MAX];
    assert_string_equal(number_time_text(999, text), "999 ns");
    assert_string_equal(number_time_text(45123, text), "45.1 us");
    assert_string_equal(number_time_text(2.5e6, text), "2.50 ms");
    assert_string_equal(number_time_text(3.6e12, text), "3,600 s");
    /* The clock of a host may be behind. */
    assert_string_equal(number_time_text(-3100, text), "-3.10 us");
    assert_string_equal(number_time_text(-1e12, text), "-1000 s");
    assert_string_equal(number_time_text(NAN, text), NUMBER_NONE);
    assert_string_equal(number_share_text(0.012, text), "1.20 %");
    assert_string_equal(number_share_text(0, text), "0 %");
    assert_string_equal(number_share_text(NAN, text), NUMBER_NONE);
    assert_string_equal(number_count_text(1234567, text), "1,234,567");
    assert_string_equal(number_count_text(999, text), "999");
    assert_string_equal(number_count_text(2006.5, text), "2,006.5"); /* a median of two */
    assert_string_equal(number_count_text(1000, text), "1,000");
    assert_string_equal(number_count_text(0, text), "0");
}

/* Whatever the figure, the text means the same to within half a digit. */
TEST(test_text_means_the_figure) {
    struct lb_rng rng;
    char text[NUMBER_TEXT_MAX];
    rng_seed(&rng, 7, 0);
    for (int i = 0; i < 100000; i++) {
        double value = exp(rng_unit(&rng) * 38 - 4.6); /* 0.01 .. 3e14 */
        number_text(value, &number_plain, text);
        char plain[NUMBER_TEXT_MAX], *at = plain;
        for (const char *c = text; *c; c++) {
            if (*c != ',') *at++ = *c;
        }
        *at = '\0';
        if (fabs(atof(plain) - value) > 0.00501 * value)
            fail_msg("%.17g is shown as %s", value, text);
    }
}

TEST(test_changes) {
    static const struct {
        double shift;
        const char *text;
    } cases[] = {
        {-1, "-100.0 %"},      {-0.0004, "-0.0 %"},
        {0.0521, "+5.2 %"},    {1.149, "+115 %"},
        {8.99, "+899 %"},      {9, "10.0x"},
        {63.8, "64.8x"},       {4543.25, "4,540x"},
        {NAN, "\xe2\x80\x93"}, {INFINITY, "without limit"},
        {-INFINITY, "-inf"},
    };
    char text[NUMBER_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(number_change_text(cases[i].shift, text), cases[i].text);
}

TEST(test_unit_of_a_column) {
    struct {
        double values[5];
        int count;
        const char *unit;
    } cases[] = {
        {{0}, 0, "ns"},
        {{NAN, NAN}, 2, "ns"},
        {{45e3, 50e3, NAN}, 3, "us"},
        {{2e6, 3e6, 90e6}, 3, "ms"},
        {{2e9, 3e9}, 2, "s"},
        {{10e3, 1260e3, 4e6}, 3, "us"}, /* the least would be 0.01 ms */
        {{10e3, 81e6, 262e6}, 3, "ms"}, /* but not at the price of 81,000 us */
        {{40, 50e3, 60e3}, 3, "us"},    /* nor of 50,000 ns */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(number_time_unit(cases[i].values, cases[i].count)->name, cases[i].unit);
    }
}

TEST(test_median) {
    double odd[] = {3, NAN, 1, 2}, even[] = {4, 1, 3, 2}, none[] = {NAN};
    assert_true(number_median(odd, 4) == 2);
    assert_true(number_median(even, 4) == 2.5);
    assert_true(isnan(number_median(none, 1)));
    assert_true(isnan(number_median(NULL, 0)));
}

TEST_MAIN(NULL, NULL)
