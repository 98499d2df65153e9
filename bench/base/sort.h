/* sort: puts figures in order. */
#ifndef BENCH_BASE_SORT_H
#define BENCH_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts the values in place, the smallest first. No value may be NAN; values may be NULL if count is
 * 0. */
void sort_doubles(double *values, size_t count);
void sort_times(int64_t *times_ns, size_t count);

/* The place of the first of the sorted times that is later; count if none is. */
size_t later_than(const int64_t *times_ns, size_t count, int64_t ns);

#endif
