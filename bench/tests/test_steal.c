/* Tests of steal: the line of /proc/stat, whole and cut, and the share that two readings make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/base/clock.h"
#include "bench/run/steal.h"

static void the_eighth_number_is_steal(void **state) {
    (void)state;
    const char *line = "cpu  2510652 561949 1115231 2942995 23607 0 110172 306922 0 0\n";
    assert_int_equal(steal_read_ns(line, 100), 306922 * 10 * LB_MS_NS);
    assert_int_equal(steal_read_ns(line, 1000), 306922 * LB_MS_NS);
}

static void what_is_no_such_line_is_not_known(void **state) {
    (void)state;
    assert_int_equal(steal_read_ns("", 100), -1);
    assert_int_equal(steal_read_ns("cpu  1 2 3 4\n", 100), -1); /* kernels before 2.6.11 */
    assert_int_equal(steal_read_ns("intr 1 2 3 4 5 6 7 8 9\n", 100), -1);
    assert_int_equal(steal_read_ns("cpu  1 2 3 4 5 6 7 8\n", 0), -1);
}

static void the_share_is_of_all_processors(void **state) {
    (void)state;
    assert_float_equal(steal_share(LB_S_NS, 2 * LB_S_NS, 5 * LB_S_NS, 2), 0.1, 1e-6);
    assert_true(steal_share(7, 7, LB_S_NS, 64) == 0);
}

static void a_share_without_both_readings_is_not_known(void **state) {
    (void)state;
    assert_true(steal_share(-1, LB_S_NS, LB_S_NS, 2) < 0);
    assert_true(steal_share(LB_S_NS, -1, LB_S_NS, 2) < 0);
    assert_true(steal_share(0, LB_S_NS, 0, 2) < 0);
    assert_true(steal_share(0, LB_S_NS, LB_S_NS, -1) < 0);
}

static void the_machine_has_a_reading_that_never_falls(void **state) {
    (void)state;
    int64_t first_ns = steal_now_ns();
    assert_true(first_ns >= 0);
    assert_true(steal_now_ns() >= first_ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_eighth_number_is_steal),
        cmocka_unit_test(what_is_no_such_line_is_not_known),
        cmocka_unit_test(the_share_is_of_all_processors),
        cmocka_unit_test(a_share_without_both_readings_is_not_known),
        cmocka_unit_test(the_machine_has_a_reading_that_never_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
