/* test_sort: figures in order. */
#include <math.h>

#include "bench/base/sort.h"
#include "bench/tests/unit.h"

TEST(figures_are_sorted_in_place) {
    double values[] = {3, -1, INFINITY, 0.5, 3, -INFINITY};
    static const double sorted[] = {-INFINITY, -1, 0.5, 3, 3, INFINITY};
    sort_doubles(values, 6);
    for (int i = 0; i < 6; i++) assert_true(values[i] == sorted[i]);
}

TEST(no_figures_need_no_memory) {
    sort_doubles(NULL, 0);
}

TEST_MAIN(NULL, NULL)
