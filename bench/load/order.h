/* order: counts the clients of a fair lock that were overtaken, by their own clocks: a client that
 * started later was granted before. */
#ifndef BENCH_LOAD_ORDER_H
#define BENCH_LOAD_ORDER_H

#include "bench/load/observe.h"

/* Whether grants of this lock have an order that can be watched. */
bool order_applies(const struct lb_lock *lock);

extern const struct observer order_observer;

#endif
