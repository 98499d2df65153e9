/* order: indices of holds, sorted by key and a time, in time proportional to their number. */
#ifndef BENCH_OPLOG_ORDER_H
#define BENCH_OPLOG_ORDER_H

#include "bench/oplog/book.h"

/* Indices of all holds (or tries), by key and then by a time; those alike in both in the order of
 * the array. To be freed. NULL with err when out of memory. */
/* then to_ns, then the token */
uint32_t *order_holds_from(const struct book *book, struct lb_err *err);
uint32_t *order_holds_called(const struct book *book, struct lb_err *err);
uint32_t *order_tries_returned(const struct book *book, struct lb_err *err);

#endif
