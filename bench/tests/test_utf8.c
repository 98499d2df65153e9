/* test_utf8: any bytes become one line that JSON and a terminal take. */
#include <jansson.h>

#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "bench/base/text.h"
#include "bench/tests/unit.h"
#include "drivers/clean.h"

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
