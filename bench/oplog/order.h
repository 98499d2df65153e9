/* order: indices of holds sorted by key and time. */
#ifndef BENCH_OPLOG_ORDER_H
#define BENCH_OPLOG_ORDER_H

#include "bench/oplog/book.h"

/* Return the indices of all holds (or tries), sorted by key and then by a time; entries equal in
 * both stay in the order of the array. The caller frees the result. NULL with err when out of
 * memory. order_holds_from: entries equal in from_ns are sorted by to_ns, then by the token. */
uint32_t *order_holds_from(const struct book *book, struct lb_err *err);
uint32_t *order_holds_called(const struct book *book, struct lb_err *err);
uint32_t *order_tries_returned(const struct book *book, struct lb_err *err);

/* The first place, among tries in the order of order_tries_returned, of those of the key or of a greater one. */
size_t order_first_try(const struct book *book, const uint32_t *tries, uint32_t key);

#endif
