/* test_text: numbers, durations and choices as people write them. */
#include "bench/base/clock.h"
#include "bench/option/text.h"
#include "bench/tests/unit.h"

TEST(durations_are_read_exactly) {
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0", 0},
        {"0s", 0},
        {"1ns", 1},
        {"250us", 250 * LB_US_NS},
        {"250\xc2\xb5s", 250 * LB_US_NS},
        {"0.1ms", 100 * LB_US_NS},
        {".5s", 500 * LB_MS_NS},
        {"1.5s", 1500 * LB_MS_NS},
        {"2 ms", 2 * LB_MS_NS},
        {"3m", 180 * LB_S_NS},
        {"1h", 3600 * LB_S_NS},
        {"1.000000001s", LB_S_NS + 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        int64_t ns = -1;
        if (text_duration(cases[i].text, 0, 3600 * LB_S_NS, &ns, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (ns != cases[i].ns) fail_msg("%s is %lld", cases[i].text, (long long)ns);
    }
}

TEST(bad_durations_are_refused) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "not a duration"},
        {"s", "not a duration"},
        {".s", "not a duration"},
        {"100", "lacks its unit"},
        {"1.5", "lacks its unit"},
        {"2d", "no unit"},
        {"2 s s", "no unit"},
        {"1S", "no unit"},
        {"1.2.3s", "no unit"},
        {"0.1ns", "finer than"},
        {"-1s", "not between"},
        {"2h", "not between 0 and 1h"},
        {"1e3s", "no unit"},
        {"0x10s", "no unit"},
        {"+1s", "not a duration"},
        {" 1s", "not a duration"},
        {"99999999999999999999h", "too many digits"},
        {"999999999999999h", "not between"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        int64_t ns = 77;
        assert_int_equal(text_duration(cases[i].text, 0, 3600 * LB_S_NS, &ns, &err), -1);
        if (!strstr(err.text, cases[i].why)) fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_int_equal(ns, 77);
    }
}

TEST(a_missing_unit_gets_a_hint) {
    struct lb_err err = {0};
    int64_t ns;
    text_duration("100", 0, LB_S_NS, &ns, &err);
    assert_non_null(strstr(err.text, "100ms or 100s"));
}

TEST(durations_print_and_read_back) {
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1ns"},
        {1000, "1us"},
        {1500, "1.5us"},
        {2200 * LB_MS_NS, "2.2s"},
        {90 * LB_S_NS, "90s"},
        {120 * LB_S_NS, "2m"},
        {7200 * LB_S_NS, "2h"},
        {LB_S_NS + 1, "1000000.001us"},
        {1234567, "1234.567us"},
        {1050 * LB_MS_NS, "1.05s"},
        {-5 * LB_MS_NS, "-5ms"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        struct lb_err err = {0};
        int64_t ns = 0;
        assert_string_equal(duration_text(cases[i].ns, text, sizeof text), cases[i].text);
        assert_int_equal(text_duration(text, -LB_S_NS, INT64_MAX, &ns, &err), 0);
        assert_int_equal(ns, cases[i].ns);
    }
}

TEST(whole_numbers_are_strict) {
    static const char *const bad[] = {"",
                                      "-",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      " 1",
                                      "1 ",
                                      "+1",
                                      "--1",
                                      "one",
                                      "0",
                                      "11",
                                      "99999999999999999999",
                                      "-9223372036854775808"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lb_err err = {0};
        int64_t value = 77;
        if (text_int(bad[i], 1, 10, &value, &err) == 0) fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(value, 77);
    }
    struct lb_err err = {0};
    int64_t value;
    assert_int_equal(text_int("10", 1, 10, &value, &err), 0);
    assert_int_equal(value, 10);
    assert_int_equal(text_int("-3", -5, 10, &value, &err), 0);
    assert_int_equal(value, -3);
    text_int("11", 1, 10, &value, &err);
    assert_string_equal(err.text, "11 is not between 1 and 10");
}

TEST(real_numbers_are_strict) {
    static const char *const bad[] = {"",    "nan", "inf", "-inf", "0x1p3", " 1",   "1 ",
                                      "1,5", "e",   "1e",  "5",    "-1",    "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lb_err err = {0};
        double value = 77;
        if (text_real(bad[i], 0, 4, &value, &err) == 0) fail_msg("'%s' was taken", bad[i]);
        assert_true(value == 77);
    }
    struct lb_err err = {0};
    double value = 0;
    assert_int_equal(text_real("2.5e-1", 0, 4, &value, &err), 0);
    assert_true(value == 0.25);
}

TEST(real_numbers_print_and_read_back) {
    static const double values[] = {0.1, 1.0 / 3, 1e7, 123456789, 0.99, 1e-3, 2};
    char text[40];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_true(strtod(real_text(values[i], text, sizeof text), NULL) == values[i]);
    }
    assert_string_equal(real_text(0.1, text, sizeof text), "0.1");
    assert_string_equal(real_text(1e7, text, sizeof text), "10000000");
}

TEST_MAIN(NULL, NULL)
