/* order: counts the clients of a fair lock that were overtaken: another client was granted earlier, although it had
 * started its attempt later. */
#ifndef BENCH_LOAD_ORDER_H
#define BENCH_LOAD_ORDER_H

#include "bench/load/observe.h"

/* Whether grants of this lock have an order that can be watched. */
bool order_applies(const struct lb_lock *lock);

extern const struct observer order_observer;

#endif
