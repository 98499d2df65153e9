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

size_t later_than(const int64_t *times_ns, size_t count, int64_t ns) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times_ns[middle] > ns) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}
