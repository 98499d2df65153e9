/* outage: computes from a stage's oplog for how long no client got any key although a wanted key was free. */
#ifndef BENCH_RUN_OUTAGE_H
#define BENCH_RUN_OUTAGE_H

#include "bench/oplog/book.h"

/* The longest time, from from_ns to the end of the book's window, in which no client was granted anything although a
 * key that some client had asked for was held by nobody. Of a semaphore's permits the book does not say when one is
 * free: there, time in which all were held counts too. A holder that stood still, was dead, or had outlived its lease
 * or session no longer holds. order: the book's holds by key and begin. grants_ns: the times of all grants, sorted. 0,
 * or -1 with err when out of memory. */
int outage_longest(const struct book *book, const uint32_t *order, const int64_t *grants_ns,
                   size_t grant_count, int64_t from_ns, int64_t *ret_ns, struct lb_err *err);

#endif
