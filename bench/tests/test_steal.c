/* Tests of steal: reading the line of /proc/stat, whole and cut, and the threshold from which a
 * difference of two readings counts. */
#include "bench/base/clock.h"
#include "bench/run/machine.h"
#include "bench/tests/unit.h"

TEST(the_eighth_number_is_steal) {
    const char *line = "cpu  2510652 561949 1115231 2942995 23607 0 110172 306922 0 0\n";
    assert_int_equal(steal_read_ns(line, 100), 306922 * 10 * LB_MS_NS);
    assert_int_equal(steal_read_ns(line, 1000), 306922 * LB_MS_NS);
}

TEST(what_is_no_such_line_is_not_known) {
    assert_int_equal(steal_read_ns("", 100), -1);
    assert_int_equal(steal_read_ns("cpu  1 2 3 4\n", 100), -1); /* kernels before 2.6.11 */
    assert_int_equal(steal_read_ns("intr 1 2 3 4 5 6 7 8 9\n", 100), -1);
    assert_int_equal(steal_read_ns("cpu  1 2 3 4 5 6 7 8\n", 0), -1);
}

TEST(between_two_readings_time_never_goes_back) {
    assert_int_equal(steal_between_ns(LB_S_NS, 2 * LB_S_NS), LB_S_NS);
    assert_int_equal(steal_between_ns(2 * LB_S_NS, LB_S_NS), 0);
    assert_int_equal(steal_between_ns(-1, LB_S_NS), -1);
    assert_int_equal(steal_between_ns(LB_S_NS, -1), -1);
}

TEST(two_per_cent_of_a_processor_show) {
    assert_true(steal_shows(110 * LB_MS_NS, 5 * LB_S_NS));
    assert_false(steal_shows(90 * LB_MS_NS, 5 * LB_S_NS));
    assert_false(steal_shows(40 * LB_MS_NS, LB_S_NS / 2)); /* four ticks */
    assert_true(steal_shows(60 * LB_MS_NS, LB_S_NS / 2));
    assert_false(steal_shows(-1, LB_S_NS));
    assert_false(steal_shows(0, 0));
}

TEST_MAIN(NULL, NULL)
