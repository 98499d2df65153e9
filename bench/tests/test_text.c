/* test_text: numbers, durations and choices as people write them; and any bytes become one line that JSON and a terminal
 * take. */
#include <jansson.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "bench/base/text.h"
#include "bench/option/text.h"
#include "bench/tests/unit.h"
#include "drivers/clean.h"

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

/* ---- clean lines ---- */

TEST(lines_are_made_clean) {
    static const char *const cases[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"two\nlines\r\n\t", "two lines"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\x1b[31mred", " [31mred"},
        {"C1 \xc2\x9b!", "C1 ?!"},
        {"turned \xe2\x80\xae!", "turned ?!"},
        {"latin \xe9t\xe9 ", "latin ?t?"},
        {"overlong \xc0\xaf \xe0\x80\xaf", "overlong ?? ???"},
        {"surrogate \xed\xa0\x80.", "surrogate ???."},
        {"too great \xf4\x90\x80\x80.", "too great ????."},
        {"cut \xe2\x82", "cut"},
        {"cut \xf0\x9f\x98", "cut"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        assert_string_equal(utf8_clean(text), cases[i][1]);
    }
}

TEST(any_bytes_are_taken_by_json) {
    struct lb_rng rng;
    rng_seed(&rng, 7, 1);
    for (int i = 0; i < 20000; i++) {
        char text[24];
        for (size_t c = 0; c + 1 < sizeof text; c++) {
            uint64_t random = rng_u64(&rng);
            text[c] = random % 3 ? (char)(random >> 8) : "\xe2\x80\xc2\x9b"[random >> 8 & 3];
        }
        text[sizeof text - 1] = '\0';
        json_t *json = json_string(utf8_clean(text));
        assert_non_null(json);
        json_decref(json);
        for (const char *c = text; *c; c++) assert_false((*c & 0xC0) != 0x80 && utf8_is_control(c));
    }
}

/* A server's error goes into the result, so it must become valid text: a result that can't be
 * written would lose the reason of the failure. */
TEST(an_error_is_valid_whatever_a_server_said) {
    struct lb_err err = {0};
    err_set(&err, LB_EXIT_MACHINE, "the server said: %s", "\xff\xfe\xe9\x9b");
    json_t *json = json_string(err.text);
    assert_non_null(json);
    json_decref(json);
    assert_string_equal(err.text, "the server said: ??");
}

static bool note_found(void *arg, const char *what, const char *name) {
    snprintf(arg, 40, "%s %s", what, name);
    return true;
}

/* The name of a thing on a server, which others may have made. */
TEST(a_name_that_is_to_be_removed_is_shown_clean) {
    char shown[40];
    struct lb_cleaning cleaning = {.found = note_found, .arg = shown};
    assert_true(lb_clean_found(&cleaning, "key", "%s", "a\033[31mb"));
    assert_string_equal(shown, "key a [31mb");
}

TEST_MAIN(NULL, NULL)
