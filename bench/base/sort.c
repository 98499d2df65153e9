/* sort: see sort.h. */
#include "bench/base/sort.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_doubles(double *values, size_t count) {
    if (count > 0) qsort(values, count, sizeof *values, compare_doubles);
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void sort_times(int64_t *times_ns, size_t count) {
    if (count > 0) qsort(times_ns, count, sizeof *times_ns, compare_times);
}
